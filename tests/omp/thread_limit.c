/* OMP_THREAD_LIMIT=5 (given by the test): regions get what is left of it, and give it back. */
#include "check.h"

int main(void)
{
    CHECK(omp_get_thread_limit() == 5);
    omp_set_max_active_levels(3);
    omp_set_dynamic(0);
    for (int round = 0; round < 50; round++) {
        int outer = 0, most = 0, now = 0;
#pragma omp parallel num_threads(3) reduction(+ : outer)
        {
            outer++;
#pragma omp parallel num_threads(4)
            {
                int n;
#pragma omp atomic capture
                n = ++now;
#pragma omp critical
                if (n > most)
                    most = n;
#pragma omp barrier
#pragma omp atomic
                now--;
            }
        }
        CHECK(outer == 3 && most <= 5);
        int all = 0;
#pragma omp parallel num_threads(9) reduction(+ : all)
        all++;
        CHECK(all == 5);
    }
    return 0;
}
