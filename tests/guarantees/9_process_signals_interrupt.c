/* A handler of a signal for the process interrupts the thread as which it runs: the thread does nothing else meanwhile,
 * though it was given a name by another thread. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

#define N 2
#define SENT 200

static _Thread_local volatile int known;
static _Thread_local volatile bool inside;
static _Thread_local volatile unsigned long steps;
static _Atomic int handled, strangers, beside;
static _Atomic bool computes, over;
static pthread_t self[N];

static void on_signal(int number)
{
    (void)number;
    unsigned long before = steps;
    inside = true;
    if (!known)
        strangers++;
    waits_compute_us(100);
    if (steps != before)
        beside++;
    inside = false;
    handled++;
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(number, &action, NULL) == 0);
}

static void compute(void)
{
    computes = true;
    while (!over) {
        if (inside)
            beside++;
        steps++;
    }
}

/* The first thread blocks the signals, so the other one handles them. */
enum first { NAMED, NOTHING };

static void live(enum first first)
{
    sigset_t set;
    handle(SIGUSR1, on_signal);
    known = 1;
#pragma omp parallel num_threads(N)
    known = 1;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        self[id] = pthread_self();
#pragma omp barrier
        if (id == 1) {
            compute();
        } else {
            while (!computes)
                sched_yield();
            if (first == NAMED)
                CHECK(pthread_setname_np(self[1], "computes") == 0);
            for (int i = 0; i < SENT; i++) {
                CHECK(kill(getpid(), SIGUSR1) == 0);
                while (handled <= i)
                    sched_yield();
            }
            over = true;
        }
    }
    CHECK(strangers == 0);
    CHECK(beside == 0);
}

static void named(void) { live(NAMED); }
static void unknown(void) { live(NOTHING); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"named", named}, {"unknown", unknown}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
