/* Members that run into a protected page and leave the handler by siglongjmp, as language runtimes do. The handler was
 * there before the first region or came later. The handler runs on the thread's own stack, or on an alternate one of
 * the initial thread. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static __thread sigjmp_buf back;
static __thread volatile int expected;
static char *wall;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (number != SIGSEGV || info->si_addr != wall || !expected)
        _exit(3);
    expected = 0;
    siglongjmp(back, 1);
}

static void run_into_wall(int times)
{
    for (int i = 0; i < times; i++) {
        if (sigsetjmp(back, 1) == 0) {
            expected = 1;
            *(volatile char *)wall = 1;
            CHECK(!"the page is protected");
        }
        CHECK(!expected);
#pragma omp barrier
    }
}

static void install(int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | flags;
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
}

int main(int argc, char **argv)
{
    int late = argc > 1 && !strcmp(argv[1], "late");
    wall = (char *)mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(wall != MAP_FAILED);
    omp_set_max_active_levels(2);
    for (int round = 0; round < 2; round++) {
        if (!late)
            install(round ? SA_ONSTACK : 0);
        int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
        sum++;
        CHECK(sum == 3);
        if (late)
            install(round ? SA_ONSTACK : 0);
#pragma omp parallel num_threads(3)
        {
            run_into_wall(5);
#pragma omp parallel num_threads(3)
            run_into_wall(5);
        }
    }
    return 0;
}
