/* OMP_THREAD_LIMIT=6 in the environment: at no time are there more threads than that in all regions of the program, and
 * none waits for those that it does not get. */
#include "check.h"

static int now, most;

static void enter(int n)
{
    int all = __atomic_add_fetch(&now, n, __ATOMIC_ACQ_REL), seen = __atomic_load_n(&most, __ATOMIC_RELAXED);
    while (all > seen && !__atomic_compare_exchange_n(&most, &seen, all, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

int main(void)
{
    CHECK(omp_get_thread_limit() == 6);
    omp_set_max_active_levels(3);
    omp_set_dynamic(0);
    for (int round = 0; round < 50; round++) {
        int sum = 0, n = 0;
#pragma omp parallel num_threads(round % 8 + 1) reduction(+ : sum)
        {
#pragma omp single
            n = omp_get_num_threads();
            enter(1);
            int inner = 0, m = 0;
#pragma omp parallel num_threads(4) reduction(+ : inner)
            {
                int more = omp_get_thread_num() != 0;
                enter(more);
#pragma omp single
                m = omp_get_num_threads();
                inner++;
                enter(-more);
            }
            CHECK(inner == m && m >= 1);
            sum++;
            enter(-1);
        }
        CHECK(sum == n && n >= 1);
    }
    printf("at most %d threads\n", most);
    CHECK(most >= 2 && most <= 6 && now == 0);
    return 0;
}
