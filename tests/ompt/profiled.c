/* What a profiler is to show: 5 regions of 3 threads, a critical section in each member, a task in each region. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    volatile int sum = 0,
                 by_tasks = 0; /* a task may run beside a member that has not been in the critical section yet */
    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(3)
        {
#pragma omp critical
            sum++;
#pragma omp single
            {
#pragma omp task
                by_tasks += 100;
            }
        }
    }
    sum += by_tasks;
    usleep(
        300000); /* EZTrace writes a broken trace where a kernel thread (the monitor) comes to life in the middle of its end */
    printf("%d\n", sum);
    return sum != 515;
}
