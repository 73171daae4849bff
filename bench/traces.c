/* What does a trace cost? traces [SAMPLES] [THREADS]
 *   tasks    20000 tasks of one microsecond, made by one thread
 *   regions  2000 regions of one microsecond a thread
 *   loops    2000 dynamic loops of 64 chunks of 0.2 us, in one region
 * A line of JSON for each: the process's processor time, and the clock's, of one of them (task, region, loop). */
#include "sample.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TASKS = 20000, REGIONS = 2000, LOOPS = 2000, CHUNKS = 64, SAMPLES_MAX = 100 };

static unsigned long turns_of_a_microsecond = 1;

static void run_tasks(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task
        sample_turns(turns_of_a_microsecond);
    }
}

static void run_regions(void)
{
    for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel
        sample_turns(turns_of_a_microsecond);
    }
}

static void run_loops(void)
{
#pragma omp parallel
    for (int i = 0; i < LOOPS; i++) {
#pragma omp for schedule(dynamic)
        for (int k = 0; k < CHUNKS; k++)
            sample_turns(turns_of_a_microsecond / 5);
    }
}

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void measure(const char *name, void (*run)(void), double each, unsigned samples)
{
    double used[SAMPLES_MAX], took[SAMPLES_MAX];
    char text[40];
    run();
    for (unsigned i = 0; i < samples; i++) {
        double start = sample_now(), before = processor_time();
        run();
        used[i] = (processor_time() - before) / each * 1e9;
        took[i] = (sample_now() - start) / each * 1e9;
    }
    snprintf(text, sizeof text, "%s, processor", name);
    sample_print(text, "ns", used, samples);
    snprintf(text, sizeof text, "%s, clock", name);
    sample_print(text, "ns", took, samples);
}

int main(int argc, char **argv)
{
    unsigned samples = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    if (argc > 2)
        omp_set_num_threads(atoi(argv[2]));
    if (samples < 1 || samples > SAMPLES_MAX) {
        fprintf(stderr, "usage: traces [SAMPLES from 1 to %d] [THREADS]\n", SAMPLES_MAX);
        return 2;
    }
    turns_of_a_microsecond = sample_turns_of(1e-6);
    measure("task", run_tasks, TASKS, samples);
    measure("region", run_regions, REGIONS, samples);
    measure("loop", run_loops, LOOPS, samples);
    return 0;
}
