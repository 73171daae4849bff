/* CG: the largest eigenvalue of a sparse symmetric matrix, estimated by inverse power iteration whose systems are
 * solved by 25 steps of the conjugate gradient method (NAS-95-020, section 2.2... of the kernels). The matrix is a sum
 * of n weighted outer products of sparse random vectors; its pattern has no structure, so that p is read here and
 * there. */
#include "nas.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CG_STEPS = 25 };

static const struct {
    uint32_t n, nonzeros, iterations;
    double shift, zeta;
} classes[] = {
    {1400, 7, 15, 10, 8.5971775078648},
    {7000, 8, 15, 12, 10.362595087124},
    {14000, 11, 15, 20, 17.130235054029},
    {75000, 13, 75, 60, 22.712745482631},
};
static const double condition = 0.1; /* smallest weight; the largest is 1 */

struct matrix {
    uint32_t n;
    size_t *begin;
    uint32_t *length, *column;
    double *value;
};

/* n sparse vectors: vector i has num[i] elements from i * most on. */
struct vectors {
    uint32_t most, *num, *at;
    double *x;
};

/* Random positions and values, until there are `nonzeros` different ones; then element i is made 0.5. */
static void make_vectors(struct vectors *v, uint32_t n, uint32_t nonzeros)
{
    uint64_t state = NAS_SEED;
    uint32_t range = 1;

    nas_random(&state); /* the published sequence begins with one that is not used */
    while (range < n)
        range *= 2;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *at = v->at + (size_t)i * v->most, num = 0, e;
        double *x = v->x + (size_t)i * v->most;
        while (num < nonzeros) {
            double value = nas_random(&state);
            uint32_t place = (uint32_t)(range * nas_random(&state));
            for (e = 0; e < num && at[e] != place; e++)
                continue;
            if (place < n && e == num) {
                at[num] = place;
                x[num++] = value;
            }
        }
        for (e = 0; e < num && at[e] != i; e++)
            continue;
        at[e] = i;
        x[e] = 0.5;
        v->num[i] = num + (e == num);
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Where each row occurs: the vectors with an element in it, in their order. */
static void make_occurrences(const struct vectors *v, uint32_t n, size_t *first, uint32_t *vector)
{
    memset(first, 0, (n + 1) * sizeof *first);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = 0; e < v->num[i]; e++)
            first[v->at[(size_t)i * v->most + e] + 1]++;
    for (uint32_t i = 0; i < n; i++)
        first[i + 1] += first[i];
    size_t *next = nas_alloc(n * sizeof *next);
    memcpy(next, first, n * sizeof *next);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = 0; e < v->num[i]; e++)
            vector[next[v->at[(size_t)i * v->most + e]]++] = i;
    free(next);
}

/* One row: the sum over its vectors, columns in order. row: n zeros, and zeros again afterwards. */
static void make_row(struct matrix *m, uint32_t i, const struct vectors *v, const uint32_t *vector, size_t num,
                     double shift, double *row)
{
    uint32_t *column = m->column + m->begin[i], length = 0;

    for (size_t o = 0; o < num; o++) {
        const uint32_t *at = v->at + (size_t)vector[o] * v->most;
        const double *x = v->x + (size_t)vector[o] * v->most;
        double weight = pow(condition, (double)vector[o] / m->n), own = 0;
        for (uint32_t e = 0; e < v->num[vector[o]]; e++)
            own = at[e] == i ? x[e] : own;
        for (uint32_t e = 0; e < v->num[vector[o]]; e++) {
            if (row[at[e]] == 0)
                column[length++] = at[e];
            row[at[e]] += weight * own * x[e];
        }
    }
    row[i] += condition - shift; /* vector i has an element there: the column is listed */
    qsort(column, length, sizeof *column, by_number);
    for (uint32_t e = 0; e < length; e++) {
        m->value[m->begin[i] + e] = row[column[e]];
        row[column[e]] = 0;
    }
    m->length[i] = length;
}

static void make_matrix(struct matrix *m, uint32_t n, uint32_t nonzeros, double shift, unsigned threads)
{
    struct vectors v = {.most = nonzeros + 1};

    v.num = nas_alloc(n * sizeof *v.num);
    v.at = nas_alloc((size_t)n * v.most * sizeof *v.at);
    v.x = nas_alloc((size_t)n * v.most * sizeof *v.x);
    make_vectors(&v, n, nonzeros);
    size_t *first = nas_alloc((n + 1) * sizeof *first);
    uint32_t *vector = nas_alloc((size_t)n * v.most * sizeof *vector);
    make_occurrences(&v, n, first, vector);
    m->n = n;
    m->begin = nas_alloc((n + 1) * sizeof *m->begin);
    m->length = nas_alloc(n * sizeof *m->length);
    m->begin[0] = 0;
    for (uint32_t i = 0; i < n; i++)
        m->begin[i + 1] = m->begin[i] + (first[i + 1] - first[i]) * v.most;
    m->column = nas_alloc(m->begin[n] * sizeof *m->column);
    m->value = nas_alloc(m->begin[n] * sizeof *m->value);
#pragma omp parallel num_threads(threads)
    {
        double *row = nas_alloc(n * sizeof *row);
        memset(row, 0, n * sizeof *row);
#pragma omp for schedule(static)
        for (uint32_t i = 0; i < n; i++)
            make_row(m, i, &v, vector + first[i], first[i + 1] - first[i], shift, row);
        free(row);
    }
    free(v.num);
    free(v.at);
    free(v.x);
    free(first);
    free(vector);
}

/* to = matrix * from, by the whole team; no barrier at the end. */
static void multiply(const struct matrix *m, const double *from, double *to)
{
#pragma omp for schedule(static) nowait
    for (uint32_t i = 0; i < m->n; i++) {
        const uint32_t *column = m->column + m->begin[i];
        const double *value = m->value + m->begin[i];
        double sum = 0;
        for (uint32_t e = 0; e < m->length[i]; e++)
            sum += value[e] * from[column[e]];
        to[i] = sum;
    }
}

/* z: the solution of matrix * z = x after CG_STEPS steps; the norm of what remains. */
static double solve_system(const struct matrix *m, const double *x, double *z, double *p, double *q, double *r,
                           unsigned threads)
{
    double rho = 0, next_rho = 0, pq = 0, rest = 0;
    uint32_t n = m->n;

#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static) reduction(+ : rho)
        for (uint32_t i = 0; i < n; i++) {
            z[i] = 0;
            p[i] = r[i] = x[i];
            rho += x[i] * x[i];
        }
        for (unsigned step = 0; step < CG_STEPS; step++) {
            multiply(m, p, q); /* static loops over the same rows: a thread reads back what it wrote */
#pragma omp for schedule(static) reduction(+ : pq)
            for (uint32_t i = 0; i < n; i++)
                pq += p[i] * q[i];
            double alpha = rho / pq;
#pragma omp for schedule(static) reduction(+ : next_rho)
            for (uint32_t i = 0; i < n; i++) {
                z[i] += alpha * p[i];
                r[i] -= alpha * q[i];
                next_rho += r[i] * r[i];
            }
            double beta = next_rho / rho;
#pragma omp for schedule(static)
            for (uint32_t i = 0; i < n; i++)
                p[i] = r[i] + beta * p[i];
#pragma omp single
            {
                rho = next_rho;
                next_rho = pq = 0;
            }
        }
        multiply(m, z, q);
#pragma omp for schedule(static) reduction(+ : rest)
        for (uint32_t i = 0; i < n; i++)
            rest += (x[i] - q[i]) * (x[i] - q[i]);
    }
    return sqrt(rest);
}

/* x = z / |z|; 1 / (x, z) before that. */
static double power_step(double *x, const double *z, uint32_t n, unsigned threads)
{
    double xz = 0, zz = 0;

#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static) reduction(+ : xz, zz)
        for (uint32_t i = 0; i < n; i++) {
            xz += x[i] * z[i];
            zz += z[i] * z[i];
        }
#pragma omp for schedule(static)
        for (uint32_t i = 0; i < n; i++)
            x[i] = z[i] / sqrt(zz);
    }
    return 1 / xz;
}

static void solve(const struct nas_run *run, struct nas_result *result)
{
    unsigned c = nas_class_index(run->class);
    uint32_t n = classes[c].n;
    struct matrix m;
    double zeta = 0, *vector[5];

    make_matrix(&m, n, classes[c].nonzeros, classes[c].shift, run->threads);
    for (unsigned v = 0; v < 5; v++)
        vector[v] = nas_alloc(n * sizeof(double));
    double *x = vector[0], *z = vector[1];
    for (uint32_t i = 0; i < n; i++)
        x[i] = 1;
    solve_system(&m, x, z, vector[2], vector[3], vector[4], run->threads); /* not timed: memory is touched */
    double start = omp_get_wtime();
    for (unsigned it = 0; it < classes[c].iterations; it++) {
        nas_progress(run, it, classes[c].iterations);
        solve_system(&m, x, z, vector[2], vector[3], vector[4], run->threads);
        zeta = classes[c].shift + power_step(x, z, n, run->threads);
    }
    result->seconds = omp_get_wtime() - start;
    nas_progress(run, classes[c].iterations, classes[c].iterations);
    double per_row = classes[c].nonzeros * (classes[c].nonzeros + 1.0);
    result->operations = 2.0 * classes[c].iterations * n * (3 + per_row + CG_STEPS * (5 + per_row) + 3);
    result->epsilon = 1e-10;
    nas_compare(result, "zeta", 0, zeta, classes[c].zeta);
    for (unsigned v = 0; v < 5; v++)
        free(vector[v]);
    free(m.begin);
    free(m.length);
    free(m.column);
    free(m.value);
}

static void describe(char class, char *text, size_t size)
{
    unsigned c = nas_class_index(class);

    snprintf(text, size, "%u rows, %u iterations", classes[c].n, classes[c].iterations);
}

int main(int argc, char **argv)
{
    static const struct nas_program program = {"cg", NULL, describe, solve};

    return nas_main(&program, argc, argv);
}
