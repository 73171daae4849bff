/* ICVs belong to the task: a child begins with its creator's values at creation, and changes only its own. */
#include "check.h"

int main(void)
{
    omp_set_num_threads(3);
    omp_set_dynamic(0);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_set_num_threads(5);
        for (int i = 0; i < 20; i++) {
#pragma omp task firstprivate(i)
            {
                CHECK(omp_get_max_threads() == 5);
                omp_set_num_threads(10 + i);
#pragma omp taskyield
                CHECK(omp_get_max_threads() == 10 + i);
#pragma omp task firstprivate(i)
                {
                    CHECK(omp_get_max_threads() == 10 + i);
                    omp_set_num_threads(100);
                }
                CHECK(omp_get_max_threads() == 10 + i);
            }
        }
        CHECK(omp_get_max_threads() == 5);
#pragma omp taskwait
        CHECK(omp_get_max_threads() == 5);
    }
    CHECK(omp_get_max_threads() == 3);
    return 0;
}
