/* A task per call, without cut-off: deep recursion, stealing, waiting for stolen children. */
#include "check.h"

static long fib(int n)
{
    if (n < 2)
        return n;
    long a, b;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(void)
{
    for (int round = 0; round < 5; round++) {
        long result = 0;
#pragma omp parallel
#pragma omp single
        result = fib(20);
        CHECK(result == 6765);
    }
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += fib(12);
    int n = 0;
#pragma omp parallel
#pragma omp single
    n = omp_get_num_threads();
    CHECK(sum == 144 * n);
    return 0;
}
