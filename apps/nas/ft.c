/* FT: a partial differential equation solved by three-dimensional fast Fourier transforms (kernel FT of NAS-95-020).
 * Random complex numbers are transformed once; each iteration multiplies them by a Gaussian of the wave number and
 * transforms a copy back.
 *
 * A transform along one axis takes LINES lines together into a work area of the thread's own, real and imaginary parts
 * apart, so that the innermost loops run over lines and are vectors. */
#include "nas.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 16, MOST_ITERATIONS = 20, CHECKED = 1024 };

struct shape {
    size_t nx, ny, nz;
    unsigned iterations;
};

static const struct shape classes[] = {{64, 64, 64, 6}, {128, 128, 32, 6}, {256, 256, 128, 6}, {512, 256, 256, 20}};
static const double alpha = 1e-6;

static const double checksums[][MOST_ITERATIONS][2] = {
    {{554.6087004964, 484.5363331978},
     {554.6385409189, 486.5304269511},
     {554.6148406171, 488.3910722336},
     {554.5423607415, 490.1273169046},
     {554.4255039624, 491.7475857993},
     {554.2683411902, 493.2597244941}},
    {{567.3612178944, 529.3246849175},
     {563.1436885271, 528.2149986629},
     {559.4024089970, 527.0996558037},
     {556.0698047020, 526.0027904925},
     {553.0898991250, 524.9400845633},
     {550.4159734538, 523.9212247086}},
    {{504.6735008193, 511.4047905510},
     {505.9412319734, 509.8809666433},
     {506.9376896287, 509.8144042213},
     {507.7892868474, 510.1336130759},
     {508.5233095391, 510.4914655194},
     {509.1487099959, 510.7917842803}},
    {{517.7643571579, 507.7803458597}, {515.4521291263, 508.8249431599}, {514.6409228649, 509.6208912659},
     {514.2378756213, 510.1023387619}, {513.9626667737, 510.3976610617}, {513.7423460082, 510.5948019802},
     {513.5547056878, 510.7404165783}, {513.3910925466, 510.8576573661}, {513.2470705390, 510.9577278523},
     {513.1197729984, 511.0460304483}, {513.0070319283, 511.1252433800}, {512.9070537032, 511.1968077718},
     {512.8182883502, 511.2616233064}, {512.7393733383, 511.3203605551}, {512.6691062020, 511.3735928093},
     {512.6064276004, 511.4218460548}, {512.5504076570, 511.4656139760}, {512.5002331720, 511.5053595966},
     {512.4551951846, 511.5415130407}, {512.4146770029, 511.5744692211}},
};

struct complex {
    double re, im;
};

struct ft {
    struct shape s;
    unsigned threads;
    struct complex *modes, *field; /* [nz][ny][nx] */
    struct complex *roots;         /* exp(2 pi i j / longest axis), its first half */
    size_t num_roots;
    double *decay[3]; /* a factor of exp(-4 alpha pi^2 |k|^2) for each place on each axis */
};

/* Stockham's transform of LINES lines: radix 2, in order, from a to b and back; where the result stands is returned. */
typedef double lines[LINES];

static lines *transform(const struct ft *ft, size_t n, int direction, lines *a, lines *b)
{
    for (size_t half = n / 2, parts = 1; half; half /= 2, parts *= 2) {
        for (size_t j = 0; j < half; j++) {
            struct complex w = ft->roots[j * parts * (2 * ft->num_roots / n)];
            double wr = w.re, wi = direction * w.im;
            for (size_t p = 0; p < parts; p++) {
                double *xr = a[2 * (p + parts * j)], *xi = xr + LINES;
                double *yr = a[2 * (p + parts * (j + half))], *yi = yr + LINES;
                double *ur = b[2 * (p + parts * 2 * j)], *ui = ur + LINES;
                double *vr = b[2 * (p + parts * (2 * j + 1))], *vi = vr + LINES;
#pragma omp simd
                for (int l = 0; l < LINES; l++) {
                    double dr = xr[l] - yr[l], di = xi[l] - yi[l];
                    ur[l] = xr[l] + yr[l];
                    ui[l] = xi[l] + yi[l];
                    vr[l] = dr * wr - di * wi;
                    vi[l] = dr * wi + di * wr;
                }
            }
        }
        lines *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

/* LINES lines of n numbers: `next` from one to the next in a line, `across` from one line to the next. In place. */
static void transform_lines(const struct ft *ft, struct complex *x, size_t n, size_t next, size_t across, int direction,
                            lines *area)
{
    lines *a = area, *b = area + 2 * n;

    for (size_t i = 0; i < n; i++) {
        for (int l = 0; l < LINES; l++) {
            struct complex v = x[i * next + (size_t)l * across];
            a[2 * i][l] = v.re;
            a[2 * i + 1][l] = v.im;
        }
    }
    a = transform(ft, n, direction, a, b);
    for (size_t i = 0; i < n; i++)
        for (int l = 0; l < LINES; l++)
            x[i * next + (size_t)l * across] = (struct complex){a[2 * i][l], a[2 * i + 1][l]};
}

/* All three axes, by the whole team. */
static void transform_all(const struct ft *ft, struct complex *x, int direction, lines *area)
{
    size_t nx = ft->s.nx, ny = ft->s.ny, nz = ft->s.nz, plane = nx * ny;

#pragma omp for schedule(static)
    for (size_t k = 0; k < nz; k++) {
        for (size_t j = 0; j < ny; j += LINES)
            transform_lines(ft, x + k * plane + j * nx, nx, 1, nx, direction, area);
        for (size_t i = 0; i < nx; i += LINES)
            transform_lines(ft, x + k * plane + i, ny, nx, 1, direction, area);
    }
#pragma omp for schedule(static)
    for (size_t j = 0; j < ny; j++)
        for (size_t i = 0; i < nx; i += LINES)
            transform_lines(ft, x + j * nx + i, nz, plane, 1, direction, area);
}

static void start_values(const struct ft *ft)
{
    size_t plane = ft->s.nx * ft->s.ny;

#pragma omp for schedule(static)
    for (size_t k = 0; k < ft->s.nz; k++) {
        uint64_t state = nas_jump(NAS_SEED, 2 * plane * k);
        for (size_t i = 0; i < plane; i++) {
            double re = nas_random(&state), im = nas_random(&state);
            ft->modes[k * plane + i] = (struct complex){re, im};
        }
    }
}

/* One step in time: the modes decay, the field is what is transformed back. */
static void decay(const struct ft *ft)
{
    size_t nx = ft->s.nx, ny = ft->s.ny;

#pragma omp for collapse(2) schedule(static)
    for (size_t k = 0; k < ft->s.nz; k++) {
        for (size_t j = 0; j < ny; j++) {
            double row = ft->decay[2][k] * ft->decay[1][j];
            struct complex *from = ft->modes + (k * ny + j) * nx, *to = ft->field + (k * ny + j) * nx;
            for (size_t i = 0; i < nx; i++) {
                double factor = row * ft->decay[0][i];
                from[i].re *= factor;
                from[i].im *= factor;
                to[i] = from[i];
            }
        }
    }
}

static void checksum(const struct ft *ft, double sum[2])
{
    size_t nx = ft->s.nx, ny = ft->s.ny, nz = ft->s.nz;

    sum[0] = sum[1] = 0;
    for (size_t j = 1; j <= CHECKED; j++) {
        struct complex v = ft->field[(5 * j % nz * ny + 3 * j % ny) * nx + j % nx];
        sum[0] += v.re;
        sum[1] += v.im;
    }
    sum[0] /= (double)(nx * ny * nz);
    sum[1] /= (double)(nx * ny * nz);
}

static void make_tables(struct ft *ft)
{
    size_t axis[3] = {ft->s.nx, ft->s.ny, ft->s.nz}, longest = 0;

    for (unsigned d = 0; d < 3; d++) {
        longest = axis[d] > longest ? axis[d] : longest;
        ft->decay[d] = nas_alloc(axis[d] * sizeof *ft->decay[d]);
        for (size_t i = 0; i < axis[d]; i++) {
            double wave = i < axis[d] / 2 ? (double)i : (double)i - (double)axis[d];
            ft->decay[d][i] = exp(-4 * alpha * M_PI * M_PI * wave * wave);
        }
    }
    ft->num_roots = longest / 2;
    ft->roots = nas_alloc(ft->num_roots * sizeof *ft->roots);
    for (size_t j = 0; j < ft->num_roots; j++) {
        double angle = 2 * M_PI * (double)j / (double)longest;
        ft->roots[j] = (struct complex){cos(angle), sin(angle)};
    }
}

static void solve(const struct nas_run *run, struct nas_result *result)
{
    unsigned c = nas_class_index(run->class);
    struct ft ft = {.s = classes[c]};
    size_t all = ft.s.nx * ft.s.ny * ft.s.nz;
    double found[MOST_ITERATIONS][2], start = 0;

    make_tables(&ft);
    ft.modes = nas_alloc(all * sizeof *ft.modes);
    ft.field = nas_alloc(all * sizeof *ft.field);
#pragma omp parallel num_threads(run->threads)
    {
        lines *area = nas_alloc(4 * 2 * ft.num_roots * sizeof *area);
#pragma omp for collapse(2) schedule(static)
        for (size_t k = 0; k < ft.s.nz; k++) /* not timed: each thread touches its part first */
            for (size_t i = 0; i < ft.s.nx * ft.s.ny; i++)
                ft.modes[k * ft.s.nx * ft.s.ny + i] = ft.field[k * ft.s.nx * ft.s.ny + i] = (struct complex){0, 0};
#pragma omp single
        {
            start = omp_get_wtime();
            nas_progress(run, 0, ft.s.iterations);
        }
        start_values(&ft);
        transform_all(&ft, ft.modes, 1, area);
        for (unsigned it = 0; it < ft.s.iterations; it++) {
            decay(&ft);
            transform_all(&ft, ft.field, -1, area);
#pragma omp single
            {
                checksum(&ft, found[it]);
                nas_progress(run, it + 1, ft.s.iterations);
            }
        }
        free(area);
    }
    result->seconds = omp_get_wtime() - start;
    double n = (double)all, log_n = log(n);
    result->operations = n * (14.8157 + 7.19641 * log_n + (5.23518 + 7.21113 * log_n) * ft.s.iterations);
    result->epsilon = 1e-12;
    for (unsigned it = 0; it < ft.s.iterations; it++)
        nas_compare_complex(result, "checksum", it + 1, found[it], checksums[c][it]);
    for (unsigned d = 0; d < 3; d++)
        free(ft.decay[d]);
    free(ft.roots);
    free(ft.modes);
    free(ft.field);
}

static void describe(char class, char *text, size_t size)
{
    const struct shape *s = &classes[nas_class_index(class)];

    snprintf(text, size, "%zu x %zu x %zu, %u iterations", s->nx, s->ny, s->nz, s->iterations);
}

int main(int argc, char **argv)
{
    static const struct nas_program program = {"ft", NULL, describe, solve};

    return nas_main(&program, argc, argv);
}
