/* A signal handler ends on the kernel thread on which it began, however long it takes, and whichever thread wants its
 * processor: it runs on top of anything, and what it has interrupted may hold a lock. */
#define _GNU_SOURCE
#include "check.h"

#include "carrier.h"
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define HANDLER_NS 60000000L

static volatile int handled, moved;

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void handler(int number)
{
    (void)number;
    long before = carrier_id(), end = now() + HANDLER_NS;
    while (now() < end)
        for (volatile int i = 0; i < 10000; i++)
            continue;
    if (carrier_id() != before)
        __sync_fetch_and_add(&moved, 1);
    __sync_fetch_and_add(&handled, 1);
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
#pragma omp parallel num_threads(5)
    if (omp_get_thread_num() != 0) {
        raise(SIGUSR1);
    } else {
        while (handled < 4) { /* is ready all the time, where others run on its kernel thread */
#pragma omp taskyield
        }
    }
    CHECK(handled == 4 && moved == 0);
    return 0;
}
