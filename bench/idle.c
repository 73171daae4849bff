/* What does a region leave behind? CPU time that is burnt after its end, and by a process at rest. idle [REGIONS]
 *   burn   regions are 5 ms apart, the program sleeps between them: the process's CPU time a region in us, less what
 *          the region itself takes (measured back to back)
 *   rest   after the last region a second passes; CPU time in its second half, in us
 *   gaps   regions whose members compute for 20 us, the program computing for 100 us between them: a region's time in
 *          us. An idle thread that has gone to sleep by then comes late.
 *   wake   a region of two members after 5 ms asleep: us until the first instruction of the second member, while the
 *          first one waits for it
 *   futex  the same of two kernel threads by the system call; us from FUTEX_WAKE to the other's next instruction */
#include "sample.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

static double wake(void)
{
    atomic_int come = 0;
    double start = sample_now(), began = start;
#pragma omp parallel num_threads(2) shared(come, began)
    {
#pragma omp single nowait
        while (!atomic_load(&come) && sample_now() - start < 0.01)
            continue;
        if (!atomic_exchange(&come, 1))
            began = sample_now();
    }
    return (began - start) * 1e6;
}

static atomic_int rung;
static _Atomic double answered;

static void *sleeper(void *arg)
{
    for (int i = 0; i < *(int *)arg; i++) {
        while (atomic_load(&rung) <= i)
            syscall(SYS_futex, &rung, FUTEX_WAIT_PRIVATE, i, NULL, NULL, 0);
        atomic_store(&answered, sample_now());
    }
    return NULL;
}

/* us of each of `num` wake-ups of a kernel thread, 5 ms apart */
static void ring(double *us, int num)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, sleeper, &num) != 0)
        abort();
    for (int i = 0; i < num; i++) {
        rest(5 * 1000 * 1000);
        atomic_store(&answered, 0.0);
        double start = sample_now();
        atomic_store(&rung, i + 1);
        syscall(SYS_futex, &rung, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        while (atomic_load(&answered) == 0.0)
            continue;
        us[i] = (atomic_load(&answered) - start) * 1e6;
    }
    pthread_join(thread, NULL);
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
    for (int i = 0; i < regions; i++) {
        rest(5 * 1000 * 1000);
        gaps[i] = wake();
    }
    sample_print("wake", "us", gaps, (unsigned)regions);
    ring(gaps, regions);
    sample_print("futex", "us", gaps, (unsigned)regions);
    return 0;
}
