/* fork before, between, inside of and after regions, over several generations; the child opens regions of its own.
 * Under GCC's own runtime a child of a process that has run a region hangs in its first region: argument "early" leaves
 * those cases out. */
#include "check.h"
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int region(int n)
{
    int sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    {
        int inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
        inner++;
        sum += inner;
    }
    return sum;
}

static void reap(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void generations(int left)
{
    CHECK(region(4) == 8);
    if (!left)
        return;
    pid_t child = fork();
    if (!child) {
        generations(left - 1);
        exit(0);
    }
    CHECK(region(3) == 6);
    reap(child);
    CHECK(region(5) == 10);
}

static void run_true(int how)
{
    char *argv[] = {(char *)"true", NULL};
    pid_t child;
    if (how == 0) {
        CHECK(posix_spawnp(&child, "true", NULL, NULL, argv, environ) == 0);
    } else {
        child = how == 1 ? vfork() : fork();
        if (!child) {
            execvp("true", argv);
            _exit(127);
        }
    }
    reap(child);
}

int main(int argc, char **argv)
{
    int early = argc == 2 && !strcmp(argv[1], "early");
    omp_set_max_active_levels(2);
    pid_t child = fork();
    if (!child) {
        CHECK(region(4) == 8);
        exit(0);
    }
    reap(child);
    CHECK(region(4) == 8);
    for (int how = 0; how < 3; how++)
        run_true(how);
#pragma omp parallel num_threads(6)
    {
        run_true(omp_get_thread_num() % 3);
        pid_t leaves = fork(); /* a child that opens no region */
        if (!leaves)
            _exit(0);
        reap(leaves);
    }
    if (early)
        return 0;
    generations(3);

    /* Out of a region: the child is one of its threads alone, and opens regions there. */
#pragma omp parallel num_threads(4)
    {
#pragma omp barrier
        pid_t inside = fork();
        if (!inside)
            _exit(region(3) == (omp_get_max_active_levels() == 2 ? 3 : 6) ? 0 : 1);
        reap(inside);
#pragma omp barrier
        CHECK(omp_get_num_threads() == 4);
    }
    CHECK(region(4) == 8);
    return 0;
}
