/* A child between vfork and exec is a process of its own in its parent's memory: what it sets is its own, and no thread
 * else's. The parent goes on as it was: a member, a dedicated one, the program's thread before a region. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define N 6
#define CODE 7

static bool nothing_is_blocked(void)
{
    sigset_t now;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    for (int number = 1; number < 32; number++)
        if (sigismember(&now, number))
            return false;
    return true;
}

enum { UNBLOCKS = 1, IS_NICE = 2, SETS_PROCESSORS = 4, ASKS_NUMBER = 8, EXECUTES = 16, ALL = 32 };

__attribute__((noinline)) static pid_t start(int what)
{
    pid_t child = vfork();
    if (child != 0)
        return child;
    sigset_t set;
    cpu_set_t processors;
    sigfillset(&set);
    if (pthread_sigmask(SIG_SETMASK, &set, NULL) != 0)
        _exit(101);
    sigemptyset(&set);
    if ((what & UNBLOCKS) && sigprocmask(SIG_SETMASK, &set, NULL) != 0)
        _exit(102);
    if ((what & IS_NICE) && setpriority(PRIO_PROCESS, 0, 5) != 0)
        _exit(103);
    if ((what & SETS_PROCESSORS) && (sched_getaffinity(0, sizeof processors, &processors) != 0 ||
                                     sched_setaffinity(0, sizeof processors, &processors) != 0))
        _exit(104);
    if ((what & ASKS_NUMBER) && syscall(SYS_gettid) != getpid())
        _exit(105);
    if (what & EXECUTES)
        execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
    _exit(CODE);
}

static void start_and_wait(int what)
{
    pid_t child = start(what), ended;
    int status = 0;
    CHECK(child > 0);
    while ((ended = waitpid(child, &status, 0)) == -1 && errno == EINTR)
        continue;
    CHECK(ended == child && WIFEXITED(status) && WEXITSTATUS(status) == CODE);
}

static void members(bool dedicated)
{
    int nice_value = getpriority(PRIO_PROCESS, 0);
#pragma omp parallel num_threads(N)
    {
        long number = dedicated ? syscall(SYS_gettid) : 0;
        for (int i = 0; i < 5; i++) {
            start_and_wait((i * 7 + omp_get_thread_num() * 5) % ALL);
            wait_in_all_ways();
        }
        CHECK(nothing_is_blocked() && getpriority(PRIO_PROCESS, 0) == nice_value);
        CHECK(!dedicated || syscall(SYS_gettid) == number);
    }
    CHECK(nothing_is_blocked() && getpriority(PRIO_PROCESS, 0) == nice_value);
}
static void of_members(void) { members(false); }
static void of_dedicated_members(void) { members(true); }

static void before_a_region(void)
{
    for (int round = 0; round < 3; round++) {
        start_and_wait(0);
#pragma omp parallel num_threads(N)
        {
            CHECK(nothing_is_blocked());
            wait_in_all_ways();
            CHECK(nothing_is_blocked());
        }
        CHECK(nothing_is_blocked());
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"of_members", of_members},
        {"of_dedicated_members", of_dedicated_members},
        {"before_a_region", before_a_region},
    };
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
