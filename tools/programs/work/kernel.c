/* Loops, a tree of tasks, and calls back into the language that called. */
#include "kernel.h"

#include <omp.h>

double kernel_dot(int n, int passes)
{
    double sum = 0;
    for (int p = 0; p < passes; p++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < n; i++)
            sum += (double)(i % 1009) * (i % 97 - 48);
    }
    return sum;
}

static long leaves(int n)
{
    if (n < 2)
        return n;
    long a, b;
#pragma omp task shared(a) if (n > 12)
    a = leaves(n - 1);
    b = leaves(n - 2);
#pragma omp taskwait
    return a + b;
}

long kernel_tree(int n)
{
    long sum = 0;
#pragma omp parallel
#pragma omp single
    sum = leaves(n);
    return sum;
}

long kernel_each(int n, long (*call)(void *context, int i), void *context)
{
    long sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) num_threads(4)
    for (int i = 0; i < n; i++)
        sum += call(context, i);
    return sum;
}

int kernel_threads(void) { return omp_get_max_threads(); }
