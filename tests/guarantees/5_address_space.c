/* The system refuses memory in the middle: regions of many threads, and of some, under a small limit of address space
 * still give the right result, also where each of them takes memory of its own. (GCC's own runtime ends the program:
 * "Thread creation failed".) */
#include "check.h"
#include <sys/resource.h>

static __thread int own;

static int region(int wanted, int *sum)
{
    int n = 0, all = 0;
#pragma omp parallel num_threads(wanted) reduction(+ : all)
    {
        char *volatile mine = (char *)malloc(1000); /* the C library maps 64 MiB for some threads' first */
        own = omp_get_thread_num();
        if (mine)
            mine[0] = (char)own;
#pragma omp single
        n = omp_get_num_threads();
        CHECK(own == omp_get_thread_num());
#pragma omp barrier
        all++;
        CHECK(!mine || mine[0] == (char)own);
        free(mine);
    }
    *sum = all;
    return n;
}

int main(void)
{
    static const int wanted[] = {500, 60, 500, 20, 100};
    struct rlimit limit = {(rlim_t)400 << 20, (rlim_t)400 << 20};
    int small = 0;
#pragma omp parallel num_threads(2) reduction(+ : small)
    small++;
    CHECK(small == 2);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    for (int i = 0; i < 5; i++) {
        int sum, n = region(wanted[i], &sum);
        CHECK(sum == n && n >= 1 && n <= wanted[i]);
    }
    return 0;
}
