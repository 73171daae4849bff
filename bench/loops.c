/* Loops of real size: a runtime must not be in their way. loops [--only NAME] [--samples N] [--passes K]
 *   triad    a = b + s * c over 2 million doubles (J. McCalpin, STREAM)
 *   cg       conjugate gradients on a 5-point matrix of 160 x 160: a product, two dots, three updates an iteration
 *   stencil  Jacobi's 5-point average on 700 x 700, 20 sweeps
 * A pass is 10 triads, 60 iterations, 20 sweeps. In ms, each checked against the sequential twin, which is printed
 * too. */
#include "sample.h"

#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIAD = 2000 * 1000, TRIADS = 10, SIDE = 160, ITERATIONS = 60, GRID = 700, SWEEPS = 20, SAMPLES_MAX = 1000 };
enum { UNKNOWNS = SIDE * SIDE };

static double *numbers(size_t n)
{
    double *p = malloc(n * sizeof *p);
    if (!p) {
        fprintf(stderr, "loops: out of memory\n");
        exit(1);
    }
    for (size_t i = 0; i < n; i++)
        p[i] = 1.0 + (double)(i % 17) / 16;
    return p;
}

static double triad(bool parallel)
{
    static double *a, *b, *c;
    if (!a)
        a = numbers(TRIAD), b = numbers(TRIAD), c = numbers(TRIAD);
    for (int k = 0; k < TRIADS; k++) {
#pragma omp parallel for if (parallel)
        for (int i = 0; i < TRIAD; i++)
            a[i] = b[i] + 3.0 * c[i];
    }
    return a[0] + a[TRIAD / 2] + a[TRIAD - 1];
}

/* The matrix is 4 on the diagonal, -1 for each neighbour on the grid. */
static double row_product(const double *x, int i)
{
    int column = i % SIDE;
    return 4 * x[i] - (column > 0 ? x[i - 1] : 0) - (column < SIDE - 1 ? x[i + 1] : 0) - (i >= SIDE ? x[i - SIDE] : 0) -
           (i < UNKNOWNS - SIDE ? x[i + SIDE] : 0);
}

static double cg(bool parallel)
{
    static double x[UNKNOWNS], r[UNKNOWNS], p[UNKNOWNS], q[UNKNOWNS];
    double rr = 0;
    for (int i = 0; i < UNKNOWNS; i++) {
        x[i] = 0;
        r[i] = p[i] = 1 + i % 3;
        rr += r[i] * r[i];
    }
    for (int k = 0; k < ITERATIONS; k++) {
        double pq = 0, next = 0;
#pragma omp parallel for reduction(+ : pq) if (parallel)
        for (int i = 0; i < UNKNOWNS; i++) {
            q[i] = row_product(p, i);
            pq += p[i] * q[i];
        }
        double alpha = rr / pq;
#pragma omp parallel for reduction(+ : next) if (parallel)
        for (int i = 0; i < UNKNOWNS; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            next += r[i] * r[i];
        }
        double beta = next / rr;
        rr = next;
#pragma omp parallel for if (parallel)
        for (int i = 0; i < UNKNOWNS; i++)
            p[i] = r[i] + beta * p[i];
    }
    return sqrt(rr) + x[UNKNOWNS / 2];
}

static double stencil(bool parallel)
{
    static double grid[2][GRID][GRID];
    for (int i = 0; i < GRID * GRID; i++)
        grid[0][i / GRID][i % GRID] = grid[1][i / GRID][i % GRID] = i % 13;
    for (int k = 0; k < SWEEPS; k++) {
        double(*from)[GRID] = grid[k % 2], (*to)[GRID] = grid[(k + 1) % 2];
#pragma omp parallel for if (parallel)
        for (int i = 1; i < GRID - 1; i++)
            for (int j = 1; j < GRID - 1; j++)
                to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
    }
    return grid[SWEEPS % 2][GRID / 2][GRID / 2] + grid[SWEEPS % 2][1][1];
}

static const struct {
    const char *name;
    double (*run)(bool parallel);
} kinds[] = {{"triad", triad}, {"cg", cg}, {"loop stencil", stencil}};

/* ms */
static double pass(int kind, bool parallel, unsigned passes, double *result)
{
    double start = sample_now();
    for (unsigned i = 0; i < passes; i++)
        *result = kinds[kind].run(parallel);
    return (sample_now() - start) * 1e3;
}

static void measure(int kind, unsigned samples, unsigned passes)
{
    double ms[SAMPLES_MAX], serial[SAMPLES_MAX], wanted = 0, got = 0;
    char name[64];
    pass(kind, true, 1, &got);
    for (unsigned i = 0; i < samples; i++) {
        serial[i] = pass(kind, false, i < 3 ? passes : 0, &wanted);
        ms[i] = pass(kind, true, passes, &got);
        if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted))) { /* sums may be taken in another order */
            fprintf(stderr, "loops: %s: %.17g, wanted %.17g\n", kinds[kind].name, got, wanted);
            exit(1);
        }
    }
    sample_print(kinds[kind].name, "ms", ms, samples);
    snprintf(name, sizeof name, "%s, sequential", kinds[kind].name);
    sample_print(name, "ms", serial, samples < 3 ? samples : 3);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"only", required_argument, NULL, 'o'},
                                            {"samples", required_argument, NULL, 's'},
                                            {"passes", required_argument, NULL, 'p'},
                                            {0}};
    const char *only = NULL;
    unsigned samples = 7, passes = 1, done = 0;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'o')
            only = optarg;
        else if (c == 's')
            samples = (unsigned)atoi(optarg);
        else if (c == 'p')
            passes = (unsigned)atoi(optarg);
        else
            return 2;
    }
    if (samples < 1 || samples > SAMPLES_MAX || passes < 1) {
        fprintf(stderr, "loops: --samples from 1 to %d, --passes from 1\n", SAMPLES_MAX);
        return 2;
    }
    for (int k = 0; k < 3; k++)
        if (!only || strcmp(only, kinds[k].name) == 0)
            measure(k, samples, passes), done++;
    if (!done)
        fprintf(stderr, "loops: nothing is called '%s'\n", only);
    return done ? 0 : 2;
}
