/* Matrix product by Strassen's seven products of halves (V. Strassen, "Gaussian elimination is not optimal", Numerische
 * Mathematik 13, 1969); a task a product, down to GRAIN x GRAIN (16). SIZE: a power of two. The elements are small
 * whole numbers, so every order of sums gives the same bits; the result is compared with the plain triple loop's,
 * too. */
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned least = 16;

static unsigned n_all;
static double *left, *right, *product;
static uint64_t num_tasks, plain_sum;

/* c = a + sign * b, halves of larger matrices: rows lie `sa` and `sb` elements apart. */
static void add(double *c, const double *a, unsigned sa, const double *b, unsigned sb, unsigned n, double sign)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            c[(size_t)i * n + j] = a[(size_t)i * sa + j] + sign * b[(size_t)i * sb + j];
}

static void copy(double *c, const double *a, unsigned sa, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        memcpy(c + (size_t)i * n, a + (size_t)i * sa, n * sizeof *c);
}

static void plain(double *c, const double *a, const double *b, unsigned n)
{
    memset(c, 0, (size_t)n * n * sizeof *c);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < n; k++)
            for (unsigned j = 0; j < n; j++)
                c[(size_t)i * n + j] += a[(size_t)i * n + k] * b[(size_t)k * n + j];
}

/* The two factors of product p of Strassen's seven, from the halves of a and b. */
static void factors(unsigned p, double *x, double *y, const double *a, const double *b, unsigned h)
{
    unsigned n = 2 * h;
    const double *a11 = a, *a12 = a + h, *a21 = a + (size_t)h * n, *a22 = a21 + h;
    const double *b11 = b, *b12 = b + h, *b21 = b + (size_t)h * n, *b22 = b21 + h;
    const struct {
        const double *x1, *x2, *y1, *y2;
        double sx, sy;
    } m[7] = {
        {a11, a22, b11, b22, 1, 1},   {a21, a22, b11, NULL, 1, 0}, {a11, NULL, b12, b22, 0, -1},
        {a22, NULL, b21, b11, 0, -1}, {a11, a12, b22, NULL, 1, 0}, {a21, a11, b11, b12, -1, 1},
        {a12, a22, b21, b22, -1, 1},
    };
    if (m[p].x2)
        add(x, m[p].x1, n, m[p].x2, n, h, m[p].sx);
    else
        copy(x, m[p].x1, n, h);
    if (m[p].y2)
        add(y, m[p].y1, n, m[p].y2, n, h, m[p].sy);
    else
        copy(y, m[p].y1, n, h);
}

static void combine(double *c, double *const m[7], unsigned h)
{
    unsigned n = 2 * h;
    for (unsigned i = 0; i < h; i++)
        for (unsigned j = 0; j < h; j++) {
            size_t e = (size_t)i * h + j;
            double *upper = c + (size_t)i * n + j, *lower = upper + (size_t)h * n;
            upper[0] = m[0][e] + m[3][e] - m[4][e] + m[6][e];
            upper[h] = m[2][e] + m[4][e];
            lower[0] = m[1][e] + m[3][e];
            lower[h] = m[0][e] - m[1][e] + m[2][e] + m[5][e];
        }
}

static void multiply(double *c, const double *a, const double *b, unsigned n, bool tasks);

/* One of the seven; the room for its factors is its own. */
static void one_product(unsigned p, double *m, const double *a, const double *b, unsigned h, bool tasks)
{
    double *room = app_alloc(2 * (size_t)h * h * sizeof *room);
    factors(p, room, room + (size_t)h * h, a, b, h);
    multiply(m, room, room + (size_t)h * h, h, tasks);
    free(room);
}

static void multiply(double *c, const double *a, const double *b, unsigned n, bool tasks)
{
    if (n <= least) {
        plain(c, a, b, n);
        return;
    }
    unsigned h = n / 2;
    double *m[7], *room = app_alloc(7 * (size_t)h * h * sizeof *room);
    for (unsigned p = 0; p < 7; p++) {
        m[p] = room + p * (size_t)h * h;
        if (tasks) {
#pragma omp task firstprivate(p) shared(m)
            one_product(p, m[p], a, b, h, true);
        } else {
            one_product(p, m[p], a, b, h, false);
        }
    }
    if (tasks) {
#pragma omp taskwait
    }
    combine(c, m, h);
    free(room);
}

static uint64_t sum_of(const double *c)
{
    uint64_t sum = 1, bits;
    for (size_t e = 0; e < (size_t)n_all * n_all; e++) {
        double positive_zero = c[e] + 0.0;
        memcpy(&bits, &positive_zero, sizeof bits);
        sum = app_fold(sum, bits);
    }
    return sum;
}

static void setup(unsigned size)
{
    uint64_t state = 3;
    if (size & (size - 1)) {
        fprintf(stderr, "strassen: the size is a power of two, not %u\n", size);
        exit(2);
    }
    n_all = size;
    size_t bytes = (size_t)size * size * sizeof *left;
    left = app_alloc(bytes), right = app_alloc(bytes), product = app_alloc(bytes);
    for (size_t e = 0; e < (size_t)size * size; e++) {
        left[e] = (double)(app_random(&state) % 16);
        right[e] = (double)(app_random(&state) % 16);
    }
    plain(product, left, right, size);
    plain_sum = sum_of(product);
    for (unsigned n = size, at_level = 7; n > least; n /= 2, at_level *= 7)
        num_tasks += at_level;
}

static uint64_t serial(void)
{
    multiply(product, left, right, n_all, false);
    return 0;
}

static uint64_t parallel(void)
{
    multiply(product, left, right, n_all, true);
    return 0;
}

static uint64_t result(void) { return sum_of(product); }
static uint64_t known(unsigned size) { return size == n_all ? plain_sum : 0; }
static uint64_t tasks(void) { return num_tasks; }

int main(int argc, char **argv)
{
    static const struct app_grain grain = {&least, 4, 4096};
    static const struct app app = {"strassen", 256,      32,     4096,  setup, false,
                                   serial,     parallel, result, known, tasks, &grain};
    return app_main(&app, argc, argv);
}
