/* mc-mahalanobis - the Mahalanobis distance of each point of a cloud from each of another: the Euclidean one after
 * the clouds' common covariance has been divided out. First phase: sums over blocks of points, from which the inverse
 * covariance is made; second: the distances. */
#include "mc.h"
#include "move.h"

#include <string.h>

enum { BLOCK = 16, SUMS = 12, DIM = 3 };

static unsigned first_points = 192, second_points = 192, stripe;
static float *points; /* x, y, z, 0 of the first cloud, then of the second */
static float *block_sums, *distances;

struct near {
    const float *points;
    float *to;
    unsigned rows, num; /* of a stripe, in points or blocks; of all */
    unsigned columns;   /* points of the second cloud */
    float origin[4];
    float inverse[6]; /* xx, yy, zz, xy, xz, yz */
};
static struct near sums_block, *distance_block;

/* --- sums. A unit is a block of points; sums: x, y, z, xx, yy, zz, xy, xz, yz, relative to the origin. */
static void sum_points(const float *p, unsigned num, const float *origin, float *sums)
{
    float s[SUMS] = {0};

    for (unsigned i = 0; i < num; i++, p += 4) {
        float x = p[0] - origin[0], y = p[1] - origin[1], z = p[2] - origin[2];
        s[0] += x;
        s[1] += y;
        s[2] += z;
        s[3] += x * x;
        s[4] += y * y;
        s[5] += z * z;
        s[6] += x * y;
        s[7] += x * z;
        s[8] += y * z;
    }
    memcpy(sums, s, sizeof s);
}

static unsigned rows_of(const struct near *n, unsigned s) { return mc_least(n->rows, n->num - s * n->rows); }

static void sums_in(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_in(buffer, n->points + (size_t)s * n->rows * BLOCK * 4, rows_of(n, s) * BLOCK * 16, 1, 0, 0);
}

static void sums_out(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_out(n->to + (size_t)s * n->rows * SUMS, buffer + n->rows * BLOCK * 16, rows_of(n, s) * SUMS * 4, 1, 0, 0);
}

static unsigned sums_units(const void *common, unsigned s, unsigned step)
{
    (void)step;
    return rows_of(common, s);
}

static void sums_work(const void *common, char *buffer, unsigned s, unsigned step, unsigned begin, unsigned end)
{
    const struct near *n = common;
    const float *from = (float *)(void *)buffer;
    float *to = (float *)(void *)(buffer + n->rows * BLOCK * 16);

    (void)s, (void)step;
    for (unsigned b = begin; b < end; b++)
        sum_points(from + (size_t)b * BLOCK * 4, BLOCK, n->origin, to + (size_t)b * SUMS);
}

/* The inverse of the covariance of all points, from the sums of blocks in their order. */
static void invert(const float *sums, unsigned blocks, unsigned num, float *inverse)
{
    float t[SUMS] = {0};

    for (unsigned b = 0; b < blocks; b++)
        for (unsigned i = 0; i < 9; i++)
            t[i] += sums[(size_t)b * SUMS + i];
    float n = (float)num, f = 1 / (n - 1);
    float xx = (t[3] - t[0] * t[0] / n) * f, yy = (t[4] - t[1] * t[1] / n) * f, zz = (t[5] - t[2] * t[2] / n) * f;
    float xy = (t[6] - t[0] * t[1] / n) * f, xz = (t[7] - t[0] * t[2] / n) * f, yz = (t[8] - t[1] * t[2] / n) * f;
    float determinant = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    inverse[0] = (yy * zz - yz * yz) / determinant;
    inverse[1] = (xx * zz - xz * xz) / determinant;
    inverse[2] = (xx * yy - xy * xy) / determinant;
    inverse[3] = (xz * yz - xy * zz) / determinant;
    inverse[4] = (xy * yz - xz * yy) / determinant;
    inverse[5] = (xy * xz - xx * yz) / determinant;
}

static void after_sums(void *data)
{
    (void)data;
    invert(block_sums, sums_block.num, first_points + second_points, distance_block->inverse);
}

/* --- distances. A buffer: points of the first cloud, then rows of distances. The block ends with the second cloud. */
static float distance(const float *p, const float *q, const float *inverse)
{
    float x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
    float squares = x * x * inverse[0] + y * y * inverse[1] + z * z * inverse[2];
    float products = x * y * inverse[3] + x * z * inverse[4] + y * z * inverse[5];

    return __builtin_sqrtf(squares + 2 * products);
}

static void distances_in(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_in(buffer, n->points + (size_t)s * n->rows * 4, rows_of(n, s) * 16, 1, 0, 0);
}

static void distances_out(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_out(n->to + (size_t)s * n->rows * n->columns, buffer + n->rows * 16, rows_of(n, s) * n->columns * 4, 1, 0, 0);
}

static unsigned distances_units(const void *common, unsigned s, unsigned step)
{
    const struct near *n = common;

    (void)step;
    return rows_of(n, s) * n->columns;
}

static void distances_work(const void *common, char *buffer, unsigned s, unsigned step, unsigned begin, unsigned end)
{
    const struct near *n = common;
    const float *from = (float *)(void *)buffer, *others = (const float *)(n + 1);
    float *to = (float *)(void *)(buffer + n->rows * 16), inverse[6];
    unsigned columns = n->columns, row = begin / columns, column = begin - row * columns;

    (void)s, (void)step;
    memcpy(inverse, n->inverse, sizeof inverse);
    for (unsigned i = begin; i < end; i++) {
        to[i] = distance(from + (size_t)row * 4, others + (size_t)column * 4, inverse);
        if (++column == columns) {
            column = 0;
            row++;
        }
    }
}

static struct mc_array sources[] = {{.name = "points", .type = "<f4", .axes = 2}, {.name = NULL}};
static struct mc_array results[] = {{.name = "distances", .type = "<f4", .axes = 2}, {.name = NULL}};

/* A number of -1 to 1, the sum of four: more of them near 0. */
static float drawn(uint32_t *state)
{
    int32_t sum = 0;

    for (unsigned i = 0; i < 4; i++)
        sum += (int32_t)(mc_random(state) >> 12) - (1 << 19);
    return (float)sum * 0x1p-21f;
}

static bool inputs(void)
{
    unsigned num = first_points + second_points;
    uint32_t state = 4711;

    if (first_points % BLOCK || second_points % BLOCK)
        return mc_wrong("--first %u --second %u: expected multiples of %d", first_points, second_points, BLOCK);
    points = mc_zeros((size_t)num * 16);
    block_sums = mc_zeros((size_t)(num / BLOCK) * SUMS * sizeof *block_sums);
    distances = mc_zeros((size_t)first_points * second_points * sizeof *distances);
    distance_block = mc_zeros(sizeof *distance_block + (size_t)second_points * 16);
    if (!points || !block_sums || !distances || !distance_block)
        return false;
    for (unsigned i = 0; i < num; i++) {
        float *p = points + (size_t)i * 4, u = drawn(&state), v = drawn(&state), w = drawn(&state);
        p[0] = 3 * u + (i < first_points ? 5 : 6);
        p[1] = 2 * v + u - 1;
        p[2] = w / 2 + v - u / 2;
    }
    memcpy(distance_block + 1, points + (size_t)first_points * 4, (size_t)second_points * 16);
    sources[0].data = points;
    sources[0].shape[0] = num;
    sources[0].shape[1] = 4;
    results[0].data = distances;
    results[0].shape[0] = first_points;
    results[0].shape[1] = second_points;
    return true;
}

static bool phases(const struct mc_shape *shape, struct mc_phase **made, unsigned *num)
{
    static struct mc_phase list[2];
    struct near *n = &sums_block, *d = distance_block;
    uint32_t common = sizeof *d + second_points * 16;

    *n = (struct near){.points = points, .to = block_sums, .num = (first_points + second_points) / BLOCK};
    n->rows = mc_stripe_rows(shape, n->num, BLOCK * 16 + SUMS * 4, common / 2, 2, 0);
    memcpy(n->origin, points, sizeof n->origin);
    *d = (struct near){.points = points, .to = distances, .num = first_points, .columns = second_points};
    d->rows = mc_stripe_rows(shape, first_points, 16 + second_points * 4, common / 2, 2, stripe);
    list[0] = (struct mc_phase){.stripes = mc_parts(n->num, n->rows),
                                .steps = 1,
                                .bytes = n->rows * (BLOCK * 16 + SUMS * 4),
                                .common = n,
                                .common_bytes = sizeof *n,
                                .in = sums_in,
                                .units = sums_units,
                                .work = sums_work,
                                .out = sums_out,
                                .after = after_sums};
    list[1] = (struct mc_phase){.stripes = mc_parts(first_points, d->rows),
                                .steps = 1,
                                .bytes = d->rows * (16 + second_points * 4),
                                .common = d,
                                .common_bytes = common,
                                .in = distances_in,
                                .units = distances_units,
                                .work = distances_work,
                                .out = distances_out};
    *made = list;
    *num = 2;
    return true;
}

static void reset(void)
{
    mc_clear(distances, (size_t)first_points * second_points * sizeof *distances);
    memset(distance_block->inverse, 0, sizeof distance_block->inverse);
}

static void plain(void)
{
    unsigned num = first_points + second_points;
    float inverse[6];

    for (unsigned b = 0; b < num / BLOCK; b++)
        sum_points(points + (size_t)b * BLOCK * 4, BLOCK, points, block_sums + (size_t)b * SUMS);
    invert(block_sums, num / BLOCK, num, inverse);
    for (unsigned i = 0; i < first_points; i++)
        for (unsigned k = 0; k < second_points; k++)
            distances[(size_t)i * second_points + k] =
                distance(points + (size_t)i * 4, points + ((size_t)first_points + k) * 4, inverse);
}

/* Pairs that are nearer than one standard deviation. */
static unsigned count(void)
{
    unsigned near_pairs = 0;

    for (size_t i = 0; i < (size_t)first_points * second_points; i++)
        near_pairs += distances[i] < 1;
    return near_pairs;
}

static const struct mc_option options[] = {
    {"first", &first_points, BLOCK, 8192, NULL, "points of the first cloud, a multiple of 16 (192)"},
    {"second", &second_points, BLOCK, 8192, NULL, "points of the second cloud, a multiple of 16 (192)"},
    {"stripe", &stripe, 1, 8192, NULL, "points of the first cloud in a stripe (by the form)"},
    {NULL, NULL, 0, 0, NULL, NULL},
};

MC_MAIN("mc-mahalanobis", "The Mahalanobis distances of two point clouds.", "near_pairs")
