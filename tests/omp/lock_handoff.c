/* A lock held over a barrier of an inner region, while the holders' siblings wait for it: no thread may starve. */
#include "check.h"

int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_max_active_levels(2);
    int inside = 0, total = 0;
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 50; i++) {
        omp_set_lock(&lock);
        CHECK(inside++ == 0);
#pragma omp parallel num_threads(3)
        {
#pragma omp barrier
#pragma omp atomic
            total++;
#pragma omp barrier
        }
        inside--;
        omp_unset_lock(&lock);
    }
    CHECK(total == 4 * 50 * 3);
    omp_destroy_lock(&lock);
    return 0;
}
