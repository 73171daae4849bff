/* A Clang-built program: loops, a reduction, a tree of tasks, an atomic, threadprivate and nested teams, as libomp's
 * users have them. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 20 };
static int mine;
#pragma omp threadprivate(mine)

static long fib(int n)
{
    if (n < 2)
        return n;
    long a, b;
#pragma omp task shared(a) if (n > 12)
    a = fib(n - 1);
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(void)
{
    double start = omp_get_wtime(), dot = 0;
    double *a = malloc(sizeof *a * N), *b = malloc(sizeof *b * N);
    long visits = 0, tree = 0, inner = 0, ordered = 0;
    if (!a || !b)
        return 2;
#pragma omp parallel for simd
    for (int i = 0; i < N; i++) {
        a[i] = i % 1009;
        b[i] = i % 97 - 48;
    }
    for (int pass = 0; pass < 1000; pass++) {
#pragma omp parallel for reduction(+ : dot) schedule(guided, 64)
        for (int i = 0; i < N; i++)
            dot += a[i] * b[i];
    }
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 16)
        for (int i = 0; i < 100000; i++)
            mine++;
#pragma omp atomic
        visits += mine;
#pragma omp single
        tree = fib(36);
#pragma omp for ordered schedule(dynamic)
        for (int i = 0; i < 1000; i++) {
#pragma omp ordered
            ordered = (ordered * 31 + i) % 1000003;
        }
    }
    omp_set_max_active_levels(2);
    for (int pass = 0; pass < 500; pass++) {
#pragma omp parallel num_threads(4) reduction(+ : inner)
        {
#pragma omp parallel for num_threads(3) reduction(+ : inner)
            for (int i = 0; i < 100; i++)
                inner += i;
        }
    }
    printf("result dot %.12g\nresult visits %ld\nresult tree %ld\nresult ordered %ld\nresult inner %ld\n", dot, visits,
           tree, ordered, inner);
    printf("time %.6f\n", omp_get_wtime() - start);
    free(a);
    free(b);
    return 0;
}
