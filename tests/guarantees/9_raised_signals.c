/* A signal that a member raises is its own. Its handler has run when raise returns, whatever the region's first thread
 * blocks, wherever that thread runs, and not on an alternate stack that is the first thread's. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#define N 6

static sigset_t the_signal(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return set;
}

static _Thread_local volatile int handled;
static pthread_t first;
static char alternate[1 << 16];
static volatile bool on_the_firsts;
static void on_signal(int number)
{
    char here;
    (void)number;
    handled++;
    if (!pthread_equal(pthread_self(), first) && &here >= alternate && &here < alternate + sizeof alternate)
        on_the_firsts = true;
}

static void handle(int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = flags;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    first = pthread_self();
}

static void handled_at_once(void)
{
    sigset_t set = the_signal();
    handle(0);
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            if (id == 0)
                CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
            wait_in_a_barrier();
            for (int i = 0; id && i < 4; i++) {
                int before = handled;
                CHECK(raise(SIGUSR1) == 0 && handled == before + 1);
                wait_in_a_critical();
            }
            wait_in_a_barrier();
            if (id == 0)
                CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
        }
    }
}

/* The first thread may go on elsewhere then, with a kernel thread of its own. */
static void beside_the_first(void)
{
    sigset_t now;
    handle(0);
    for (int round = 0; round < 10; round++) {
#pragma omp parallel num_threads(N) private(now)
        {
            int id = omp_get_thread_num();
            wait_in_all_ways();
            if (id == 0)
                CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
            wait_in_a_barrier();
            for (int i = 0; id && i < 10; i++) {
                int before = handled;
                CHECK(raise(SIGUSR1) == 0 && handled == before + 1);
                wait_in_a_critical();
            }
        }
    }
}

static void on_own_stacks(void)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    CHECK(sigaltstack(&stack, NULL) == 0);
    handle(SA_ONSTACK);
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(N)
        for (int i = 0; i < 4; i++) {
            CHECK(raise(SIGUSR1) == 0);
            wait_in_a_critical();
        }
    }
    CHECK(!on_the_firsts);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"handled_at_once", handled_at_once}, {"beside_the_first", beside_the_first}, {"on_own_stacks", on_own_stacks}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
