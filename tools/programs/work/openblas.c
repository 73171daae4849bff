/* OpenBLAS's OpenMP build: a product, a factorisation and a solve. Then the same product in every member of a loop,
 * where the library opens teams of its own inside (OMP_MAX_ACTIVE_LEVELS=2 makes them active). Finally the product is
 * called from plain kernel threads. */
#include <cblas.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* LAPACK's; Debian's OpenBLAS has it, without a header. */
void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *pivot, double *b, const int *ldb, int *info);

enum { N = 700, SMALL = 160, BATCH = 24 };

static double number(size_t i) { return (double)(i * 2654435761u % 10007) / 10007 - 0.5; }

static double *matrix(int n, size_t seed)
{
    double *a = malloc(sizeof *a * (size_t)n * (size_t)n);
    if (!a)
        exit(2);
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        a[i] = number(i + seed) + (i % (size_t)(n + 1) == 0 ? n : 0);
    return a;
}

static double sum(const double *a, int n)
{
    double s = 0;
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        s += a[i] * (double)(i % 13);
    return s;
}

static void multiply(const double *a, const double *b, double *c, int n)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}

static double one_product(size_t seed)
{
    double *a = matrix(SMALL, seed), *b = matrix(SMALL, seed + 7), *c = matrix(SMALL, 0);
    multiply(a, b, c, SMALL);
    double s = sum(c, SMALL);
    free(a);
    free(b);
    free(c);
    return s;
}

static void *in_thread(void *result)
{
    for (int i = 0; i < BATCH; i++)
        *(double *)result += one_product((size_t)i);
    return NULL;
}

int main(void)
{
    double start = omp_get_wtime();
    double *a = matrix(N, 1), *b = matrix(N, 2), *c = matrix(N, 3);
    for (int pass = 0; pass < 8; pass++)
        multiply(a, b, c, N);
    printf("result product %.12g\n", sum(c, N));
    int order = N, one = 1, info = 0, *pivot = calloc(N, sizeof *pivot);
    double *x = calloc(N, sizeof *x), s = 0;
    for (int i = 0; x && i < N; i++)
        x[i] = number((size_t)i);
    if (!pivot || !x)
        return 2;
    dgesv_(&order, &one, a, &order, pivot, x, &order, &info);
    if (info)
        return 2;
    for (int i = 0; i < N; i++)
        s += x[i] * (i % 7);
    printf("result solve %.10g\n", s);

    double batch[BATCH];
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < BATCH; i++)
        for (int pass = 0; pass < 8; pass++)
            batch[i] = one_product((size_t)i);
    s = 0;
    for (int i = 0; i < BATCH; i++)
        s += batch[i];
    printf("result batch %.12g\n", s);

    pthread_t thread[3];
    double part[3] = {0};
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread[i], NULL, in_thread, &part[i]))
            return 2;
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
        printf("result thread%d %.12g\n", i, part[i]);
    }
    printf("time %.6f\n", omp_get_wtime() - start);
    free(a);
    free(b);
    free(c);
    free(pivot);
    free(x);
    return 0;
}
