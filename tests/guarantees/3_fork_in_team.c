/* A child forked by a region's first thread before the others have begun. The child is one thread alone, and leaves the
 * region where it stands. Where no other member had begun, the child may end the region by itself. Regions that the
 * child opens later have all their threads. GCC's own runtime cannot do either. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static int region(int n)
{
    int sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    {
#pragma omp barrier
        sum++;
    }
    return sum;
}

static void reap(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) != child)
        continue;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* depth: levels of regions around the fork; alone: the others cannot have begun, since there is one vp, and the child
 * ends its regions itself. */
static void fork_below(int depth, int alone, pid_t *child)
{
#pragma omp parallel num_threads(4)
    if (omp_get_thread_num() == 0) {
        if (depth > 1) {
            fork_below(depth - 1, alone, child);
        } else {
            *child = fork();
            if (*child == 0)
                for (int i = 0; i < 5; i++)
                    CHECK(region(3) == 3 && region(6) == 6);
            if (*child == 0 && !alone)
                _exit(0);
        }
    }
}

int main(int argc, char **argv)
{
    int alone = argc > 1 && !strcmp(argv[1], "alone");
    omp_set_max_active_levels(8);
    for (int round = 0; round < 20; round++) {
        pid_t child = -1;
        fork_below(1 + round % 3, alone, &child);
        if (child == 0) {
            for (int i = 0; i < 5; i++)
                CHECK(region(7) == 7);
            _exit(0);
        }
        CHECK(child > 0);
        reap(child);
        CHECK(region(5) == 5);
    }
    return 0;
}
