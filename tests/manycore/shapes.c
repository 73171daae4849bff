/* Regions of two and three shapes in turn. Each team has its members, on the cores of its places, with tasks, barriers
 * and inner regions of their own. Settings change in between, and shapes stand inside of a region of one thread. */
#include <stdbool.h>

#include "check.h"

#include <manycore.h>

static int count[64], tasks;

static void count_in(int threads)
{
    CHECK(omp_get_num_threads() == threads);
    __atomic_fetch_add(&count[omp_get_thread_num()], 1, __ATOMIC_RELAXED);
}
static void counted(int threads)
{
    for (int i = 0; i < 64; i++)
        CHECK(count[i] == (i < threads));
    memset(count, 0, sizeof count);
}

/* Member i of threads is in the cluster of its place (close). */
static void flat(int threads, bool with_tasks)
{
    tasks = 0;
#pragma omp parallel num_threads(threads)
    {
        CHECK((int)mc_cluster() == omp_get_thread_num() / (threads / 4));
        count_in(threads);
#pragma omp barrier
        if (with_tasks && omp_get_thread_num() % 5 == 3)
#pragma omp task
            __atomic_fetch_add(&tasks, 1, __ATOMIC_RELAXED);
    }
    counted(threads);
    CHECK(tasks == (with_tasks ? (threads + 1) / 5 : 0));
}

static void nested(int inner)
{
    int sums[4] = {0};
#pragma omp parallel num_threads(4) proc_bind(spread)
    {
        int o = omp_get_thread_num(), here = 0;
        CHECK((int)mc_cluster() == o);
#pragma omp parallel num_threads(inner) proc_bind(close)
        {
            CHECK(omp_get_num_threads() == inner && (int)mc_cluster() == o && omp_get_level() == 2);
            __atomic_fetch_add(&here, 1, __ATOMIC_RELAXED);
#pragma omp barrier
            CHECK(here == inner);
        }
        sums[o] = here;
    }
    for (int o = 0; o < 4; o++)
        CHECK(sums[o] == inner);
}

/* Each of the 64 cores is busy: none is left for an inner region, whatever shape was open before. */
static void full(void)
{
    int members = 0;
#pragma omp parallel num_threads(64)
#pragma omp parallel num_threads(2) proc_bind(close)
    {
        CHECK(omp_get_num_threads() == 1);
        __atomic_fetch_add(&members, 1, __ATOMIC_RELAXED);
    }
    CHECK(members == 64);
}

static void within_one(void)
{
#pragma omp parallel num_threads(1)
    {
        CHECK(omp_get_level() == 1);
        flat(32, false);
        flat(16, true);
        flat(32, true);
    }
}

/* The number is the setting's: the clause is the same. */
static void settings(void)
{
    for (int r = 0; r < 6; r++) {
        int threads = r % 2 == 0 ? 24 : 40;
        omp_set_num_threads(threads);
#pragma omp parallel
        count_in(threads);
        counted(threads);
    }
    omp_set_num_threads(64);
}

int main(void)
{
    for (int r = 0; r < 6; r++) {
        flat(64, r == 4);
        flat(32, r == 3);
    }
    for (int r = 0; r < 6; r++) {
        flat(64, r == 4);
        nested(16);
    }
    for (int r = 0; r < 5; r++) {
        full();
        nested(16);
    }
    for (int r = 0; r < 4; r++) {
        nested(r % 2 == 0 ? 16 : 8);
        flat(32, r == 2);
        flat(64, r == 3);
    }
    for (int r = 0; r < 4; r++) {
        flat(64, false);
        within_one();
        flat(32, r == 2);
        settings();
    }
    CHECK(omp_pause_resource(omp_pause_soft, omp_get_initial_device()) == 0);
    for (int r = 0; r < 4; r++) {
        flat(32, true);
        nested(4);
    }
    puts("ok");
    return 0;
}
