/* OpenMP locks held over a barrier, over a nested region, tested in a loop, and handed from thread to thread in the
 * inner team. */
#include "check.h"

#define N 8

int main(void)
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int value = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    omp_set_max_active_levels(2);
    for (int holder = 1; holder >= 0; holder--) {
        value = 0;
#pragma omp parallel num_threads(N)
        {
            if (omp_get_thread_num() == holder)
                omp_set_lock(&lock);
#pragma omp barrier
            if (omp_get_thread_num() == holder) {
                int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
                sum++;
                value = sum;
                omp_unset_lock(&lock);
            } else if (omp_get_thread_num() % 2) {
                omp_set_lock(&lock);
                CHECK(value == 4);
                omp_unset_lock(&lock);
            } else {
                while (!omp_test_lock(&lock))
                    continue;
                CHECK(value == 4);
                omp_unset_lock(&lock);
            }
#pragma omp barrier
            for (int i = 0; i < 10; i++) {
                omp_set_nest_lock(&nest);
                omp_set_nest_lock(&nest);
                int before = ++value;
#pragma omp taskyield
                CHECK(value == before);
                omp_unset_nest_lock(&nest);
                omp_unset_nest_lock(&nest);
            }
        }
        CHECK(value == 4 + 10 * N);
    }
    return 0;
}
