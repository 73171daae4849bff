/* MG: four or twenty V-cycles of a multigrid method on the scalar Poisson equation with periodic boundaries (kernel MG
 * of NAS-95-020). The right side is +1 at ten points and -1 at ten, where a field of random numbers is largest and
 * smallest.
 *
 * A grid of n points an axis has one layer more on each side, which repeats the opposite one. Point i of a coarse grid
 * (from 1 on) is point 2i of the finer one. All operators have 27 points and four weights, by distance: themselves,
 * faces, edges, corners. */
#include "nas.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 9, CHARGES = 10 };

static const struct {
    size_t n;
    unsigned levels, iterations; /* n is 2 to the power of levels */
    double norm;
} classes[] = {
    {32, 5, 4, 0.5307707005734e-04},
    {128, 7, 4, 0.6467329375339e-05},
    {256, 8, 4, 0.2433365309069e-05},
    {256, 8, 20, 0.1800564401355e-05},
};

struct grid {
    size_t n, side; /* side: n + 2 */
    double *u, *r;
};

struct mg {
    struct grid level[MOST_LEVELS]; /* level[l].n is 2 to the power of l; level 0 is not used */
    unsigned finest;
    double *v, smooth[3];
    unsigned threads;
};

static inline double *row(const struct grid *g, double *x, size_t k, size_t j)
{
    return x + (k * g->side + j) * g->side;
}

/* The outer layers repeat the opposite ones: rows, then planes; by the whole team. */
static void repeat_layers(const struct grid *g, double *x)
{
    size_t n = g->n;

#pragma omp for schedule(static)
    for (size_t k = 1; k <= n; k++) {
        for (size_t j = 1; j <= n; j++) {
            double *line = row(g, x, k, j);
            line[0] = line[n];
            line[n + 1] = line[1];
        }
        memcpy(row(g, x, k, 0), row(g, x, k, n), g->side * sizeof *x);
        memcpy(row(g, x, k, n + 1), row(g, x, k, 1), g->side * sizeof *x);
    }
#pragma omp for schedule(static)
    for (size_t side = 0; side < 2; side++)
        memcpy(row(g, x, side ? n + 1 : 0, 0), row(g, x, side ? 1 : n, 0), g->side * g->side * sizeof *x);
}

/* Sums of a row's four neighbours in its own plane and beside it, and of the four at its edges. */
static void sum_around(const struct grid *g, double *x, size_t k, size_t j, double *faces, double *edges)
{
    const double *up = row(g, x, k + 1, j), *down = row(g, x, k - 1, j);
    const double *north = row(g, x, k, j + 1), *south = row(g, x, k, j - 1);
    const double *up_north = row(g, x, k + 1, j + 1), *up_south = row(g, x, k + 1, j - 1);
    const double *down_north = row(g, x, k - 1, j + 1), *down_south = row(g, x, k - 1, j - 1);

    for (size_t i = 0; i < g->side; i++) {
        faces[i] = south[i] + north[i] + down[i] + up[i];
        edges[i] = down_south[i] + down_north[i] + up_south[i] + up_north[i];
    }
}

/* r = v - A u. v may be r. The team's; faces and edges are the thread's own rows. */
static void residual(const struct grid *g, double *u, double *v, double *r, double *faces, double *edges)
{
#pragma omp for collapse(2) schedule(static)
    for (size_t k = 1; k <= g->n; k++) {
        for (size_t j = 1; j <= g->n; j++) {
            const double *x = row(g, u, k, j), *right = row(g, v, k, j);
            double *to = row(g, r, k, j);
            sum_around(g, u, k, j, faces, edges);
            for (size_t i = 1; i <= g->n; i++) /* the faces' weight is 0 */
                to[i] = right[i] + 8.0 / 3 * x[i] - 1.0 / 6 * (edges[i] + faces[i - 1] + faces[i + 1]) -
                        1.0 / 12 * (edges[i - 1] + edges[i + 1]);
        }
    }
    repeat_layers(g, r);
}

/* u = u + S r; the corners' weight is 0. */
static void smooth(const struct mg *mg, const struct grid *g, double *faces, double *edges)
{
#pragma omp for collapse(2) schedule(static)
    for (size_t k = 1; k <= g->n; k++) {
        for (size_t j = 1; j <= g->n; j++) {
            const double *x = row(g, g->r, k, j);
            double *to = row(g, g->u, k, j);
            sum_around(g, g->r, k, j, faces, edges);
            for (size_t i = 1; i <= g->n; i++)
                to[i] += mg->smooth[0] * x[i] + mg->smooth[1] * (x[i - 1] + x[i + 1] + faces[i]) +
                         mg->smooth[2] * (edges[i] + faces[i - 1] + faces[i + 1]);
        }
    }
    repeat_layers(g, g->u);
}

/* The coarse right side: the fine residual, weighted 1/2, 1/4, 1/8, 1/16. */
static void restrict_residual(const struct grid *fine, const struct grid *coarse, double *faces, double *edges)
{
#pragma omp for collapse(2) schedule(static)
    for (size_t k = 1; k <= coarse->n; k++) {
        for (size_t j = 1; j <= coarse->n; j++) {
            const double *x = row(fine, fine->r, 2 * k, 2 * j);
            double *to = row(coarse, coarse->r, k, j);
            sum_around(fine, fine->r, 2 * k, 2 * j, faces, edges);
            for (size_t i = 1; i <= coarse->n; i++)
                to[i] = 0.5 * x[2 * i] + 0.25 * (x[2 * i - 1] + x[2 * i + 1] + faces[2 * i]) +
                        0.125 * (faces[2 * i - 1] + faces[2 * i + 1] + edges[2 * i]) +
                        0.0625 * (edges[2 * i - 1] + edges[2 * i + 1]);
        }
    }
    repeat_layers(coarse, coarse->r);
}

/* fine u += coarse u, linear between its points. sum: a row of the thread's own. */
static void interpolate(const struct grid *coarse, const struct grid *fine, double *sum)
{
#pragma omp for collapse(2) schedule(static)
    for (size_t k = 1; k <= fine->n; k++) {
        for (size_t j = 1; j <= fine->n; j++) {
            /* an even row is a coarse one, an odd one lies between two */
            const double *a = row(coarse, coarse->u, k / 2, j / 2), *b = row(coarse, coarse->u, k / 2, j / 2 + j % 2);
            const double *c = row(coarse, coarse->u, k / 2 + k % 2, j / 2);
            const double *d = row(coarse, coarse->u, k / 2 + k % 2, j / 2 + j % 2);
            double *to = row(fine, fine->u, k, j);
            for (size_t i = 0; i <= coarse->n; i++)
                sum[i] = 0.25 * (a[i] + b[i] + c[i] + d[i]);
            for (size_t i = 1; i <= coarse->n; i++) {
                to[2 * i - 1] += 0.5 * (sum[i - 1] + sum[i]);
                to[2 * i] += sum[i];
            }
        }
    }
    repeat_layers(fine, fine->u);
}

static void clear(const struct grid *g, double *x)
{
#pragma omp for schedule(static)
    for (size_t k = 0; k < g->side; k++)
        memset(row(g, x, k, 0), 0, g->side * g->side * sizeof *x);
}

/* One V-cycle, by the whole team. */
static void cycle(const struct mg *mg, double *faces, double *edges)
{
    const struct grid *level = mg->level;
    unsigned top = mg->finest;

    for (unsigned l = top; l > 1; l--)
        restrict_residual(&level[l], &level[l - 1], faces, edges);
    clear(&level[1], level[1].u);
    smooth(mg, &level[1], faces, edges);
    for (unsigned l = 2; l <= top; l++) {
        if (l < top)
            clear(&level[l], level[l].u);
        interpolate(&level[l - 1], &level[l], faces);
        residual(&level[l], level[l].u, l < top ? level[l].r : mg->v, level[l].r, faces, edges);
        smooth(mg, &level[l], faces, edges);
    }
}

/* The ten largest (sign 1) or smallest (-1) of the field's numbers: kept in order, the most extreme first. */
struct extremes {
    double value[CHARGES];
    size_t place[CHARGES];
    int sign;
};

static void consider(struct extremes *e, double value, size_t place)
{
    if ((value - e->value[CHARGES - 1]) * e->sign <= 0)
        return;
    unsigned at = CHARGES - 1;
    for (; at && (value - e->value[at - 1]) * e->sign > 0; at--) {
        e->value[at] = e->value[at - 1];
        e->place[at] = e->place[at - 1];
    }
    e->value[at] = value;
    e->place[at] = place;
}

static void make_charges(struct mg *mg)
{
    const struct grid *g = &mg->level[mg->finest];
    struct extremes all[2] = {{.sign = 1}, {.sign = -1}};
    size_t plane = g->n * g->n;

    for (unsigned e = 0; e < CHARGES; e++)
        all[1].value[e] = 1; /* the numbers are between 0 and 1 */
#pragma omp parallel num_threads(mg->threads)
    {
        struct extremes own[2];
        memcpy(own, all, sizeof own);
#pragma omp barrier
#pragma omp for schedule(static) nowait
        for (size_t k = 0; k < g->n; k++) {
            uint64_t state = nas_jump(NAS_SEED, k * plane);
            for (size_t i = 0; i < plane; i++) {
                double value = nas_random(&state);
                consider(&own[0], value, k * plane + i);
                consider(&own[1], value, k * plane + i);
            }
        }
#pragma omp critical(nas_mg_charges)
        for (unsigned s = 0; s < 2; s++)
            for (unsigned e = 0; e < CHARGES; e++)
                consider(&all[s], own[s].value[e], own[s].place[e]);
#pragma omp barrier
        clear(g, mg->v);
#pragma omp single
        for (unsigned s = 0; s < 2; s++) {
            for (unsigned e = 0; e < CHARGES; e++) {
                size_t p = all[s].place[e];
                row(g, mg->v, p / plane + 1, p / g->n % g->n + 1)[p % g->n + 1] = all[s].sign;
            }
        }
        repeat_layers(g, mg->v);
    }
}

static double norm(const struct mg *mg)
{
    const struct grid *g = &mg->level[mg->finest];
    double sum = 0;

#pragma omp parallel for collapse(2) schedule(static) reduction(+ : sum) num_threads(mg->threads)
    for (size_t k = 1; k <= g->n; k++)
        for (size_t j = 1; j <= g->n; j++)
            for (size_t i = 1; i <= g->n; i++)
                sum += row(g, g->r, k, j)[i] * row(g, g->r, k, j)[i];
    return sqrt(sum / (double)(g->n * g->n * g->n));
}

static void make_grids(struct mg *mg, unsigned levels)
{
    mg->finest = levels;
    for (unsigned l = 1; l <= levels; l++) {
        struct grid *g = &mg->level[l];
        g->n = (size_t)1 << l;
        g->side = g->n + 2;
        size_t bytes = g->side * g->side * g->side * sizeof(double);
        g->u = nas_alloc(bytes);
        g->r = nas_alloc(bytes);
        if (l == levels)
            mg->v = nas_alloc(bytes);
#pragma omp parallel num_threads(mg->threads)
        {
            clear(g, g->u);
            clear(g, g->r);
        }
    }
}

static void solve(const struct nas_run *run, struct nas_result *result)
{
    unsigned c = nas_class_index(run->class), iterations = classes[c].iterations;
    struct mg mg = {.threads = run->threads, .smooth = {-3.0 / 8, 1.0 / 32, -1.0 / 64}};
    double start = 0;

    if (run->class == 'B') {
        mg.smooth[0] = -3.0 / 17;
        mg.smooth[1] = 1.0 / 33;
        mg.smooth[2] = -1.0 / 61;
    }
    make_grids(&mg, classes[c].levels);
    make_charges(&mg);
    struct grid *finest = &mg.level[mg.finest];
#pragma omp parallel num_threads(run->threads)
    {
        double *faces = nas_alloc(2 * finest->side * sizeof *faces), *edges = faces + finest->side;
#pragma omp single
        {
            start = omp_get_wtime();
            nas_progress(run, 0, iterations);
        }
        residual(finest, finest->u, mg.v, finest->r, faces, edges);
        for (unsigned it = 0; it < iterations; it++) {
            cycle(&mg, faces, edges);
            residual(finest, finest->u, mg.v, finest->r, faces, edges);
#pragma omp single nowait
            nas_progress(run, it + 1, iterations);
        }
        free(faces);
    }
    double found = norm(&mg);
    result->seconds = omp_get_wtime() - start;
    result->operations = 58.0 * iterations * (double)(classes[c].n * classes[c].n * classes[c].n);
    result->epsilon = 1e-8;
    nas_compare(result, "norm of residual", 0, found, classes[c].norm);
    for (unsigned l = 1; l <= mg.finest; l++) {
        free(mg.level[l].u);
        free(mg.level[l].r);
    }
    free(mg.v);
}

static void describe(char class, char *text, size_t size)
{
    unsigned c = nas_class_index(class);

    snprintf(text, size, "%zu x %zu x %zu, %u iterations", classes[c].n, classes[c].n, classes[c].n,
             classes[c].iterations);
}

int main(int argc, char **argv)
{
    static const struct nas_program program = {"mg", NULL, describe, solve};

    return nas_main(&program, argc, argv);
}
