/* A program that can never go on: in each of two inner teams of three, number 1 waits for a lock that no thread unsets,
 * and the others for number 1. Prints "ready" and does not end. */
#include <omp.h>
#include <stdio.h>

static omp_lock_t lock;

__attribute__((noinline)) static int wait_for_lock(int depth)
{
    volatile int here = depth;
    omp_set_lock(&lock);
    return here;
}

int main(void)
{
    omp_init_lock(&lock);
    omp_set_lock(&lock);
    omp_set_max_active_levels(2);
    puts("ready");
    fflush(stdout);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
    {
        if (omp_get_thread_num() == 1)
            wait_for_lock(77);
#pragma omp barrier
    }
    puts("not reached");
    return 0;
}
