/* Members of fresh teams poll with sched_yield, and do nothing else, while another thread sends each its first signal.
 * Each signal is handled by the member to which it was sent. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#define N 4
#define TEAMS 10

static _Thread_local volatile int known; /* 1 + the thread's number in the region */
static pthread_t self[N];
static _Atomic int begun, handled, astray;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (known != 1 + info->si_value.sival_int)
        astray++;
    handled++;
}

static void *open_region(void *arg)
{
#pragma omp parallel num_threads(N)
    {
        int me = omp_get_thread_num();
        known = 1 + me;
        self[me] = pthread_self();
        begun++;
        while (handled < N)
            sched_yield();
    }
    return arg;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_RESTART | SA_SIGINFO};
    CHECK(sigaction(SIGRTMIN + 1, &action, NULL) == 0);
    for (int i = 0; i < TEAMS; i++) {
        pthread_t opener; /* opens a region with threads that were sent nothing before */
        begun = 0;
        handled = 0;
        CHECK(pthread_create(&opener, NULL, open_region, NULL) == 0);
        while (begun < N)
            sched_yield();
        for (int to = 0; to < N; to++)
            CHECK(pthread_sigqueue(self[to], SIGRTMIN + 1, (union sigval){.sival_int = to}) == 0);
        CHECK(pthread_join(opener, NULL) == 0);
        CHECK(astray == 0);
    }
    return 0;
}
