/* The system refuses memory in the middle: a region of many threads under a small limit of address space still gives the right result.
 * (GCC's own runtime ends the program: "Thread creation failed".) */
#include "check.h"
#include <sys/resource.h>

int main(void)
{
    struct rlimit limit = {(rlim_t)400 << 20, (rlim_t)400 << 20};
    int small = 0, sum = 0, n = 0;
#pragma omp parallel num_threads(2) reduction(+ : small)
    small++;
    CHECK(small == 2);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    for (int round = 0; round < 3; round++) {
        sum = 0;
#pragma omp parallel num_threads(500) reduction(+ : sum)
        {
#pragma omp single
            n = omp_get_num_threads();
            sum++;
        }
        CHECK(sum == n && n >= 1);
    }
    return 0;
}
