/* What does an OpenMP task cost? Fibonacci numbers by recursion, a task a call, no cut-off. fib_task [N [THREADS]]
 * Twin: the same recursion without tasks; the difference, divided by the number of tasks, is a task's cost. */
#include "sample.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 5 };

/* noipa: else its calls are seen to be alike, and made once */
__attribute__((noipa)) static unsigned long serial_fib(unsigned n)
{
    return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2);
}

static unsigned long task_fib(unsigned n)
{
    if (n < 2)
        return n;
    unsigned long a, b;
#pragma omp task shared(a)
    a = task_fib(n - 1);
    b = task_fib(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 25;
    int threads = argc > 2 ? atoi(argv[2]) : omp_get_max_threads();
    if (n < 2 || n > 40 || threads < 1) {
        fprintf(stderr, "fib_task [N from 2 to 40 [THREADS]]\n");
        return 2;
    }
    double ns[SAMPLES], serial[SAMPLES];
    unsigned long wanted = serial_fib(n);
    double tasks = (double)serial_fib(n + 1) - 1; /* calls with n > 1 */
    for (int i = 0; i < SAMPLES; i++) {
        unsigned long result = 0;
        double start = sample_now();
#pragma omp parallel num_threads(threads)
#pragma omp single
        result = task_fib(n);
        ns[i] = (sample_now() - start) / tasks * 1e9;
        if (result != wanted) {
            fprintf(stderr, "fib_task: fib(%u) = %lu, wanted %lu\n", n, result, wanted);
            return 1;
        }
        start = sample_now();
        result = serial_fib(n);
        serial[i] = (sample_now() - start) / tasks * 1e9;
        __asm__ volatile("" ::"r"(result));
    }
    sample_print("fib, a task", "ns", ns, SAMPLES);
    sample_print("fib, a plain call", "ns", serial, SAMPLES);
    return 0;
}
