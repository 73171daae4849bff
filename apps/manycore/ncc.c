/* mc-ncc - normalised cross-correlation of a template with every place of an image (Lewis 1995): both less their means,
 * divided by their standard deviations. Sums are integers; one division and two roots a place. */
#include "images.h"
#include "mc.h"
#include "move.h"

#include <string.h>

enum { MOST_SIDE = 32 };

static struct image_options image = {.width = 96, .height = 96, .density = 60, .noise = 8};
static unsigned side = 8, at_x = 20, at_y = 30, stripe;
static uint8_t *grey, *pattern;
static float *map;

struct near {
    const uint8_t *from;
    float *to;
    unsigned width, columns, lines, rows, side; /* columns, lines: of the map; rows: of a stripe of it */
    int64_t sum;                                /* of the template */
    float deviation;
    uint8_t pattern[MOST_SIDE * MOST_SIDE];
};
static struct near block;

static float root(float x) { return __builtin_sqrtf(x); }

/* The library's conversion of 64 bits is long, and reads a table in the second-level memory. Rounds twice. */
static float single(int64_t x) { return (float)(int32_t)(x >> 16) * 65536.0f + (float)(int32_t)(x & 0xffff); }

static float correlation(const uint8_t *at, const uint8_t *pattern_at, unsigned width, unsigned edge,
                         int64_t pattern_sum, float deviation)
{
    uint32_t sum = 0, squares = 0, products = 0;

    for (unsigned y = 0; y < edge; y++, at += width, pattern_at += edge)
        for (unsigned x = 0; x < edge; x++) {
            uint32_t a = at[x];
            sum += a;
            squares += a * a;
            products += a * pattern_at[x];
        }
    int64_t pixels = edge * edge, variance = pixels * squares - (int64_t)sum * sum;
    if (variance == 0 || deviation == 0)
        return 0;
    return single(pixels * products - sum * pattern_sum) / (root(single(variance)) * deviation);
}

/* A buffer: the image's rows, then the map's. */
static unsigned rows_of(const struct near *n, unsigned s) { return mc_least(n->rows, n->lines - s * n->rows); }
static unsigned results_at(const struct near *n) { return ((n->rows + n->side - 1) * n->width + 3) & ~3u; }

static void in(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_in(buffer, n->from + (size_t)s * n->rows * n->width, (rows_of(n, s) + n->side - 1) * n->width, 1, 0, 0);
}

static void out(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_out(n->to + (size_t)s * n->rows * n->columns, buffer + results_at(n),
             rows_of(n, s) * n->columns * sizeof *n->to, 1, 0, 0);
}

static unsigned units(const void *common, unsigned s, unsigned step)
{
    const struct near *n = common;

    (void)step;
    return rows_of(n, s) * n->columns;
}

static void work(const void *common, char *buffer, unsigned s, unsigned step, unsigned begin, unsigned end)
{
    const struct near *n = common;
    float *to = (float *)(void *)(buffer + results_at(n));
    unsigned y = begin / n->columns, x = begin - y * n->columns;

    (void)s, (void)step;
    for (unsigned i = begin; i < end; i++) {
        to[i] = correlation((uint8_t *)buffer + y * n->width + x, n->pattern, n->width, n->side, n->sum, n->deviation);
        if (++x == n->columns) {
            x = 0;
            y++;
        }
    }
}

static struct mc_array sources[] = {
    {.name = "image", .type = "|u1", .axes = 2}, {.name = "template", .type = "|u1", .axes = 2}, {.name = NULL}};
static struct mc_array results[] = {{.name = "map", .type = "<f4", .axes = 2}, {.name = NULL}};

static bool inputs(void)
{
    if (!image_grey(&image, &grey))
        return false;
    if (at_x + side > image.width || at_y + side > image.height)
        return mc_wrong("the template of %u x %u at %u, %u is not inside the image of %u x %u", side, side, at_x, at_y,
                        image.width, image.height);
    block = (struct near){.from = grey,
                          .width = image.width,
                          .columns = image.width - side + 1,
                          .lines = image.height - side + 1,
                          .side = side};
    int64_t squares = 0;
    for (unsigned i = 0; i < side * side; i++) {
        uint8_t v = grey[(size_t)(at_y + i / side) * image.width + at_x + i % side];
        block.pattern[i] = v;
        block.sum += v;
        squares += v * v;
    }
    block.deviation = root(single(side * side * squares - block.sum * block.sum));
    pattern = block.pattern;
    map = block.to = mc_zeros((size_t)block.columns * block.lines * sizeof *map);
    sources[0].data = grey;
    sources[0].shape[0] = image.height;
    sources[0].shape[1] = image.width;
    sources[1].data = pattern;
    sources[1].shape[0] = sources[1].shape[1] = side;
    results[0].data = map;
    results[0].shape[0] = block.lines;
    results[0].shape[1] = block.columns;
    return map;
}

static bool phases(const struct mc_shape *shape, struct mc_phase **made, unsigned *num)
{
    static struct mc_phase phase;
    uint32_t row = image.width + block.columns * (uint32_t)sizeof *map;

    block.rows = mc_stripe_rows(shape, block.lines, row, side * image.width + sizeof block / 2, 2, stripe);
    phase = (struct mc_phase){.stripes = mc_parts(block.lines, block.rows),
                              .steps = 1,
                              .bytes = results_at(&block) + block.rows * block.columns * (uint32_t)sizeof *map,
                              .common = &block,
                              .common_bytes = sizeof block,
                              .in = in,
                              .units = units,
                              .work = work,
                              .out = out};
    *made = &phase;
    *num = 1;
    return true;
}

static void reset(void) { mc_clear(map, (size_t)block.columns * block.lines * sizeof *map); }

static void plain(void)
{
    for (unsigned y = 0; y < block.lines; y++)
        for (unsigned x = 0; x < block.columns; x++) {
            int64_t sum = 0, squares = 0, products = 0, pixels = side * side;
            for (unsigned i = 0; i < side * side; i++) {
                int64_t v = grey[(size_t)(y + i / side) * image.width + x + i % side];
                sum += v;
                squares += v * v;
                products += v * pattern[i];
            }
            float deviations = root(single(pixels * squares - sum * sum)) * block.deviation;
            float r = deviations == 0 ? 0 : single(pixels * products - sum * block.sum) / deviations;
            map[(size_t)y * block.columns + x] = r;
        }
}

/* Where the best place is. */
static unsigned count(void)
{
    unsigned best = 0;

    for (unsigned i = 1; i < block.columns * block.lines; i++)
        if (map[i] > map[best])
            best = i;
    return best;
}

static const struct mc_option options[] = {
    {"image", NULL, 0, 0, &image.file, "a PNG file in place of a scene; host only"},
    {"scene", NULL, 0, 0, &image.scene, "street or chess (street)"},
    {"width", &image.width, 16, 1280, NULL, "pixels of a row, a multiple of 4 (96)"},
    {"height", &image.height, 16, 1280, NULL, "rows of a street (96)"},
    {"template", &side, 2, MOST_SIDE, NULL, "side of the square template (8)"},
    {"x", &at_x, 0, 8191, NULL, "where in the image the template stands (20)"},
    {"y", &at_y, 0, 8191, NULL, "(30)"},
    {"stripe", &stripe, 1, 1280, NULL, "rows of a stripe (by the form)"},
    {NULL, NULL, 0, 0, NULL, NULL},
};

MC_MAIN("mc-ncc", "Normalised cross-correlation of a template with an image.", "best_place")
