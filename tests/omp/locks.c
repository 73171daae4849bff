/* Locks: exclusion with more threads than processors, test, nesting, ownership by task. */
#include "check.h"

int main(void)
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    long a = 0, b = 0, tries = 0;
#pragma omp parallel num_threads(6) reduction(+ : tries)
    {
        for (int i = 0; i < 3000; i++) {
            omp_set_lock(&lock);
            a++;
            omp_unset_lock(&lock);
            if (omp_test_lock(&lock)) {
                a++;
                tries++;
                omp_unset_lock(&lock);
            }
            omp_set_nest_lock(&nest);
            CHECK(omp_test_nest_lock(&nest) == 2);
            b++;
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
        }
    }
    CHECK(b % 3000 == 0 && a == b + tries);
    /* held by another: tests fail */
    omp_set_lock(&lock);
    omp_set_nest_lock(&nest);
#pragma omp parallel num_threads(2)
    CHECK(!omp_test_lock(&lock) && !omp_test_nest_lock(&nest));
    omp_unset_nest_lock(&nest);
    omp_unset_lock(&lock);
    CHECK(omp_test_nest_lock(&nest) == 1);
    omp_unset_nest_lock(&nest);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    return 0;
}
