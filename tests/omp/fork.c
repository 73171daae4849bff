/* fork(): a child of a program that has run regions runs its own, before and after the parent goes on. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void regions(void)
{
    for (int round = 0; round < 10; round++) {
        int count = 0;
#pragma omp parallel num_threads(4) reduction(+ : count)
        {
            count++;
#pragma omp barrier
#pragma omp parallel num_threads(2)
            {
#pragma omp barrier
            }
        }
        CHECK(count == 4);
    }
}

/* libgomp hangs in a child whose parent had a pool of threads: there only the child of a fresh process is asked. */
int main(int argc, char **argv)
{
    (void)argv;
    omp_set_max_active_levels(2);
    if (argc > 1)
        regions();
    for (int round = 0; round < 3; round++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            regions();
            _exit(0);
        }
        if (argc > 1)
            regions();
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    return 0;
}
