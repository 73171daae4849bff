/* Routines that set ICVs: what they take, what they bring into range, and which threads a change concerns. */
#include "check.h"

static void check_schedule(unsigned kind, int chunk, unsigned kind_then, int chunk_then)
{
    omp_sched_t k;
    int c;
    omp_set_schedule((omp_sched_t)kind, chunk);
    omp_get_schedule(&k, &c);
    CHECK((unsigned)k == kind_then && c == chunk_then);
}

static void schedules(void)
{
    const unsigned monotonic = 0x80000000u;
    check_schedule(omp_sched_static, 7, omp_sched_static, 7);
    check_schedule(omp_sched_static, -3, omp_sched_static, 0);
    check_schedule(omp_sched_dynamic, 0, omp_sched_dynamic, 1);
    check_schedule(omp_sched_guided | monotonic, 5, omp_sched_guided | monotonic, 5);
    check_schedule(omp_sched_auto, 99, omp_sched_auto, 5);
    check_schedule(77, 1, omp_sched_auto, 5); /* no such kind: no change */
    check_schedule(omp_sched_dynamic | monotonic, 2, omp_sched_dynamic | monotonic, 2);
}

static void levels(void)
{
    int most = omp_get_supported_active_levels();
    omp_set_max_active_levels(5);
    CHECK(omp_get_max_active_levels() == 5);
    omp_set_max_active_levels(-1);
    CHECK(omp_get_max_active_levels() == 5);
    omp_set_max_active_levels(1 << 30);
    CHECK(omp_get_max_active_levels() == most);
    omp_set_max_active_levels(0);
    CHECK(omp_get_max_active_levels() == 0);
#pragma omp parallel num_threads(4)
    CHECK(omp_get_num_threads() == 1);
    omp_set_nested(1);
    CHECK(omp_get_nested() == 1 && omp_get_max_active_levels() == most);
    omp_set_nested(0);
    CHECK(omp_get_nested() == 0 && omp_get_max_active_levels() == 1);
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        CHECK(omp_get_nested() == 1);
#pragma omp parallel num_threads(2)
        CHECK(omp_get_nested() == 0); /* no level more */
    }
}

/* A change in a task concerns that task and what it makes, no other task. */
static void scope(void)
{
    omp_set_num_threads(3);
    omp_set_dynamic(0);
#pragma omp parallel num_threads(4)
    {
        int mine = 10 + omp_get_thread_num();
        CHECK(omp_get_max_threads() == 3);
        omp_set_num_threads(mine);
#pragma omp barrier
        CHECK(omp_get_max_threads() == mine);
#pragma omp task
        {
            CHECK(omp_get_max_threads() == mine);
            omp_set_num_threads(99);
            CHECK(omp_get_max_threads() == 99);
        }
#pragma omp taskwait
        CHECK(omp_get_max_threads() == mine);
    }
    CHECK(omp_get_max_threads() == 3);
#pragma omp parallel num_threads(4)
    CHECK(omp_get_max_threads() == 3); /* the same threads, but new tasks */
}

int main(void)
{
    omp_set_num_threads(0);
    CHECK(omp_get_max_threads() == 1);
    omp_set_num_threads(-7);
    CHECK(omp_get_max_threads() == 1);
    omp_set_dynamic(5);
    CHECK(omp_get_dynamic() != 0);
    omp_set_dynamic(0);
    CHECK(omp_get_dynamic() == 0);
    schedules();
    levels();
    scope();
    omp_set_num_teams(5);
    CHECK(omp_get_max_teams() == 5);
    omp_set_num_teams(-1);
    CHECK(omp_get_max_teams() == 5);
    omp_set_teams_thread_limit(2);
    CHECK(omp_get_teams_thread_limit() == 2);
    CHECK(omp_get_num_procs() >= 1);
    CHECK(omp_get_thread_limit() >= 1);
    double t = omp_get_wtime(), tick = omp_get_wtick();
    CHECK(t > 0 && tick > 0 && tick <= 0.01 && omp_get_wtime() >= t);
    return 0;
}
