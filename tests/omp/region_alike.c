/* Regions one after the other from the same place, alike but for one thing each: what a runtime keeps from the last
 * region must not show in the next. */
#include "check.h"

#include <stdlib.h>

#define ROUNDS 6
#define MOST 8

static int seen[MOST];

static void check_in(int by)
{
    int id = omp_get_thread_num();
    CHECK(id < MOST);
    seen[id] += by;
}

static void verify(int threads, int by)
{
    for (int i = 0; i < MOST; i++) {
        CHECK(seen[i] == (i < threads ? by : 0));
        seen[i] = 0;
    }
}

/* Another function, other data. */
static void functions(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        int got = 0, by = round + 1;
#pragma omp parallel num_threads(4)
        {
            check_in(by);
#pragma omp master
            got = omp_get_num_threads();
        }
        verify(got, by);
#pragma omp parallel num_threads(4)
        check_in(100);
        verify(got, 100);
    }
}

/* Another size, by clause and by ICV. */
static void sizes(void)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int n = 1; n <= 4; n++)
            for (int again = 0; again < 2; again++) {
#pragma omp parallel num_threads(n)
                {
                    CHECK(omp_get_num_threads() == n && omp_in_parallel() == (n > 1));
                    check_in(1);
                }
                verify(n, 1);
                omp_set_num_threads(n);
#pragma omp parallel
                {
                    CHECK(omp_get_num_threads() == n && omp_get_max_threads() == n);
                    check_in(1);
                }
                verify(n, 1);
            }
}

/* Other ICVs, changed by the thread that opens the region, or by a member for itself. */
static void variables(void)
{
    omp_set_num_threads(3);
    for (int round = 0; round < ROUNDS; round++) {
        omp_set_schedule(omp_sched_dynamic, round + 1);
#pragma omp parallel
        {
            omp_sched_t kind;
            int chunk;
            omp_get_schedule(&kind, &chunk);
            CHECK(chunk == round + 1 && omp_get_num_threads() == 3 && omp_get_max_threads() == 3);
            if (round % 2)
                omp_set_num_threads(omp_get_thread_num() + 1);
#pragma omp parallel
            CHECK(omp_get_num_threads() <= (round % 2 ? omp_get_ancestor_thread_num(1) + 1 : 3));
        }
        omp_set_max_active_levels(round % 3 ? 2 : 1);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
        {
            CHECK(round % 3 || omp_get_num_threads() == 1);
            CHECK(omp_get_level() == 2 && omp_get_active_level() <= (round % 3 ? 2 : 1));
        }
        omp_set_max_active_levels(4);
    }
}

/* Regions of tasks, each with a number of threads of its own. */
static void tasks(void)
{
    for (int round = 0; round < ROUNDS; round++)
#pragma omp parallel num_threads(2)
#pragma omp single
        for (int i = 0; i < 8; i++)
#pragma omp task firstprivate(i)
        {
            omp_set_num_threads(i % 3 + 1);
#pragma omp task
            {
#pragma omp parallel
                CHECK(omp_get_num_threads() <= i % 3 + 1 && omp_get_max_threads() == i % 3 + 1);
            }
#pragma omp taskwait
        }
}

/* What constructs count, and then a plain region. */
static void constructs(void)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int which = 0; which < 6; which++) {
            int sum = 0, singles = 0, got = 0;
#pragma omp parallel num_threads(4)
#pragma omp master
            got = omp_get_num_threads();
            if (which == 0) {
#pragma omp parallel for schedule(dynamic, 3) num_threads(4) reduction(+ : sum)
                for (int i = 0; i < 100; i++)
                    sum += i;
                CHECK(sum == 4950);
            } else if (which == 1) {
#pragma omp parallel num_threads(4)
                for (int i = 0; i < 5; i++)
#pragma omp single nowait
#pragma omp atomic
                    singles++;
                CHECK(singles == 5);
            } else if (which == 2) {
#pragma omp parallel num_threads(4) if (0)
                for (int i = 0; i < 5; i++)
#pragma omp single
                    singles++;
                CHECK(singles == 5);
            } else if (which == 3) {
#pragma omp parallel num_threads(4) reduction(+ : sum)
#pragma omp for schedule(dynamic, 1) nowait
                for (int i = 0; i < 100; i++)
                    sum += i;
                CHECK(sum == 4950);
            } else if (which == 4) {
#pragma omp parallel num_threads(4)
#pragma omp single
                for (int i = 0; i < 20; i++)
#pragma omp task
#pragma omp atomic
                    sum++;
                CHECK(sum == 20);
            } else {
#pragma omp target
#pragma omp parallel num_threads(4)
                CHECK(omp_get_level() == 1);
#pragma omp parallel num_threads(4) reduction(task, + : sum)
                sum++;
                CHECK(sum == got);
            }
            singles = 0;
#pragma omp parallel num_threads(4)
            {
                check_in(1);
#pragma omp single
                singles++;
#pragma omp barrier
                CHECK(singles == 1);
            }
            verify(got, 1);
        }
}

/* Levels under teams of changing size. */
static void levels(void)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int outer = 1; outer <= 3; outer++)
#pragma omp parallel num_threads(outer)
        {
            int id = omp_get_thread_num();
            for (int again = 0; again < 3; again++)
#pragma omp parallel num_threads(2)
            {
                int middle = omp_get_thread_num();
                CHECK(omp_get_level() == 2 && omp_get_ancestor_thread_num(1) == id && omp_get_team_size(1) == outer);
#pragma omp parallel num_threads(1 + again)
                {
                    CHECK(omp_get_level() == 3 && omp_get_ancestor_thread_num(2) == middle);
                    CHECK(omp_get_active_level() ==
                          (outer > 1) + (omp_get_team_size(2) > 1) + (omp_get_num_threads() > 1));
                }
            }
        }
}

int main(void)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(4);
    functions();
    sizes();
    variables();
    tasks();
    constructs();
    levels();
    return 0;
}
