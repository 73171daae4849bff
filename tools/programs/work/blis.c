/* BLIS's OpenMP build, whose members wait for one another in barriers of BLIS's own; alone, and in every member of a
 * loop. */
#include <cblas.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 400, SMALL = 96, BATCH = 16 };

static double product(int n, size_t seed)
{
    size_t size = (size_t)n * (size_t)n;
    double *a = malloc(3 * size * sizeof *a), sum = 0;
    if (!a)
        exit(2);
    for (size_t i = 0; i < 3 * size; i++)
        a[i] = (double)((i + seed) * 2654435761u % 10007) / 10007 - 0.5;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, a + size, n, 0, a + 2 * size, n);
    for (size_t i = 0; i < size; i++)
        sum += a[2 * size + i] * (double)(i % 13);
    free(a);
    return sum;
}

int main(void)
{
    double start = omp_get_wtime(), batch[BATCH], sum = 0;
    for (size_t i = 0; i < 4; i++)
        printf("result product %.10g\n", product(N, i));
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < BATCH; i++)
        batch[i] = product(SMALL, (size_t)i);
    for (int i = 0; i < BATCH; i++)
        sum += batch[i];
    printf("result batch %.10g\n", sum);
    printf("time %.6f\n", omp_get_wtime() - start);
    return 0;
}
