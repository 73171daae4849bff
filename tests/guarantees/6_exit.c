/* The end of a process: exit from inside a nested region, with functions at exit that use OpenMP again. argv[1]: the
 * status that is to come out. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static int sum_of_region(int n)
{
    int sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    sum++;
    return sum;
}

static int quiet;
static void at_exit(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
    if (!quiet && sum_of_region(4) != 4)
        _exit(99);
}

static void child(int kind)
{
    omp_set_max_active_levels(2);
    atexit(at_exit);
    if (kind == 0) {
        CHECK(sum_of_region(4) == 4);
        exit(11);
    }
    quiet = 1; /* the exit is inside of a region: its threads still run */
#pragma omp parallel num_threads(4)
    {
        if (kind == 1 && omp_get_thread_num() == 2)
            exit(12);
#pragma omp parallel num_threads(4)
        {
            if (kind == 2 && omp_get_thread_num() == 3)
                exit(13);
            if (kind == 3 && omp_get_thread_num() == 1)
                _exit(14);
#pragma omp barrier
        }
        for (;;)
            usleep(1000);
    }
}

int main(void)
{
    /* Each in a process of its own; the parent uses no OpenMP before, so that its children may. */
    for (int kind = 0; kind < 4; kind++) {
        pid_t pid = fork();
        if (!pid) {
            child(kind);
            _exit(98);
        }
        int status;
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 11 + kind);
    }
    return 0;
}
