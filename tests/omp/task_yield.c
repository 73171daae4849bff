/* taskyield: a task may be taken there; a loop of yields sees what another task sets. */
#include "check.h"

int main(void)
{
    int sum = 0;
#pragma omp parallel
    {
#pragma omp single
        for (int i = 0; i < 100; i++) {
#pragma omp task shared(sum)
            {
#pragma omp taskyield
#pragma omp atomic
                sum++;
#pragma omp taskyield
            }
#pragma omp taskyield
        }
    }
    CHECK(sum == 100);
    int flag = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    if (omp_get_num_threads() == 2) {
#pragma omp task shared(flag)
        {
#pragma omp atomic write seq_cst
            flag = 1;
        }
        int seen = 0;
        while (!seen) {
#pragma omp taskyield
#pragma omp atomic read seq_cst
            seen = flag;
        }
    }
    return 0;
}
