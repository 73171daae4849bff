/* A signal that a member raises is its own. Where it is blocked it stays pending for the member, which finds it after
 * all waits, by sigpending, sigwait or a file of signals. Where it is not, its handler has run when raise returns,
 * whatever the region's first thread blocks, and not on an alternate stack that is the first thread's. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>

#define N 6

static sigset_t the_signal(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return set;
}

static bool is_pending(void)
{
    sigset_t set;
    CHECK(sigpending(&set) == 0);
    return sigismember(&set, SIGUSR1);
}

static void take_by_file(void)
{
    sigset_t set = the_signal();
    struct signalfd_siginfo info;
    int file = signalfd(-1, &set, SFD_NONBLOCK);
    CHECK(file >= 0 && read(file, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1);
    close(file);
}

static void take_by_waiting(void)
{
    sigset_t set = the_signal();
    int number;
    CHECK(sigwait(&set, &number) == 0 && number == SIGUSR1);
}

static void pending(void)
{
    sigset_t set = the_signal();
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(N)
        {
            bool raises = round == 2 || omp_get_thread_num() % 2 == 0;
            wait_in_all_ways();
            if (raises)
                CHECK(raise(SIGUSR1) == 0);
            wait_in_all_ways();
            CHECK(is_pending() == raises);
            wait_in_a_barrier();
            if (raises && round == 1)
                take_by_file();
            else if (raises)
                take_by_waiting();
            CHECK(!is_pending());
        }
    }
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
        {"pending", pending}, {"handled_at_once", handled_at_once}, {"on_own_stacks", on_own_stacks}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
