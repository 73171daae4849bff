/* A forked child whose process number is its parent's, each in a pid namespace of its own: regions in both. Skipped
 * where the system does not let a user make a namespace. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

/* Long enough for what watches the members to look at files of the system. */
static void run_regions(void)
{
    for (int round = 0; round < 10; round++) {
        volatile int ready = 0;
#pragma omp parallel num_threads(4)
        {
            if (omp_get_thread_num() == 3) {
                usleep(30000);
                ready = 1;
            }
            while (!ready)
                continue;
        }
    }
}

static int status_of(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    if (unshare(CLONE_NEWPID) != 0)
        return 77;
    pid_t child = fork();
    if (child == 0) {
        CHECK(getpid() == 1);
        run_regions();
        CHECK(unshare(CLONE_NEWPID) == 0);
        pid_t again = fork();
        if (again == 0) {
            CHECK(getpid() == 1);
            run_regions();
            _exit(0);
        }
        _exit(status_of(again));
    }
    return status_of(child);
}
