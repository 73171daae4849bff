/* FFT: the recursive transform of Cooley and Tukey (a benchmark of Su et al., EWOMP 2002; nthlib-2004 figure 4).
 *
 * Even and odd halves are two tasks of a queue, down to GRAIN points; then the halves are combined, by tasks of a
 * second queue where there are many. Each number is computed by the same operations in the same order as in the
 * sequential program, so both agree to the bit. The sequential one is compared with the definition (all of it up to
 * 4096 points, some frequencies beyond). */
#include "wq.h"

#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct wq_number numbers[] = {{"log2", "logarithm of the number of points", 20, 0, 26},
                                     {"grain", "points below which nothing is divided into tasks", 2048, 2, 1 << 26},
                                     {0}};
#define LOG2 numbers[0].value
#define GRAIN numbers[1].value

typedef double complex number;

static size_t num_points;
static number *input, *output, *expected, *roots; /* roots[k] = exp(-2 pi i k / num_points) */
static double error_seen;

static void combine(number *out, size_t half, size_t stride, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++) {
        double re = creal(roots[k * stride]), im = cimag(roots[k * stride]);
        double a = creal(out[k + half]), b = cimag(out[k + half]);
        number t = (re * a - im * b) + (re * b + im * a) * I, e = out[k];
        out[k] = e + t;
        out[k + half] = e - t;
    }
}

/* n points of `in`, each stride-th one; stride * n is the number of all points. */
static void fft_serial(const number *in, number *out, size_t n, size_t stride)
{
    if (n == 1) {
        *out = *in;
        return;
    }
    fft_serial(in, out, n / 2, stride * 2);
    fft_serial(in + stride, out + n / 2, n / 2, stride * 2);
    combine(out, n / 2, stride, 0, n / 2);
}

static void fft_tasks(const number *in, number *out, size_t n, size_t stride)
{
    size_t half = n / 2, part = (size_t)GRAIN;
    if (n <= part) {
        fft_serial(in, out, n, stride);
        return;
    }
#pragma omp taskq
    {
#pragma omp task captureprivate(in, out, half, stride)
        fft_tasks(in, out, half, stride * 2);
#pragma omp task captureprivate(in, out, half, stride)
        fft_tasks(in + stride, out + half, half, stride * 2);
    }
#pragma omp taskq
    for (size_t from = 0; from < half; from += part) {
        size_t to = from + part < half ? from + part : half;
#pragma omp task captureprivate(out, half, stride)
        combine(out, half, stride, from, to);
    }
}

static unsigned long tasks_of(size_t n)
{
    size_t part = (size_t)GRAIN;
    return n <= part ? 0 : 2 + 2 * tasks_of(n / 2) + (n / 2 + part - 1) / part;
}

static void setup(void)
{
    if (input) {
        memset(output, 0, num_points * sizeof *output);
        return;
    }
    num_points = (size_t)1 << LOG2;
    input = wq_alloc(num_points * sizeof *input);
    output = wq_alloc(num_points * sizeof *output);
    expected = wq_alloc(num_points * sizeof *expected);
    roots = wq_alloc(num_points * sizeof *roots);
    uint64_t state = 12345;
    for (size_t k = 0; k < num_points; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double re = (double)(state >> 40) / (1 << 24) - 0.5;
        state = state * 6364136223846793005u + 1442695040888963407u;
        input[k] = re + ((double)(state >> 40) / (1 << 24) - 0.5) * I;
        double angle = -2 * M_PI * (double)k / (double)num_points;
        roots[k] = cos(angle) + sin(angle) * I;
    }
}

static void serial(void) { fft_serial(input, output, num_points, 1); }

static void parallel(int threads)
{
#pragma omp parallel taskq num_threads(threads)
#pragma omp task
    fft_tasks(input, output, num_points, 1);
}

/* The largest difference to the definition, in parts of what rounding may make (Higham: a multiple of log n). */
static double difference(void)
{
    double worst = 0, size = sqrt((double)num_points);
    size_t step = num_points <= 4096 ? 1 : num_points / 16 + 1;
    for (size_t f = 0; f < num_points; f += step) {
        number sum = 0;
        for (size_t k = 0; k < num_points; k++)
            sum += input[k] * roots[(f * k) & (num_points - 1)];
        worst = fmax(worst, cabs(sum - output[f]) / size);
    }
    return worst;
}

static const char *check(bool after_serial)
{
    static bool compared;
    if (!after_serial)
        return memcmp(output, expected, num_points * sizeof *output) ? "not the sequential program's numbers" : NULL;
    memcpy(expected, output, num_points * sizeof *output);
    if (!compared)
        error_seen = difference();
    compared = true;
    return error_seen < 1e-12 * (1 + (double)LOG2) ? NULL : "not the transform, by its definition";
}

static void say(char *text, size_t bytes)
{
    snprintf(text, bytes, "%zu points, off the definition by %.1e", num_points, error_seen);
}

static unsigned long tasks(void) { return 1 + tasks_of(num_points); }

int main(int argc, char **argv)
{
    static const struct wq fft = {
        "fft", "A recursive fast Fourier transform, its halves as tasks.", numbers, setup, serial, parallel, check, say,
        tasks};
    return wq_main(&fft, argc, argv);
}
