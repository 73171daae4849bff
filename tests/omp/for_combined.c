/* A combined parallel loop that its threads divide by themselves leaves nothing behind: GCC gives
 * GOMP_parallel_loop_static a description of the loop, and the function that it passes neither asks for a chunk nor
 * says that the loop is over. Regions with loops of their own come after it, more of them than a team has slots for.
 * Built at several levels of optimisation, which decide what is combined. */
#include "check.h"

#define ROUNDS 40

#define ITEMS 1000 /* a constant: only such bounds are combined */
static double value[ITEMS];

static long by_regions(void)
{
    long total = 0;
#pragma omp parallel
#pragma omp for schedule(auto)
    for (long i = 0; i < ITEMS; i++)
        value[i] = (double)i;
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel reduction(+ : total)
        {
#pragma omp for schedule(dynamic) nowait
            for (long i = 0; i < 100; i++)
                total += i;
        }
#pragma omp parallel for schedule(static, 3)
        for (long i = 0; i < ITEMS; i++)
            value[i] += 1;
#pragma omp parallel for schedule(runtime)
        for (long i = 0; i < ITEMS; i++)
            value[i] += 1;
#pragma omp parallel
        {
#pragma omp for schedule(guided)
            for (unsigned long i = 0; i < (unsigned long)ITEMS; i++)
                value[i] += 1;
#pragma omp sections
            {
#pragma omp section
                value[0] += 1;
#pragma omp section
                value[1] += 1;
            }
        }
    }
    return total;
}

int main(void)
{
    static const omp_sched_t schedules[] = {omp_sched_static, omp_sched_auto, omp_sched_dynamic, omp_sched_guided};
    for (unsigned s = 0; s < sizeof schedules / sizeof schedules[0]; s++) {
        omp_set_schedule(schedules[s], 0);
        CHECK(by_regions() == ROUNDS * 4950);
        for (long i = 0; i < ITEMS; i++)
            CHECK(value[i] == (double)(i + 3 * ROUNDS + (i < 2 ? ROUNDS : 0)));
    }
    return 0;
}
