/* A handler of the program's has a thread's stack, also where it asks for an alternate one that its thread has not set;
 * what it asks about its mask stays in it. One that is left by longjmp, for a fault of a member's, takes nothing from
 * others' faults: the member unblocks the signal itself. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>

#define N 6
#define DEEP_BYTES 100000

static __thread jmp_buf back;
static __thread volatile int handled;
static char *wall;

static void install(int number, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    CHECK(sigaction(number, &action, NULL) == 0);
}

static bool is_blocked(int number)
{
    sigset_t now;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    return sigismember(&now, number);
}

static void on_deep(int number)
{
    (void)number;
    volatile char room[DEEP_BYTES];
    for (size_t i = 0; i < sizeof room; i += 512)
        room[i] = 1;
    handled += room[512];
}

static void deep(void)
{
    install(SIGUSR1, on_deep, SA_ONSTACK);
    for (int round = 0; round < 2; round++) {
        handled = 0;
        raise(SIGUSR1);
        CHECK(handled == 1);
#pragma omp parallel num_threads(N)
        {
            handled = 0;
            raise(SIGUSR1);
            wait_in_all_ways();
            raise(SIGUSR1);
            CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0);
            CHECK(handled == 3);
        }
    }
}

static void on_asking(int number) { CHECK(is_blocked(number)); }

static void asking(void)
{
    install(SIGUSR1, on_asking, 0);
    for (int round = 0; round < 3; round++) {
        raise(SIGUSR1);
#pragma omp parallel num_threads(N)
        {
            CHECK(!is_blocked(SIGUSR1));
            wait_in_all_ways();
            CHECK(!is_blocked(SIGUSR1));
        }
    }
    CHECK(!is_blocked(SIGUSR1));
}

static void on_fault(int number)
{
    (void)number;
    longjmp(back, 1);
}

static void run_into_wall(void)
{
    if (_setjmp(back) == 0) {
        *(volatile char *)wall = 1;
        CHECK(!"the page is protected");
    }
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void prepare_wall(void)
{
    install(SIGSEGV, on_fault, 0);
    wall = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(wall != MAP_FAILED);
}

static void left(void)
{
    prepare_wall();
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        for (volatile int i = 0; i < 3; i++) {
            run_into_wall();
            wait_in_all_ways();
        }
        CHECK(!is_blocked(SIGSEGV));
        run_into_wall();
    }
}

static void left_one_by_one(void) /* each meets what the ones before it have left */
{
    prepare_wall();
#pragma omp parallel num_threads(N)
    for (int who = 0; who < N; who++) {
        if (who == omp_get_thread_num())
            run_into_wall();
        wait_in_all_ways();
    }
    CHECK(!is_blocked(SIGSEGV));
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"deep", deep}, {"asking", asking}, {"left", left}, {"left_one_by_one", left_one_by_one}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
