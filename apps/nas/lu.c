/* LU: the compressible Navier-Stokes equations in three dimensions, steady state, by symmetric successive
 * over-relaxation (application LU of NAS-95-020 and RNR-94-007, section 4). A step forms the right side, sweeps the
 * lower triangular system from the first corner of the grid to the last, the upper one back, and adds the result to the
 * solution.
 *
 * In a sweep a point needs its three neighbours that come before. Two ways to have several threads in it (--variant):
 *   pipelined   a thread has every T-th plane k; row (k, j) waits for row (k - 1, j) by a doacross loop
 *   hyperplane  all points with the same i + j + k are independent: a parallel loop for each such plane
 * Both do the same operations at each point, so their results are equal to the bit.
 *
 * The blocks of the systems are not stored: what is needed is their product with a known vector, which is formed from
 * the Jacobian matrices' formulas. The diagonal block has nothing to the right of its diagonal but in its last row: it
 * is solved from the top. */
#include "nas.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LU_PIPELINED, LU_HYPERPLANE };

static const struct lu_class {
    int n;
    unsigned steps;
    double dt, residual[5], error[5], surface;
} classes[] = {
    {12,
     50,
     0.5,
     {1.6196343210976702e-02, 2.1976745164821318e-03, 1.5179927653399185e-03, 1.5029584435994323e-03,
      3.4264073155896461e-02},
     {6.4223319957960924e-04, 8.4144342047347926e-05, 5.8588269616485186e-05, 5.8474222595157350e-05,
      1.3103347914111294e-03},
     7.8418928865937083},
    {33,
     300,
     1.5e-3,
     {0.1236511638192e+02, 0.1317228477799e+01, 0.2550120713095e+01, 0.2326187750252e+01, 0.2826799444189e+02},
     {0.4867877144216, 0.5064652880982e-01, 0.9281818101960e-01, 0.8570126542733e-01, 0.1084277417792e+01},
     0.1161399311023e+02},
    {64,
     250,
     2,
     {7.7902107606689367e+02, 6.3402765259692870e+01, 1.9499249727292479e+02, 1.7845301160418537e+02,
      1.8384760349464247e+03},
     {2.9964085685471943e+01, 2.8194576365003349, 7.3473412698774742, 6.7139225687777051, 7.0715315688392578e+01},
     2.6030925604886277e+01},
    {102,
     250,
     2,
     {3.5532672969982736e+03, 2.6214750795310692e+02, 8.8333721850952190e+02, 7.7812774739425265e+02,
      7.3087969592545314e+03},
     {1.1401176380212709e+02, 8.1098963655421574, 2.8480597317698308e+01, 2.5905394567832939e+01,
      2.6054907504857413e+02},
     4.7887162703308227e+01},
};

/* The specification's constants: of the gas, the differences, the relaxation, and the polynomials of the exact
 * solution. */
static const double c1 = 1.4, c2 = 0.4, c34 = 0.1 * 1.0, c15 = 1.4 * 1.4, omega = 1.2, dissipation = 0.25;
static const double spread[3] = {0.75, 0.75, 1.0}; /* dx, dy, dz: the same for all five equations */
static const double exact_factor[5][13] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};

typedef double five[5]; /* density, three momenta, energy: the unknowns of a point */

struct lu {
    int n;
    unsigned steps, threads, variant;
    double dt, t1, t2, t3;          /* 1 / h^2, 1 / 2h, 1 / h; h is the same on all axes */
    five *u, *forcing, *rest;       /* [n][n][n]; rest: the right side, then the sweeps' result */
    int (*point)[3], *first_point;  /* interior points by hyperplane */
    struct line_values *line_space; /* a line's for each thread */
};

static inline size_t at(const struct lu *lu, int k, int j, int i)
{
    return ((size_t)k * (size_t)lu->n + (size_t)j) * (size_t)lu->n + (size_t)i;
}

static void exact(const struct lu *lu, int k, int j, int i, double *value)
{
    double h = 1.0 / (lu->n - 1), x[3] = {i * h, j * h, k * h};

    for (int m = 0; m < 5; m++) {
        const double *f = exact_factor[m];
        value[m] = f[0];
        for (int d = 0; d < 3; d++)
            value[m] += (f[1 + d] + (f[4 + d] + (f[7 + d] + f[10 + d] * x[d]) * x[d]) * x[d]) * x[d];
    }
}

/* What a line of points along one axis needs of each. */
struct line_values {
    double velocity[3], square, energy, flux[5], viscous[5]; /* viscous: between this point and the one before */
};

/* Adds one axis' part of the differential operator of `from` to `to`: along the line of points base + p * stride. */
static void operator_on_line(const struct lu *lu, int axis, const five *from, five *to, size_t stride,
                             struct line_values *v)
{
    int n = lu->n;

    for (int p = 0; p < n; p++) {
        const double *u = from[(size_t)p * stride];
        for (int m = 0; m < 3; m++)
            v[p].velocity[m] = u[1 + m] / u[0];
        const double *w = v[p].velocity;
        v[p].square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
        v[p].energy = u[4] / u[0];
        double pressure = c2 * (u[4] - 0.5 * u[0] * v[p].square);
        for (int m = 0; m < 5; m++)
            v[p].flux[m] = u[m] * w[axis];
        v[p].flux[1 + axis] += pressure;
        v[p].flux[4] += pressure * w[axis];
    }
    for (int p = 1; p < n; p++) {
        const struct line_values *a = &v[p - 1];
        double along = v[p].velocity[axis], along_before = a->velocity[axis];
        v[p].viscous[0] = 0;
        for (int m = 0; m < 3; m++)
            v[p].viscous[1 + m] = (m == axis ? 4.0 / 3 : 1.0) * lu->t3 * (v[p].velocity[m] - a->velocity[m]);
        v[p].viscous[4] = 0.5 * (1 - c15) * lu->t3 * (v[p].square - a->square) +
                          1.0 / 6 * lu->t3 * (along * along - along_before * along_before) +
                          c15 * lu->t3 * (v[p].energy - a->energy);
    }
    for (int p = 1; p < n - 1; p++) {
        const double *u = from[(size_t)p * stride], *before = u - 5 * stride, *after = u + 5 * stride;
        double *sum = to[(size_t)p * stride];
        for (int m = 0; m < 5; m++) {
            double fourth =
                (p == 1 || p == n - 2 ? 5 : 6) * u[m]; /* the differences of fourth order, shorter at the ends */
            fourth -= p > 1 ? 4 * before[m] : 0;
            fourth -= p < n - 2 ? 4 * after[m] : 0;
            fourth += p > 2 ? from[(size_t)(p - 2) * stride][m] : 0;
            fourth += p < n - 3 ? from[(size_t)(p + 2) * stride][m] : 0;
            sum[m] += -lu->t2 * (v[p + 1].flux[m] - v[p - 1].flux[m]) +
                      spread[axis] * lu->t1 * (before[m] - 2 * u[m] + after[m]) +
                      lu->t3 * c34 * (v[p + 1].viscous[m] - v[p].viscous[m]) - dissipation * fourth;
        }
    }
}

/* to = operator(from) - minus, at the interior points; minus NULL: nothing. By the whole team. */
static void apply_operator(const struct lu *lu, const five *from, five *to, const five *minus)
{
    int n = lu->n;
    size_t size = (size_t)n;
    struct line_values *v = lu->line_space + (size_t)omp_get_thread_num() * size;

#pragma omp for schedule(static)
    for (int k = 0; k < n; k++) {
        for (size_t i = at(lu, k, 0, 0); i < at(lu, k + 1, 0, 0); i++)
            for (int m = 0; m < 5; m++)
                to[i][m] = minus ? -minus[i][m] : 0;
        if (k == 0 || k == n - 1)
            continue;
        for (int j = 1; j < n - 1; j++)
            operator_on_line(lu, 0, from + at(lu, k, j, 0), to + at(lu, k, j, 0), 1, v);
        for (int i = 1; i < n - 1; i++)
            operator_on_line(lu, 1, from + at(lu, k, 0, i), to + at(lu, k, 0, i), size, v);
    }
#pragma omp for schedule(static)
    for (int j = 1; j < n - 1; j++)
        for (int i = 1; i < n - 1; i++)
            operator_on_line(lu, 2, from + at(lu, 0, j, i), to + at(lu, 0, j, i), size * size, v);
}

/* Velocity, and what of it the Jacobian matrices need. */
struct state {
    double one_over, w[3], half_square, energy;
};

static inline struct state state_of(const double *u)
{
    double r = 1 / u[0];
    struct state s = {r, {u[1] * r, u[2] * r, u[3] * r}, 0, u[4] * r};

    s.half_square = 0.5 * (s.w[0] * s.w[0] + s.w[1] * s.w[1] + s.w[2] * s.w[2]);
    return s;
}

/* sum += dt * (sign * t2 * A - t1 * N - t1 * spread) x for a neighbour whose solution is u: A is the Jacobian of the
 * flux along the axis, N that of the viscous terms. */
static inline void add_neighbour(const struct lu *lu, int axis, double sign, const double *u, const double *x,
                                 double *sum)
{
    const double c1345 = c34 * c15;
    struct state s = state_of(u);
    double along = s.w[axis], dot = s.w[0] * x[1] + s.w[1] * x[2] + s.w[2] * x[3];
    double flux = lu->dt * sign * lu->t2, viscous = -lu->dt * lu->t1, scale = viscous * s.one_over;
    double pressure = c2 * (s.half_square * x[0] - dot + x[4]);
    double last = -c1345 * s.energy * x[0] + c1345 * x[4];

    sum[0] += flux * x[1 + axis] + viscous * spread[axis] * x[0];
    for (int m = 0; m < 3; m++) {
        double weight = c34 * (m == axis ? 4.0 / 3 : 1.0), change = x[1 + m] - s.w[m] * x[0];
        sum[1 + m] += flux * (along * change + s.w[m] * x[1 + axis]) + scale * weight * change +
                      viscous * spread[axis] * x[1 + m];
        last += (weight - c1345) * s.w[m] * change;
    }
    sum[1 + axis] += flux * pressure;
    double enthalpy = c1 * s.energy - c2 * s.half_square;
    sum[4] += flux * (along * (2 * c2 * s.half_square - c1 * s.energy) * x[0] + enthalpy * x[1 + axis] +
                      along * (c1 * x[4] - c2 * dot)) +
              scale * last + viscous * spread[axis] * x[4];
}

/* Solves the diagonal block at a point whose solution is u; x: right side and result. */
static inline void solve_diagonal(const struct lu *lu, const double *u, double *x)
{
    const double c1345 = c34 * c15, two = 2 * lu->dt * lu->t1;
    struct state s = state_of(u);
    double scale = two * s.one_over, base = 1 + two * (spread[0] + spread[1] + spread[2]);
    /* the three axes together: one of them has weight 4/3 for each momentum */
    double weight = c34 * (4.0 / 3 + 2), energy_weight = weight - 3 * c1345;
    double first = x[0] / base;

    x[0] = first;
    x[4] += scale * 3 * c1345 * s.energy * first;
    for (int m = 0; m < 3; m++) {
        x[1 + m] = (x[1 + m] + scale * weight * s.w[m] * first) / (base + scale * weight);
        x[4] -= scale * energy_weight * s.w[m] * (x[1 + m] - s.w[m] * first);
    }
    x[4] /= base + scale * 3 * c1345;
}

static void lower_point(const struct lu *lu, int k, int j, int i)
{
    size_t here = at(lu, k, j, i), size = (size_t)lu->n, step[3] = {1, size, size * size};
    double sum[5] = {0};

    for (int d = 0; d < 3; d++)
        add_neighbour(lu, d, -1, lu->u[here - step[d]], lu->rest[here - step[d]], sum);
    for (int m = 0; m < 5; m++)
        lu->rest[here][m] -= omega * sum[m];
    solve_diagonal(lu, lu->u[here], lu->rest[here]);
}

static void upper_point(const struct lu *lu, int k, int j, int i)
{
    size_t here = at(lu, k, j, i), size = (size_t)lu->n, step[3] = {1, size, size * size};
    double sum[5] = {0};

    for (int d = 0; d < 3; d++)
        add_neighbour(lu, d, 1, lu->u[here + step[d]], lu->rest[here + step[d]], sum);
    for (int m = 0; m < 5; m++)
        sum[m] *= omega;
    solve_diagonal(lu, lu->u[here], sum);
    for (int m = 0; m < 5; m++)
        lu->rest[here][m] -= sum[m];
}

static void lower_row(const struct lu *lu, int k, int j)
{
    for (int i = 1; i <= lu->n - 2; i++)
        lower_point(lu, k, j, i);
}

static void upper_row(const struct lu *lu, int k, int j)
{
    for (int i = lu->n - 2; i >= 1; i--)
        upper_point(lu, k, j, i);
}

/* One thread alone has nothing to wait for; libomp's answer to GCC's doacross loops even fails in a team of one. */
static void sweep_alone(const struct lu *lu)
{
    for (int k = 1; k <= lu->n - 2; k++)
        for (int j = 1; j <= lu->n - 2; j++)
            lower_row(lu, k, j);
    for (int k = lu->n - 2; k >= 1; k--)
        for (int j = lu->n - 2; j >= 1; j--)
            upper_row(lu, k, j);
}

/* The sweeps, by the whole team; a barrier at the end of each. */
static void sweep_pipelined(const struct lu *lu)
{
    int inner = lu->n - 2;

#pragma omp for ordered(2) schedule(static, 1)
    for (int k = 1; k <= inner; k++) {
        for (int j = 1; j <= inner; j++) {
#pragma omp ordered depend(sink : k - 1, j)
            lower_row(lu, k, j);
#pragma omp ordered depend(source)
        }
    }
#pragma omp for ordered(2) schedule(static, 1)
    for (int k = 0; k < inner; k++) { /* from the end: planes inner - k, rows inner - j */
        for (int j = 0; j < inner; j++) {
#pragma omp ordered depend(sink : k - 1, j)
            upper_row(lu, inner - k, inner - j);
#pragma omp ordered depend(source)
        }
    }
}

static void sweep_hyperplanes(const struct lu *lu)
{
    int planes = 3 * (lu->n - 2) - 2;

    for (int plane = 0; plane < planes; plane++) {
#pragma omp for schedule(static)
        for (int p = lu->first_point[plane]; p < lu->first_point[plane + 1]; p++)
            lower_point(lu, lu->point[p][0], lu->point[p][1], lu->point[p][2]);
    }
    for (int plane = planes - 1; plane >= 0; plane--) {
#pragma omp for schedule(static)
        for (int p = lu->first_point[plane]; p < lu->first_point[plane + 1]; p++)
            upper_point(lu, lu->point[p][0], lu->point[p][1], lu->point[p][2]);
    }
}

/* All interior points, ordered by i + j + k. */
static void make_hyperplanes(struct lu *lu)
{
    int inner = lu->n - 2, planes = 3 * inner - 2, num = 0;

    lu->point = nas_alloc((size_t)inner * (size_t)inner * (size_t)inner * sizeof *lu->point);
    lu->first_point = nas_alloc((size_t)(planes + 1) * sizeof *lu->first_point);
    for (int plane = 0; plane < planes; plane++) {
        lu->first_point[plane] = num;
        for (int k = 1; k <= inner; k++) {
            for (int j = 1; j <= inner; j++) {
                int i = plane + 3 - k - j;
                if (i >= 1 && i <= inner) {
                    int here[3] = {k, j, i};
                    memcpy(lu->point[num++], here, sizeof here);
                }
            }
        }
    }
    lu->first_point[planes] = num;
}

/* The exact solution on the boundary; inside what transfinite interpolation makes of it. */
static void start_values(const struct lu *lu)
{
    int n = lu->n, last = n - 1;

#pragma omp for schedule(static)
    for (int k = 0; k < n; k++) {
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < n; i++) {
                double *u = lu->u[at(lu, k, j, i)], side[6][5];
                if (!i || !j || !k || i == last || j == last || k == last) {
                    exact(lu, k, j, i, u);
                    continue;
                }
                double x[3] = {(double)i / last, (double)j / last, (double)k / last};
                exact(lu, k, j, 0, side[0]);
                exact(lu, k, j, last, side[1]);
                exact(lu, k, 0, i, side[2]);
                exact(lu, k, last, i, side[3]);
                exact(lu, 0, j, i, side[4]);
                exact(lu, last, j, i, side[5]);
                for (int m = 0; m < 5; m++) {
                    double p[3];
                    for (int d = 0; d < 3; d++)
                        p[d] = (1 - x[d]) * side[2 * d][m] + x[d] * side[2 * d + 1][m];
                    u[m] = p[0] + p[1] + p[2] - p[0] * p[1] - p[1] * p[2] - p[2] * p[0] + p[0] * p[1] * p[2];
                }
            }
        }
    }
}

/* The forcing term makes the exact solution the steady one. rest serves as its place. */
static void make_forcing(const struct lu *lu)
{
    int n = lu->n;

#pragma omp for schedule(static)
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                exact(lu, k, j, i, lu->rest[at(lu, k, j, i)]);
    apply_operator(lu, lu->rest, lu->forcing, NULL);
}

/* One step of the relaxation, by the whole team. */
static void step(const struct lu *lu)
{
    int n = lu->n;

#pragma omp for schedule(static)
    for (int k = 1; k < n - 1; k++)
        for (size_t i = at(lu, k, 0, 0); i < at(lu, k + 1, 0, 0); i++)
            for (int m = 0; m < 5; m++)
                lu->rest[i][m] *= lu->dt; /* the boundary's are 0, and stay it */
    if (lu->variant == LU_HYPERPLANE)
        sweep_hyperplanes(lu);
    else if (omp_get_num_threads() > 1)
        sweep_pipelined(lu);
    else
        sweep_alone(lu);
#pragma omp for schedule(static)
    for (int k = 1; k < n - 1; k++)
        for (size_t i = at(lu, k, 0, 0); i < at(lu, k + 1, 0, 0); i++)
            for (int m = 0; m < 5; m++)
                lu->u[i][m] += 1 / (omega * (2 - omega)) * lu->rest[i][m];
    apply_operator(lu, lu->u, lu->rest, lu->forcing);
}

/* Root mean squares over the interior points: of the right side and of the solution's error. */
static void norms(const struct lu *lu, double *residual, double *error)
{
    int n = lu->n;
    double value[5];

    memset(residual, 0, sizeof value);
    memset(error, 0, sizeof value);
    for (int k = 1; k < n - 1; k++) {
        for (int j = 1; j < n - 1; j++) {
            for (int i = 1; i < n - 1; i++) {
                size_t here = at(lu, k, j, i);
                exact(lu, k, j, i, value);
                for (int m = 0; m < 5; m++) {
                    residual[m] += lu->rest[here][m] * lu->rest[here][m];
                    error[m] += (value[m] - lu->u[here][m]) * (value[m] - lu->u[here][m]);
                }
            }
        }
    }
    double points = (double)(n - 2) * (n - 2) * (n - 2);
    for (int m = 0; m < 5; m++) {
        residual[m] = sqrt(residual[m] / points);
        error[m] = sqrt(error[m] / points);
    }
}

static double pressure(const struct lu *lu, int k, int j, int i)
{
    const double *u = lu->u[at(lu, k, j, i)];

    return c2 * (u[4] - 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0]);
}

/* The pressure's integral over the six faces of a box inside the grid: trapezoids. */
static double surface_integral(const struct lu *lu)
{
    int low[3] = {1, 1, 2}, high[3] = {lu->n - 2, lu->n - 3, lu->n - 2}; /* of i, j, k, as published */
    double h = 1.0 / (lu->n - 1), sum = 0;

    for (int axis = 0; axis < 3; axis++) {
        int a = (axis + 1) % 3, b = (axis + 2) % 3, p[3];
        for (int face = 0; face < 2; face++) {
            p[axis] = face ? high[axis] : low[axis];
            for (p[a] = low[a]; p[a] <= high[a]; p[a]++) {
                for (p[b] = low[b]; p[b] <= high[b]; p[b]++) {
                    int at_end = (p[a] == low[a] || p[a] == high[a]) + (p[b] == low[b] || p[b] == high[b]);
                    sum += pressure(lu, p[2], p[1], p[0]) * (at_end == 2 ? 1 : at_end == 1 ? 2 : 4);
                }
            }
        }
    }
    return 0.25 * sum * h * h;
}

static void solve(const struct nas_run *run, struct nas_result *result)
{
    const struct lu_class *class = &classes[nas_class_index(run->class)];
    double n = class->n, residual[5], error[5], start = 0;
    size_t points = (size_t) class->n * (size_t) class->n * (size_t) class->n;
    struct lu lu = {
        .n = class->n, .steps = class->steps, .dt = class->dt, .threads = run->threads, .variant = run->variant};

    lu.t1 = (n - 1) * (n - 1);
    lu.t2 = (n - 1) / 2;
    lu.t3 = n - 1;
    lu.u = nas_alloc(points * sizeof *lu.u);
    lu.forcing = nas_alloc(points * sizeof *lu.forcing);
    lu.rest = nas_alloc(points * sizeof *lu.rest);
    lu.line_space = nas_alloc((size_t)run->threads * (size_t) class->n * sizeof *lu.line_space);
    if (lu.variant == LU_HYPERPLANE)
        make_hyperplanes(&lu);
#pragma omp parallel num_threads(run->threads)
    {
        start_values(&lu);
        make_forcing(&lu);
        apply_operator(&lu, lu.u, lu.rest, lu.forcing);
#pragma omp single
        {
            start = omp_get_wtime();
            nas_progress(run, 0, lu.steps);
        }
        for (unsigned s = 0; s < lu.steps; s++) {
            step(&lu);
#pragma omp single nowait
            nas_progress(run, s + 1, lu.steps);
        }
    }
    result->seconds = omp_get_wtime() - start;
    norms(&lu, residual, error);
    result->operations = class->steps * (1984.77 * n * n * n - 10923.3 * n * n + 27770.9 * n - 144010);
    result->epsilon = 1e-8;
    for (unsigned m = 0; m < 5; m++)
        nas_compare(result, "residual", m + 1, residual[m], class->residual[m]);
    for (unsigned m = 0; m < 5; m++)
        nas_compare(result, "error", m + 1, error[m], class->error[m]);
    nas_compare(result, "surface integral", 0, surface_integral(&lu), class->surface);
    free(lu.u);
    free(lu.forcing);
    free(lu.rest);
    free(lu.line_space);
    free(lu.point);
    free(lu.first_point);
}

static void describe(char class, char *text, size_t size)
{
    const struct lu_class *c = &classes[nas_class_index(class)];

    snprintf(text, size, "%d x %d x %d, %u steps of %g", c->n, c->n, c->n, c->steps, c->dt);
}

int main(int argc, char **argv)
{
    static const char *const variants[] = {"pipelined", "hyperplane", NULL};
    static const struct nas_program program = {"lu", variants, describe, solve};

    return nas_main(&program, argc, argv);
}
