/* kmp_set_library_serial makes the caller's teams of one, also where it has just had larger ones, and nothing of it
 * remains when the library is no longer serial. */
#include "../omp/check.h"

static int members(int n)
{
    int size = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

int main(void)
{
    CHECK(members(2) == 2);
    kmp_set_library_serial();
    CHECK(members(2) == 1 && omp_get_max_threads() == 1);
    kmp_set_library_throughput();
    CHECK(members(2) == 2);
    return 0;
}
