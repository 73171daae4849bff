/* RLIMIT_NPROC is reached in the middle: regions go on with the kernel threads there are, every result is right,
 * nothing exits. (GCC's own runtime ends the program: "Thread creation failed".) The limit does not hold for root, so
 * the program gives up being root first. */
#define _GNU_SOURCE
#include "check.h"
#include <sys/resource.h>
#include <unistd.h>

static int nested(int outer, int inner)
{
    int sum = 0;
#pragma omp parallel num_threads(outer) reduction(+ : sum)
    {
        int below = 0;
#pragma omp parallel num_threads(inner) reduction(+ : below)
        {
#pragma omp barrier
            below++;
        }
        CHECK(below >= 1 && (omp_get_level() == 1));
        sum += below > 0;
    }
    return sum;
}

int main(int argc, char **argv)
{
    struct rlimit limit = {1, 1};
    omp_set_max_active_levels(2);
    int before = argc > 1 && !strcmp(argv[1], "late");
    if (before)
        CHECK(nested(2, 2) == 2);
    if (geteuid() == 0)
        CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
    CHECK(setrlimit(RLIMIT_NPROC, &limit) == 0);
    for (int round = 0; round < 5; round++)
        CHECK(nested(8, 4) >= 1 && nested(3, 16) >= 1);
    return 0;
}
