/* The caller's affinity mask, signal mask and scheduling policy are as before after a region; on one processor
 * everything runs, too. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>

static void region(void)
{
    int sum = 0;
#pragma omp parallel num_threads(8) reduction(+ : sum)
    {
        int inner = 0;
#pragma omp barrier
#pragma omp parallel num_threads(3) reduction(+ : inner) proc_bind(spread)
        inner++;
        sum += inner;
    }
    CHECK(sum == 24);
}

int main(void)
{
    cpu_set_t before, after, one;
    sigset_t set, got;
    omp_set_max_active_levels(2);
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
    region();
    CHECK(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&before, &after));
    pthread_sigmask(SIG_SETMASK, NULL, &got);
    CHECK(sigismember(&got, SIGUSR2) && !sigismember(&got, SIGUSR1));
    CHECK(sched_getscheduler(0) == SCHED_OTHER);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &before)) {
            CPU_SET(cpu, &one);
            break;
        }
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    for (int i = 0; i < 20; i++)
        region();
    CHECK(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&one, &after));
    return 0;
}
