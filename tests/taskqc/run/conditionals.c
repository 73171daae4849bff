/* clang-format off */ /* #if and its like between a directive and its statement, around one of both, and across the end of a block. */
#include "check.h"
#define PARALLEL 1
static int f(int n)
{
    int a[64] = {0}, s = 0;
#ifdef PARALLEL
#pragma omp parallel taskq
#endif
    for (int i = 0; i < n; i++) {
#ifdef PARALLEL
#pragma omp task
#endif
        a[i] = i * i;
    }
#if PARALLEL > 5
#pragma omp parallel taskq num_threads(7)
#elif PARALLEL
#pragma omp parallel taskq num_threads(2)
#else
#pragma omp parallel taskq nonsense
#endif
    {
#ifndef PARALLEL
#pragma omp task private(a)
#else
#pragma omp task shared(a)
#endif
        {
#ifdef PARALLEL
            a[0] = 7;
#else
            a[0] = 9;
#endif
        }
    }
    for (int i = 0; i < n; i++) s += a[i];
    return s;
}
static int g(int n)
{
    int s = 0;
#pragma omp parallel taskq
#if 1
    {
#else
    for (;;) {
#endif
#pragma omp task
        {
#ifdef NEVER
            s = 1;
        }
#else
            s = n;
        }
#endif
    }
    return s;
}
int main(void)
{
    CHECK(f(10) == 285 + 7);
    CHECK(g(4) == 4);
    return 0;
}
