/* A nest lock belongs to the task that took it: another task of the same thread does not get it. */
#include "check.h"

int main(void)
{
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        {
            omp_set_nest_lock(&lock);
            CHECK(omp_test_nest_lock(&lock) == 2);
#pragma omp task if (0) /* the same thread */
            CHECK(omp_test_nest_lock(&lock) == 0);
            omp_unset_nest_lock(&lock);
#pragma omp task if (0)
            CHECK(omp_test_nest_lock(&lock) == 0); /* once taken still */
            omp_unset_nest_lock(&lock);
#pragma omp task if (0)
            {
                CHECK(omp_test_nest_lock(&lock) == 1);
                omp_unset_nest_lock(&lock);
            }
        }
    }
    CHECK(omp_test_nest_lock(&lock) == 1);
    omp_unset_nest_lock(&lock);
    omp_destroy_nest_lock(&lock);
    omp_lock_t simple;
    omp_init_lock(&simple);
    CHECK(omp_test_lock(&simple) && !omp_test_lock(&simple));
    omp_unset_lock(&simple);
    omp_destroy_lock(&simple);
    return 0;
}
