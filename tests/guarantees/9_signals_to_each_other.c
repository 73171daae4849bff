/* Members of a fresh team send each other their first signals, all at once: in a ring, in pairs, each to all. Each
 * signal is handled by the member to which it was sent, though that one is about to send its own. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#define N 4
#define TEAMS 10

enum { RING, PAIRS, ALL, WAYS };

static _Thread_local volatile int known; /* 1 + the thread's number in the region */
static pthread_t self[N];
static _Atomic int begun, handled, astray;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    int to = info->si_value.sival_int;
    if (known != 1 + to || !pthread_equal(pthread_self(), self[to]))
        astray++;
    handled++;
}

static void send_to(int member)
{
    CHECK(pthread_sigqueue(self[member], SIGRTMIN + 1, (union sigval){.sival_int = member}) == 0);
}

static bool is_to(int way, int me, int other)
{
    switch (way) {
    case RING:
        return other == (me + 1) % N;
    case PAIRS:
        return other == (me ^ 1);
    default:
        return other != me;
    }
}

static void *open_region(void *way)
{
#pragma omp parallel num_threads(N)
    {
        int me = omp_get_thread_num();
        known = 1 + me;
        self[me] = pthread_self();
        begun++;
        while (begun < N)
            sched_yield();
        for (int other = 0; other < N; other++)
            if (is_to(*(int *)way, me, other))
                send_to(other);
        int all = *(int *)way == ALL ? N * (N - 1) : N;
        while (handled < all)
            sched_yield();
#pragma omp barrier
        CHECK(known == 1 + me);
    }
    return way;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_RESTART | SA_SIGINFO};
    CHECK(sigaction(SIGRTMIN + 1, &action, NULL) == 0);
    for (int i = 0; i < TEAMS; i++)
        for (int way = 0; way < WAYS; way++) {
            pthread_t opener; /* each opens a region with threads that were sent nothing before */
            begun = 0;
            handled = 0;
            CHECK(pthread_create(&opener, NULL, open_region, &way) == 0);
            CHECK(pthread_join(opener, NULL) == 0);
            CHECK(astray == 0);
        }
    return 0;
}
