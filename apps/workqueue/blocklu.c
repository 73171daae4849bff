/* BlockLU: LU factorisation of a dense matrix by blocks, without pivots (in the manner of SPLASH-2's LU; nthlib-2004
 * figure 4).
 *
 * A step factors the diagonal's block, then the blocks right of it and below it (a task each), then what is left of the
 * matrix (a task a block): two queues a step, after one another. Each block sees the same operations in the same order
 * as in the sequential program, so both agree to the bit; and L U is compared with the matrix by random vectors. */
#include "wq.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct wq_number numbers[] = {
    {"size", "rows of the matrix", 768, 1, 16384}, {"block", "rows of a block", 32, 1, 512}, {0}};
#define SIZE numbers[0].value
#define BLOCK numbers[1].value

static long num_blocks, block_rows; /* the matrix is filled up to whole blocks, with the identity */
static double *matrix, *factors, *expected;
static double residual;

static double *at(long row, long column)
{
    return factors + ((size_t)row * (size_t)num_blocks + (size_t)column) * (size_t)(block_rows * block_rows);
}

static void factor(double *d)
{
    long b = block_rows;
    for (long k = 0; k < b; k++)
        for (long i = k + 1; i < b; i++) {
            double x = d[i * b + k] /= d[k * b + k];
            for (long j = k + 1; j < b; j++)
                d[i * b + j] -= x * d[k * b + j];
        }
}

/* A block right of the diagonal: solves with the diagonal's lower triangle. */
static void solve_row(const double *d, double *r)
{
    long b = block_rows;
    for (long k = 0; k < b; k++)
        for (long i = k + 1; i < b; i++) {
            double x = d[i * b + k];
            for (long j = 0; j < b; j++)
                r[i * b + j] -= x * r[k * b + j];
        }
}

/* A block below the diagonal: solves with the diagonal's upper triangle. */
static void solve_column(const double *d, double *c)
{
    long b = block_rows;
    for (long i = 0; i < b; i++)
        for (long k = 0; k < b; k++) {
            double x = c[i * b + k] /= d[k * b + k];
            for (long j = k + 1; j < b; j++)
                c[i * b + j] -= x * d[k * b + j];
        }
}

static void subtract_product(const double *restrict c, const double *restrict r, double *restrict to)
{
    long b = block_rows;
    for (long i = 0; i < b; i++)
        for (long k = 0; k < b; k++) {
            double x = c[i * b + k];
            for (long j = 0; j < b; j++)
                to[i * b + j] -= x * r[k * b + j];
        }
}

static void serial(void)
{
    for (long k = 0; k < num_blocks; k++) {
        factor(at(k, k));
        for (long i = k + 1; i < num_blocks; i++) {
            solve_row(at(k, k), at(k, i));
            solve_column(at(k, k), at(i, k));
        }
        for (long i = k + 1; i < num_blocks; i++)
            for (long j = k + 1; j < num_blocks; j++)
                subtract_product(at(i, k), at(k, j), at(i, j));
    }
}

static void parallel(int threads)
{
#pragma omp parallel taskq num_threads(threads)
    for (long k = 0; k < num_blocks; k++) {
        factor(at(k, k));
#pragma omp taskq
        for (long i = k + 1; i < num_blocks; i++) {
#pragma omp task captureprivate(k)
            solve_row(at(k, k), at(k, i));
#pragma omp task captureprivate(k)
            solve_column(at(k, k), at(i, k));
        }
#pragma omp taskq
        for (long i = k + 1; i < num_blocks; i++)
            for (long j = k + 1; j < num_blocks; j++) {
#pragma omp task captureprivate(k)
                subtract_product(at(i, k), at(k, j), at(i, j));
            }
    }
}

static unsigned long tasks(void)
{
    unsigned long sum = 0;
    for (long k = 0; k < num_blocks; k++) {
        unsigned long left = (unsigned long)(num_blocks - k - 1);
        sum += 2 * left + left * left;
    }
    return sum;
}

static size_t bytes_of_all(void)
{
    return (size_t)(num_blocks * num_blocks * block_rows * block_rows) * sizeof *matrix;
}

static double *element(double *of, long i, long j)
{
    long b = block_rows;
    return of + ((size_t)(i / b) * (size_t)num_blocks + (size_t)(j / b)) * (size_t)(b * b) +
           (size_t)((i % b) * b + j % b);
}

static void setup(void)
{
    if (!matrix) {
        uint64_t state = 99;
        block_rows = BLOCK;
        num_blocks = (SIZE + BLOCK - 1) / BLOCK;
        matrix = wq_alloc(bytes_of_all());
        factors = wq_alloc(bytes_of_all());
        expected = wq_alloc(bytes_of_all());
        for (long i = 0; i < num_blocks * block_rows; i++)
            for (long j = 0; j < num_blocks * block_rows; j++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                double value = (double)(state >> 40) / (1 << 24) - 0.5;
                bool real = i < SIZE && j < SIZE;
                *element(matrix, i, j) = !real ? i == j : value + (i == j ? (double)SIZE : 0);
            }
    }
    memcpy(factors, matrix, bytes_of_all());
}

/* |A x - L U x| / |A x| for x of ones and minus ones. */
static double residual_now(void)
{
    long n = num_blocks * block_rows;
    double *x = wq_alloc((size_t)n * sizeof *x), *y = wq_alloc((size_t)n * sizeof *y), worst = 0, size = 0;
    for (long i = 0; i < n; i++)
        x[i] = (i * 7919) % 3 ? 1 : -1;
    for (long i = 0; i < n; i++) /* y = U x */
        for (long j = i; j < n; j++)
            y[i] += *element(factors, i, j) * x[j];
    for (long i = n - 1; i >= 0; i--) /* y = L y */
        for (long j = 0; j < i; j++)
            y[i] += *element(factors, i, j) * y[j];
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (long j = 0; j < n; j++)
            sum += *element(matrix, i, j) * x[j];
        worst = fmax(worst, fabs(sum - y[i]));
        size = fmax(size, fabs(sum));
    }
    free(x);
    free(y);
    return worst / size;
}

static const char *check(bool after_serial)
{
    static bool seen;
    if (!after_serial)
        return memcmp(factors, expected, bytes_of_all()) ? "not the sequential program's numbers" : NULL;
    memcpy(expected, factors, bytes_of_all());
    if (!seen)
        residual = residual_now();
    seen = true;
    return residual < 1e-13 * (double)SIZE ? NULL : "L times U is not the matrix";
}

static void say(char *text, size_t bytes)
{
    snprintf(text, bytes, "%ld x %ld in blocks of %ld, residual %.1e", SIZE, SIZE, BLOCK, residual);
}

int main(int argc, char **argv)
{
    static const struct wq lu = {"blocklu", "LU factorisation of a dense matrix, a block operation a task.",
                                 numbers,   setup,
                                 serial,    parallel,
                                 check,     say,
                                 tasks};
    return wq_main(&lu, argc, argv);
}
