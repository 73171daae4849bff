/* OMP_NUM_THREADS=3,2,4 (given by the test): one size a level, the last one for all below. */
#include "check.h"

int main(void)
{
    int leaves = 0;
    CHECK(omp_get_max_threads() == 3);
#pragma omp parallel reduction(+ : leaves)
    {
        CHECK(omp_get_num_threads() == 3 && omp_get_max_threads() == 2);
#pragma omp parallel reduction(+ : leaves)
        {
            CHECK(omp_get_num_threads() == 2 && omp_get_max_threads() == 4);
#pragma omp parallel reduction(+ : leaves)
            {
                leaves++;
                CHECK(omp_get_num_threads() == 4 && omp_get_max_threads() == 4);
            }
        }
    }
    CHECK(leaves == 24 && omp_get_max_threads() == 3);
    return 0;
}
