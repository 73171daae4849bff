/* What a profiler is to show: 5 regions of 3 threads, a critical section in each member, a task in each region. */
#include <stdio.h>

int main(void)
{
    volatile int sum = 0;
    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(3)
        {
#pragma omp critical
            sum++;
#pragma omp single
            {
#pragma omp task
                sum += 100;
            }
        }
    }
    printf("%d\n", sum);
    return sum != 515;
}
