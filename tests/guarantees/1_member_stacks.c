/* Members have as deep a stack as the C library gives a thread whose maker does not say: by the limit of the shell, by
 * pthread_setattr_default_np. "unlimited": and without a limit 64 MB. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB ((size_t)1 << 20)
#define STEP ((size_t)64 << 10)

/* Goes about `bytes` deep, and touches little of it. */
static __attribute__((noinline)) unsigned go_down(size_t bytes)
{
    volatile char frame[STEP];
    frame[0] = frame[STEP - 1] = 1;
    return bytes <= STEP ? 1u : go_down(bytes - STEP) + (unsigned)frame[0];
}

/* The first member stands on the program's own stack, which has what the shell's limit says. */
static void members_go_down(int n, size_t bytes, size_t first_bytes)
{
    unsigned steps = 0;
#pragma omp parallel num_threads(n) reduction(+ : steps)
    {
        size_t mine = omp_get_thread_num() == 0 ? first_bytes : bytes;
        unsigned before = go_down(mine);
#pragma omp barrier
        steps += before + go_down(mine);
    }
    CHECK(steps == 2 * (unsigned)((n - 1) * (bytes / STEP) + first_bytes / STEP));
}

static int run_again(const char *me, const char *kind, rlim_t limit)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct rlimit r;
        CHECK(getrlimit(RLIMIT_STACK, &r) == 0);
        if (limit != RLIM_INFINITY && r.rlim_max != RLIM_INFINITY && limit > r.rlim_max)
            _exit(0); /* more than may be asked for here */
        r.rlim_cur = limit == RLIM_INFINITY ? r.rlim_max : limit;
        CHECK(setrlimit(RLIMIT_STACK, &r) == 0);
        execl(me, me, kind, (char *)NULL);
        _exit(127);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "all";
    if (strcmp(kind, "deep") == 0) {
        members_go_down(4, 50 * MB, 50 * MB);
        members_go_down(16, 50 * MB, 50 * MB);
        return 0;
    }
    if (strcmp(kind, "attribute") == 0) {
        pthread_attr_t attr;
        CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, 64 * MB) == 0);
        CHECK(pthread_setattr_default_np(&attr) == 0);
        members_go_down(4, 50 * MB, 4 * MB);
        members_go_down(16, 50 * MB, 4 * MB);
        return 0;
    }
    unsetenv("OMP_STACKSIZE");
    CHECK(run_again(argv[0], "deep", (rlim_t)5000000 << 10) == 0);
    CHECK(run_again(argv[0], "deep", (rlim_t)65536 << 10) == 0);
    if (strcmp(kind, "unlimited") == 0)
        CHECK(run_again(argv[0], "deep", RLIM_INFINITY) == 0);
    CHECK(run_again(argv[0], "attribute", (rlim_t)8192 << 10) == 0);
    return 0;
}
