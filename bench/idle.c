/* What does a region leave behind? CPU time that is burnt after its end, and by a process at rest. idle [REGIONS]
 *   burn   regions are 5 ms apart, the program sleeps between them: the process's CPU time a region in us, less what
 *          the region itself takes (measured back to back)
 *   rest   after the last region a second passes; CPU time in its second half, in us */
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

int main(int argc, char **argv)
{
    int regions = argc > 1 ? atoi(argv[1]) : 100;
    if (regions < 1 || regions > 100000) {
        fprintf(stderr, "idle [REGIONS from 1 to 100000]\n");
        return 2;
    }
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
    sample_print("rest", "us", &at_rest, 1);
    return 0;
}
