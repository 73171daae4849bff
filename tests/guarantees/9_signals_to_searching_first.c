/* The first signal to a region's first thread comes as that thread begins to wait, and its kernel thread looks for
 * others: the handler runs as that thread and on its stack all the same. Each try is a thread of the program's own,
 * which no thread has sent anything before. */
#define _GNU_SOURCE
#include "check.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#define TRIES 24
#define MOST (1 << 20)

static pthread_t first;
static char *first_stack; /* a place in it, above all that it does in the region */
static volatile int handled, elsewhere;

static void on_signal(int number)
{
    char here;
    (void)number;
    handled++;
    if (!pthread_equal(pthread_self(), first) || &here > first_stack || first_stack - &here > MOST)
        elsewhere++;
}

static void *open_region(void *arg)
{
    char here;
    (void)arg;
    first = pthread_self();
    first_stack = &here;
    handled = 0;
#pragma omp parallel num_threads(2)
    {
        CHECK(raise(SIGUSR2) == 0); /* a member has a kernel thread of its own now */
#pragma omp barrier
        if (omp_get_thread_num()) {
            CHECK(pthread_kill(first, SIGUSR1) == 0);
            while (!handled)
                sched_yield();
        }
#pragma omp barrier
#pragma omp barrier
    }
    CHECK(handled == 1 && elsewhere == 0);
    return NULL;
}

static void nothing(int number) { (void)number; }

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_handler = nothing;
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    for (int i = 0; i < TRIES; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, open_region, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    return 0;
}
