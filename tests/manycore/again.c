/* Regions like the last one and barriers without tasks, which have ways of their own: with what those do not expect in
 * between. */
#include "check.h"

#include <manycore.h>

#define ROUNDS 6
static int count[64], tasks, singles;

static void count_in(void) { __atomic_fetch_add(&count[omp_get_thread_num()], 1, __ATOMIC_RELAXED); }
static void counted(int threads, int times)
{
    for (int i = 0; i < 64; i++)
        CHECK(count[i] == (i < threads ? times : 0));
    memset(count, 0, sizeof count);
}
static void add_one(void)
{
#pragma omp task
    __atomic_fetch_add(&tasks, 1, __ATOMIC_RELAXED);
}

/* Several functions and sizes in turn; members that change ICVs; the program's own ICV. */
static void shapes(void)
{
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < 3; i++)
#pragma omp parallel
        {
            CHECK(omp_get_num_threads() == 64 && omp_get_max_threads() == 64);
            count_in();
            if (r == 2)
                omp_set_num_threads(3); /* the implicit task's own */
        }
        counted(64, 3);
        if (r == 4)
            omp_set_num_threads(20);
        for (int i = 0; i < 3; i++)
#pragma omp parallel
            count_in();
        counted(r == 4 ? 20 : 64, 3);
        omp_set_num_threads(64);
#pragma omp parallel num_threads(5)
        count_in();
        counted(5, 1);
    }
}

/* Work-sharing whose constructs are counted from region to region; a loop that a region ends in. */
static void work_sharing(void)
{
    int sum = 0;
    singles = 0;
    for (int r = 0; r < ROUNDS; r++)
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp single nowait
        __atomic_fetch_add(&singles, 1, __ATOMIC_RELAXED);
#pragma omp for schedule(dynamic, 3) nowait
        for (int i = 0; i < 100; i++)
            sum += i;
    }
    CHECK(singles == ROUNDS && sum == ROUNDS * 4950);
    for (int r = 0; r < ROUNDS; r++) {
        int mine = -1;
#pragma omp parallel private(mine)
        {
#pragma omp single copyprivate(mine)
            mine = 100 + r;
            CHECK(mine == 100 + r);
        }
    }
}

/* Tasks in some of the regions only, and left for their end. */
static void some_tasks(int threads)
{
    for (int r = 0; r < ROUNDS; r++) {
        tasks = 0;
#pragma omp parallel num_threads(threads)
        {
            count_in();
            if (r % 2 == 1 && omp_get_thread_num() % 5 == 3)
                for (int i = 0; i < 4; i++)
                    add_one();
        }
        counted(threads, 1);
        CHECK(tasks == (r % 2 == 1 ? (threads + 1) / 5 * 4 : 0));
    }
}

/* Barriers one after the other; behind some of them tasks, children that run at once, regions of one thread and of
 * several with barriers inside. */
static void barriers(int threads)
{
    int steps[64] = {0}, inside = 0;
    tasks = 0;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), all = omp_get_num_threads();
        CHECK(all == threads);
        for (int step = 1; step <= 12; step++) {
            steps[me] = step;
#pragma omp barrier
            CHECK(steps[(me + 1) % all] == step && steps[(me + 7) % all] == step);
            if (step == 3 && me == 2) {
#pragma omp parallel num_threads(1)
                {
#pragma omp barrier
                    __atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED);
                }
            }
            if (step == 4 && me == 1) {
#pragma omp task if (0)
                __atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED);
            }
            if (step == 5 && me == 0) {
#pragma omp parallel num_threads(4)
                {
#pragma omp barrier
                    __atomic_fetch_add(&inside, omp_get_thread_num() == 0, __ATOMIC_RELAXED);
#pragma omp barrier
                }
            }
#pragma omp barrier
            CHECK(inside == (step >= 3) + (step >= 4) + (step >= 5));
            if (step == 8 && me % 3 == 1)
                add_one();
#pragma omp barrier
            CHECK(tasks == (step >= 8 ? (all + 1) / 3 : 0));
        }
    }
}

/* Tasks and barriers in the first region of its kind already. */
static void tasks_at_once(int threads)
{
    for (int r = 0; r < 3; r++) {
        tasks = 0;
#pragma omp parallel num_threads(threads)
        for (int step = 1; step <= 2; step++) {
            if (omp_get_thread_num() == 1)
                add_one();
#pragma omp barrier
            CHECK(tasks == step);
#pragma omp barrier
        }
    }
}

/* A team in each cluster: regions and barriers there, tasks in one of them. */
static void clusters(void)
{
    int sums[4] = {0};
#pragma omp parallel num_threads(4) proc_bind(spread)
    {
        int o = omp_get_thread_num();
        for (int r = 0; r < ROUNDS; r++) {
            int here = 0, made = 0;
#pragma omp parallel num_threads(16) proc_bind(close)
            {
                CHECK(omp_get_num_threads() == 16 && (int)mc_cluster() == o);
                __atomic_fetch_add(&here, 1, __ATOMIC_RELAXED);
#pragma omp barrier
                CHECK(here == 16);
                if (o == 2 && r % 3 == 1 && omp_get_thread_num() == 5)
                    for (int i = 0; i < 20; i++)
#pragma omp task shared(made)
                        __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
#pragma omp barrier
                CHECK(here == 16 && made == (o == 2 && r % 3 == 1 ? 20 : 0));
            }
            sums[o] += here;
#pragma omp barrier
        }
    }
    for (int o = 0; o < 4; o++)
        CHECK(sums[o] == ROUNDS * 16);
}

/* Two teams that want the same cores: one has them, the other is smaller, and each thread of both counts once. */
static void rivals(void)
{
    int members = 0, sizes = 0;
#pragma omp parallel num_threads(2) proc_bind(master)
    for (int r = 0; r < 40; r++) {
#pragma omp parallel num_threads(12) proc_bind(master)
        {
            __atomic_fetch_add(&members, 1, __ATOMIC_RELAXED);
            if (omp_get_thread_num() == 0)
                __atomic_fetch_add(&sizes, omp_get_num_threads(), __ATOMIC_RELAXED);
        }
        for (int i = 0; i < omp_get_thread_num() * r; i++)
            __asm__ volatile("");
    }
    CHECK(members == sizes && members >= 2 * 40);
}

int main(void)
{
    for (int round = 0; round < 2; round++) {
        shapes();
        work_sharing();
        some_tasks(64);
        some_tasks(16);
        barriers(64);
        barriers(12);
        tasks_at_once(9);
        tasks_at_once(50);
        clusters();
        rivals();
    }
    puts("ok");
    return 0;
}
