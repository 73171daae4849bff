/* max_active_levels: what goes deeper runs with one thread; a serialized level counts as a level but not as an active
 * one. */
#include "check.h"

int main(void)
{
    omp_set_dynamic(0);
    for (int max = 0; max <= 4; max++) {
        omp_set_max_active_levels(max);
        CHECK(omp_get_max_active_levels() == max);
#pragma omp parallel num_threads(2)
        {
            CHECK(omp_get_num_threads() == (max >= 1 ? 2 : 1));
#pragma omp parallel num_threads(1)
#pragma omp parallel num_threads(3)
            {
                CHECK(omp_get_num_threads() == (max >= 2 ? 3 : 1));
                CHECK(omp_get_level() == 3);
                CHECK(omp_get_active_level() == (max >= 2 ? 2 : max));
#pragma omp parallel num_threads(2)
                CHECK(omp_get_num_threads() == (max >= 3 ? 2 : 1) && omp_get_level() == 4);
            }
        }
    }
    return 0;
}
