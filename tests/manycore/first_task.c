/* A region's first task meets members that begin, run, wait in a barrier, or have returned: one member makes it later
 * and later, in regions like the last one, whose other members return at different times. The others run it: the member
 * that made it stays outside of the runtime until they have. */
#include <stdbool.h>

#include "check.h"

#include <manycore.h>

#define STEP 13
static int tasks, members;

static void pass(unsigned cycles)
{
    for (unsigned start = mc_cycles(); mc_cycles() - start < cycles;)
        continue;
}
static bool becomes(const int *word, int value)
{
    for (unsigned start = mc_cycles(); __atomic_load_n(word, __ATOMIC_ACQUIRE) != value;)
        if (mc_cycles() - start > 100000)
            return false;
    return true;
}
static void add(int *word) { __atomic_fetch_add(word, 1, __ATOMIC_RELAXED); }

/* With tasks, each of which takes a while; the others return from `late` on. */
static void region(int threads, int maker, unsigned delay, unsigned late, bool meets)
{
    tasks = members = 0;
#pragma omp parallel num_threads(threads) proc_bind(close)
    {
        int me = omp_get_thread_num();
        add(&members);
        if (me == maker) {
            pass(delay);
            for (int i = 0; i < 3; i++)
#pragma omp task
            {
                pass(60);
                add(&tasks);
            }
            CHECK(becomes(&tasks, 3));
        } else {
            pass(late + (unsigned)me * 5);
        }
        if (meets) {
#pragma omp barrier
            CHECK(tasks == 3 && members == threads);
        }
    }
    CHECK(tasks == 3 && members == threads);
}

/* Without: the next one, which must find nothing left. */
static void quiet(int threads)
{
    int steps[64] = {0};
    members = 0;
#pragma omp parallel num_threads(threads) proc_bind(close)
    {
        int me = omp_get_thread_num();
        add(&members);
        for (int step = 1; step <= 2; step++) {
            steps[me] = step;
#pragma omp barrier
            CHECK(steps[(me + 1) % threads] >= step && steps[(me + 5) % threads] >= step);
#pragma omp barrier
        }
    }
    CHECK(members == threads);
}

static void sweep(int threads, int maker, unsigned late, bool meets)
{
    for (unsigned delay = 0; delay < 500; delay += STEP) {
        region(threads, maker, delay, late, meets);
        quiet(threads);
    }
}

/* The same inside of a region: teams in all clusters, tasks in one of them. */
static void inside(void)
{
#pragma omp parallel num_threads(4) proc_bind(spread)
    for (unsigned delay = 0; delay < 500; delay += STEP) {
        int made = 0, here = 0;
#pragma omp parallel num_threads(6) proc_bind(close) shared(made, here)
        {
            add(&here);
            if (omp_get_thread_num() == 4) {
                pass(delay);
                if (mc_cluster() == delay / STEP % 4) {
#pragma omp task shared(made)
                    add(&made);
                    CHECK(becomes(&made, 1));
                }
            }
        }
        CHECK(here == 6 && made == (mc_cluster() == delay / STEP % 4));
    }
}

int main(void)
{
    sweep(8, 3, 0, false);
    sweep(8, 0, 20000, false); /* behind the task */
    sweep(8, 0, 0, false);
    sweep(20, 17, 0, false); /* in two clusters */
    sweep(8, 5, 0, true);
    inside();
    puts("ok");
    return 0;
}
