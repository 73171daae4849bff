/* A handler of a signal for the process interrupts the thread as which it runs, also while that waits: the thread does
 * nothing else meanwhile, though it has handled a signal before, or was given a name by another thread. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

#define N 2
#define SENT 200
#define SENT_WAITING 10

static _Thread_local volatile int known;
static _Thread_local volatile bool inside;
static _Thread_local volatile unsigned long steps;
static _Atomic int handled, strangers, beside, handled_waiting;
static _Atomic bool waits, over;
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

static void while_waiting(int number)
{
    (void)number;
    if (!known)
        strangers++;
    handled_waiting++;
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
    while (!over) {
        if (inside)
            beside++;
        steps++;
    }
}

/* The first thread blocks the signals, so the other one handles them: first while it waits for a lock, where the first
 * one is sent to it or to the process, then while it computes. */
enum first { SENT_TO, NAMED, NOTHING };

static void live(enum first first)
{
    omp_lock_t lock;
    sigset_t set;
    handle(SIGUSR1, on_signal);
    handle(SIGUSR2, while_waiting);
    known = 1;
#pragma omp parallel num_threads(N)
    known = 1;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    omp_init_lock(&lock);
    omp_set_lock(&lock);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        self[id] = pthread_self();
#pragma omp barrier
        if (id == 1) {
            waits = true;
            omp_set_lock(&lock);
            compute();
        } else {
            while (!waits)
                sched_yield();
            usleep(20000);
            if (first == NAMED)
                CHECK(pthread_setname_np(self[1], "waits") == 0);
            CHECK((first == SENT_TO ? pthread_kill(self[1], SIGUSR2) : kill(getpid(), SIGUSR2)) == 0);
            for (int i = 1; i <= SENT_WAITING; i++) {
                while (handled_waiting < i)
                    sched_yield();
                if (i < SENT_WAITING)
                    CHECK(kill(getpid(), SIGUSR2) == 0);
            }
            omp_unset_lock(&lock);
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

static void sent_to(void) { live(SENT_TO); }
static void named(void) { live(NAMED); }
static void sent_to_process(void) { live(NOTHING); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"sent_to", sent_to}, {"named", named}, {"sent_to_process", sent_to_process}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
