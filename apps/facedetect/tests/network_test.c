/* The network, computed plainly, layer by layer as net.h lists them and with the C library's tanh, against the
 * kernels' way: means first, folded coefficients, an approximated tanh, rows in teams. */
#include "level.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float raw[NET_PARAMETERS];
static unsigned failures;

/* From -1 to 1; the same numbers everywhere. */
static float next_random(void)
{
    static unsigned long state = 12345;
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (float)(state >> 40) / (float)(1 << 23) - 1;
}

static double squash(double x) { return 1.7159 * tanh(2.0 / 3 * x); }

/* One window; pixels' rows are `stride` apart. */
static double reference(const float *window, int stride)
{
    const float *c1 = raw, *c1_bias = c1 + 100, *s1 = c1_bias + 4, *s1_bias = s1 + 4, *c2 = s1_bias + 4,
                *c2_bias = c2 + 72;
    const float *pair = c2_bias + 8, *pair_bias = pair + 108, *s2 = pair_bias + 6, *s2_bias = s2 + 14,
                *n1 = s2_bias + 14;
    const float *n1_bias = n1 + 588, *n2 = n1_bias + 14, *n2_bias = n2 + 14;
    static double convolved[32][28], first[4][16][14], second[14][7][6];
    if (n2_bias + 1 - raw != NET_PARAMETERS)
        abort();
    for (int m = 0; m < 4; m++) {
        for (int y = 0; y < 32; y++)
            for (int x = 0; x < 28; x++) {
                convolved[y][x] = c1_bias[m];
                for (int k = 0; k < 25; k++)
                    convolved[y][x] += c1[m * 25 + k] * window[(y + k / 5) * stride + x + k % 5];
            }
        for (int y = 0; y < 16; y++)
            for (int x = 0; x < 14; x++) {
                double mean = (convolved[2 * y][2 * x] + convolved[2 * y + 1][2 * x] + convolved[2 * y][2 * x + 1] +
                               convolved[2 * y + 1][2 * x + 1]) /
                              4;
                first[m][y][x] = squash(s1[m] * mean + s1_bias[m]);
            }
    }
    for (int m = 0; m < 14; m++) {
        for (int y = 0; y < 14; y++)
            for (int x = 0; x < 12; x++) {
                double sum = m < 8 ? c2_bias[m] : pair_bias[m - 8];
                for (int k = 0; k < 9; k++)
                    if (m < 8)
                        sum += c2[m * 9 + k] * first[m / 2][y + k / 3][x + k % 3];
                    else
                        for (int side = 0; side < 2; side++)
                            sum +=
                                pair[(m - 8) * 18 + side * 9 + k] * first[net_pairs[m - 8][side]][y + k / 3][x + k % 3];
                convolved[y][x] = sum;
            }
        for (int y = 0; y < 7; y++)
            for (int x = 0; x < 6; x++) {
                double mean = (convolved[2 * y][2 * x] + convolved[2 * y + 1][2 * x] + convolved[2 * y][2 * x + 1] +
                               convolved[2 * y + 1][2 * x + 1]) /
                              4;
                second[m][y][x] = squash(s2[m] * mean + s2_bias[m]);
            }
    }
    double out = *n2_bias;
    for (int m = 0; m < 14; m++) {
        double sum = n1_bias[m];
        for (int k = 0; k < 42; k++)
            sum += n1[m * 42 + k] * second[m][k / 6][k % 6];
        out += n2[m] * squash(sum);
    }
    return squash(out);
}

static void fail(const char *what, int width, int height, int threads, double got, double wanted)
{
    failures++;
    fprintf(stderr, "%d x %d, %d threads, %s: %g, wanted %g\n", width, height, threads, what, got, wanted);
}

/* The mirrored network's output for a window is the network's for the mirrored window. */
static void check_mirrored(void)
{
    float window[NET_HEIGHT * (NET_WIDTH + 32)], turned[sizeof window / sizeof *window];
    const int stride = NET_WIDTH + 32;
    struct net net, mirrored;
    net_fold(&net, raw);
    net_mirror(&mirrored, &net);
    for (int k = 0; k < NET_HEIGHT * stride; k++)
        window[k] = next_random();
    for (int k = 0; k < NET_HEIGHT * stride; k++)
        turned[k] = k % stride < NET_WIDTH ? window[k / stride * stride + NET_WIDTH - 1 - k % stride] : 0;
    struct plane plane = {turned, NET_WIDTH, NET_HEIGHT, stride};
    struct view view = {&plane, 0, 0, 1};
    struct level level;
    if (!level_make(&level, &mirrored, NET_WIDTH, NET_HEIGHT, NET_WIDTH, 1))
        abort();
    level_run(&level, &view, 1);
    double wanted = reference(window, stride), got = level.out.pixels[0];
    if (!(fabs(got - wanted) < 2e-3))
        fail("mirrored", NET_WIDTH, NET_HEIGHT, 1, got, wanted);
    level_free(&level);
}

static void check(int width, int height, bool twice)
{
    struct net net;
    struct level level;
    struct plane image = {calloc((size_t)(width + 32) * (size_t)(height + 1), sizeof(float)), width, height,
                          width + 32};
    struct view view = {&image, 0, 0, 1};
    net_fold(&net, raw);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            image.pixels[y * image.stride + x] = next_random();
    if (!level_make(&level, &net, width, height, width, 8))
        abort();
    if (level.columns != (width - 32) / 4 + 1 || level.rows != (height - 36) / 4 + 1)
        fail("outputs", width, height, 1, level.columns, level.rows);
    float *one = calloc((size_t)level.columns * (size_t)level.rows, sizeof *one);
    double worst = 0;
    for (int threads = 1; threads <= 8; threads++) {
        if (twice)
            level_run(&level, &view, 9 - threads); /* nothing is left of an earlier run */
        memset(level.out.pixels, 0, sizeof(float) * (size_t)level.out.stride * (size_t)level.rows);
        level_run(&level, &view, threads);
        for (int y = 0; y < level.rows; y++)
            for (int x = 0; x < level.columns; x++) {
                float got = level.out.pixels[y * level.out.stride + x], *alone = &one[y * level.columns + x];
                if (threads > 1 && got != *alone)
                    fail("not what one thread computes", width, height, threads, got, *alone);
                if (threads > 1)
                    continue;
                *alone = got;
                double wanted = reference(image.pixels + 4 * y * image.stride + 4 * x, image.stride);
                worst = fmax(worst, fabs(got - wanted));
            }
    }
    if (!(worst < 2e-3))
        fail("the largest difference", width, height, 1, worst, 0);
    free(one);
    free(image.pixels);
    level_free(&level);
}

int main(void)
{
    omp_set_dynamic(0);
    for (int round = 0; round < 3; round++) {
        if (round == 0)
            memcpy(raw, net_weights, sizeof raw);
        else
            for (int k = 0; k < NET_PARAMETERS; k++)
                raw[k] = 0.5f * next_random();
        check_mirrored();
        check(32, 36, true);
        check(33, 39, true);
        check(61, 37, false);
        check(32, 90, false);
        check(97, 83, round == 0);
    }
    if (failures == 0)
        printf("the kernels agree with the plain network\n");
    return failures != 0;
}
