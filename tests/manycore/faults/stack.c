/* A thread that needs more stack than it has ends the program with one line, before it overwrites its neighbour's. */
#include "check.h"

static int deep(int n)
{
    volatile char room[1024];
    room[n % 1024] = (char)n;
    return n == 0 ? room[0] : deep(n - 1) + room[n % 1024];
}

int main(void)
{
    int sum = 0;
#pragma omp parallel num_threads(8) reduction(+ : sum)
    if (omp_get_thread_num() == 5)
        sum += deep(100);
    printf("it went on: %d\n", sum);
    return 0;
}
