/* What does a region leave behind? CPU time that is burnt after its end, and by a process at rest. idle [REGIONS]
 *   burn   regions are 5 ms apart, the program sleeps between them: the process's CPU time a region in us, less what
 *          the region itself takes (measured back to back)
 *   rest   after the last region a second passes; CPU time in its second half, in us
 *   gaps   regions whose members compute for 20 us, the program computing for 100 us between them: a region's time in
 *          us. An idle thread that has gone to sleep by then comes late. */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void rest(long ns)
{
    struct timespec t = {.tv_nsec = ns};
    nanosleep(&t, NULL);
}

static void region(void)
{
#pragma omp parallel
    __asm__ volatile("" ::: "memory");
}

static void compute(double us)
{
    for (double end = sample_now() + us * 1e-6; sample_now() < end;)
        continue;
}

static double region_after_a_gap(void)
{
    compute(100);
    double start = sample_now();
#pragma omp parallel
    compute(20);
    return (sample_now() - start) * 1e6;
}

int main(int argc, char **argv)
{
    int regions = argc > 1 ? atoi(argv[1]) : 100;
    if (regions < 1 || regions > 100000) {
        fprintf(stderr, "idle [REGIONS from 1 to 100000]\n");
        return 2;
    }
    static double gaps[100000];
    double start, back_to_back, burn, at_rest;
    region();
    start = cpu_seconds();
    for (int i = 0; i < regions; i++)
        region();
    back_to_back = cpu_seconds() - start;
    start = cpu_seconds();
    for (int i = 0; i < regions; i++) {
        region();
        rest(5 * 1000 * 1000);
    }
    burn = (cpu_seconds() - start - back_to_back) / regions * 1e6;
    rest(500 * 1000 * 1000);
    start = cpu_seconds();
    rest(500 * 1000 * 1000);
    at_rest = (cpu_seconds() - start) * 1e6;
    sample_print("burn", "us", &burn, 1);
    for (int i = 0; i < regions; i++)
        gaps[i] = region_after_a_gap();
    sample_print("rest", "us", &at_rest, 1);
    sample_print("gaps", "us", gaps, (unsigned)regions);
    return 0;
}
