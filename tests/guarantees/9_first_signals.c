/* A member that gets its first signal goes on as before, whatever its kernel thread does then. Members of fresh teams
 * go from barrier to barrier, and so are left and resumed at any moment. Meanwhile another thread sends one of them its
 * first signal. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#define N 6
#define TEAMS 300

static _Thread_local volatile int known; /* 1 + the thread's number in the region */
static pthread_t self[N];
static _Atomic int begun, astray;
static _Atomic bool over, last;
static _Atomic long handled;

static void on_signal(int number)
{
    (void)number;
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
        for (bool ends = false; !ends;) {
            if (me == 0)
                last = over;
#pragma omp barrier
            ends = last;
            if (known != 1 + me || omp_get_thread_num() != me)
                astray++;
#pragma omp barrier
        }
    }
    return arg;
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    unsigned seed = 1;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 1; i <= TEAMS; i++) {
        pthread_t opener;
        begun = 0;
        over = false;
        CHECK(pthread_create(&opener, NULL, open_region, NULL) == 0);
        while (begun < N)
            sched_yield();
        CHECK(pthread_kill(self[1 + rand_r(&seed) % (N - 1)], SIGUSR1) == 0);
        while (handled < i)
            sched_yield();
        over = true;
        CHECK(pthread_join(opener, NULL) == 0);
        CHECK(astray == 0);
    }
    return 0;
}
