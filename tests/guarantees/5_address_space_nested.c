/* Address space that is limited from the start. Nested regions, with barriers, tasks and memory of their own in each
 * member, give the right result. Teams are as large as there are stacks for, whatever several inner teams want at the
 * same time. (GCC's own runtime ends the program.)
 *
 * Arguments: MiB, repeated; run again for each of them under that limit. */
#include "check.h"
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static __thread int own;

static int inner(int deep, int members)
{
    int all = 0, expected = 0;
#pragma omp parallel num_threads(members) reduction(+ : all, expected)
    {
        own = deep * 1000 + omp_get_thread_num();
#pragma omp barrier
        if (deep > 1)
            CHECK(inner(deep - 1, 3) >= 1);
        else
            CHECK(own == deep * 1000 + omp_get_thread_num());
        all++;
#pragma omp single
        expected += omp_get_num_threads();
        char *volatile some = (char *)malloc(3000);
        if (some)
            memset(some, 1, 3000);
#pragma omp task
        {
            char *volatile more = (char *)malloc(100);
            free(more);
        }
#pragma omp taskwait
        free(some);
#pragma omp barrier
    }
    CHECK(all == expected && all >= 1 && all <= members);
    return all;
}

int main(int argc, char **argv)
{
    if (argc == 1 || strcmp(argv[1], "limited") == 0) {
        omp_set_max_active_levels(4);
        for (int round = 0; round < 5; round++)
            inner(3, 16);
        return 0;
    }
    for (int i = 1; i < argc; i++) {
        pid_t child = fork();
        int status;
        if (!child) {
            rlim_t bytes = (rlim_t)atoi(argv[i]) << 20;
            struct rlimit limit = {bytes, bytes};
            CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
            execl("/proc/self/exe", argv[0], "limited", NULL);
            _exit(1);
        }
        CHECK(waitpid(child, &status, 0) == child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fprintf(stderr, "%s MiB: status 0x%x\n", argv[i], status);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    return 0;
}
