/* The runtime's barrier, then a spin for the initial thread, which waited in that barrier too: it must get a processor
 * although every processor is held by a thread that spins. The same after a critical section and after a nested
 * region. */
#include "check.h"

#define N 8

int main(void)
{
    omp_set_max_active_levels(2);
    volatile int go = 0;
    for (int round = 1; round <= 5; round++) {
#pragma omp parallel num_threads(N)
        {
#pragma omp barrier
            if (omp_get_thread_num() == 0)
                go = round;
            else
                while (go != round)
                    __sync_synchronize();
        }
    }
    for (int round = 6; round <= 8; round++) {
        volatile int inside = 0;
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            if (id == 1) {
#pragma omp critical
                {
                    inside = 1;
                    for (volatile int i = 0; i < 3000000; i++)
                        continue;
                }
            } else {
                while (!inside)
                    __sync_synchronize();
            }
            if (id == 0) {
#pragma omp critical
                go = round;
            }
            while (go != round)
                __sync_synchronize();
        }
    }
    for (int round = 9; round <= 10; round++) {
#pragma omp parallel num_threads(N)
        {
            if (omp_get_thread_num() == 0) {
                int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
                sum += 1;
                CHECK(sum == 4);
                go = round;
            }
            while (go != round)
                __sync_synchronize();
        }
    }
    return 0;
}
