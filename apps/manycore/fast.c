/* mc-fast - the FAST corner detector (Rosten, Drummond 2006). The circle of radius 3 around a pixel has 16 pixels. The
 * pixel is a corner where 9 consecutive ones of them are all brighter than the pixel, or all darker, by more than a
 * threshold. Its score is the largest threshold with which the pixel would still be a corner. */
#include "images.h"
#include "mc.h"
#include "move.h"

#include <string.h>

enum { RADIUS = 3, CIRCLE = 16, ARC = 9 };

static struct image_options image = {.width = 320, .height = 240, .density = 60};
static unsigned threshold = 20, suppress, stripe;
static uint8_t *grey, *scores, *kept;

/* What a team needs to know. */
struct near {
    const uint8_t *from;
    uint8_t *to;
    unsigned width, height, rows, halo; /* rows of a stripe, and of its surroundings above and below */
    int threshold;
    int offset[CIRCLE]; /* of the circle's pixels */
    unsigned stride;    /* from a column to the next one that a thread looks at */
};
static struct near blocks[2];

static const signed char circle[CIRCLE][2] = {{0, 3},  {1, 3},  {2, 2},  {3, 1},   {3, 0},   {3, -1},
                                              {2, -2}, {1, -3}, {0, -3}, {-1, -3}, {-2, -2}, {-3, -1},
                                              {-3, 0}, {-3, 1}, {-2, 2}, {-1, 3}};

/* Consecutive values of the circle that are all above `above`: the largest such value less 1, else 0. */
static int arc_score(const int *difference, int above)
{
    int best = above;

    for (unsigned start = 0; start < CIRCLE; start++) {
        int least = difference[start];
        for (unsigned k = 1; k < ARC && least > best; k++) {
            int d = difference[(start + k) % CIRCLE];
            least = d < least ? d : least;
        }
        best = least > best ? least : best;
    }
    return best > above ? best - 1 : 0;
}

static uint8_t score(const uint8_t *at, const int *offset, int above)
{
    int difference[CIRCLE], centre = *at;
    unsigned brighter = 0, darker = 0;

    /* an arc of 9 has one of each two opposite pixels */
    for (unsigned k = 0; k < CIRCLE / 2; k += 4) {
        int a = at[offset[k]] - centre, b = at[offset[k + CIRCLE / 2]] - centre;
        if (a <= above && b <= above && a >= -above && b >= -above)
            return 0;
    }
    for (unsigned k = 0; k < CIRCLE; k++) {
        difference[k] = at[offset[k]] - centre;
        brighter += difference[k] > above;
        darker += difference[k] < -above;
    }
    if (brighter >= ARC)
        return (uint8_t)arc_score(difference, above);
    if (darker < ARC)
        return 0;
    for (unsigned k = 0; k < CIRCLE; k++)
        difference[k] = -difference[k];
    return (uint8_t)arc_score(difference, above);
}

/* --- both phases: a stripe's rows with their surroundings in, its rows out */
static unsigned rows_of(const struct near *n, unsigned s) { return mc_least(n->rows, n->height - s * n->rows); }

static void in(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;
    unsigned first = s * n->rows, above = mc_least(n->halo, first), last = first + rows_of(n, s);
    unsigned below = mc_least(n->halo, n->height - last);

    move_in(buffer + (n->halo - above) * n->width, n->from + (size_t)(first - above) * n->width,
            (above + last - first + below) * n->width, 1, 0, 0);
}

static void out(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_out(n->to + (size_t)s * n->rows * n->width, buffer + (n->rows + 2 * n->halo) * n->width,
             rows_of(n, s) * n->width, 1, 0, 0);
}

static unsigned units(const void *common, unsigned s, unsigned step)
{
    const struct near *n = common;

    (void)step;
    return rows_of(n, s) * n->width;
}

/* Units go down the columns, and from a column to one that is far from those before: what is busy in a scene, or
 * repeats itself, comes to all threads. (Multiples of a number that is near the golden section of all columns, and has
 * no divisor in common with them; each stripe begins with another one.) */
static unsigned column_stride(unsigned columns)
{
    for (unsigned stride = columns * 618 / 1000;; stride--) {
        unsigned a = columns, b = stride;
        while (b) {
            unsigned rest = a % b;
            a = b;
            b = rest;
        }
        if (a <= 1 || stride <= 1)
            return stride ? stride : 1;
    }
}

static void detect(const void *common, char *buffer, unsigned s, unsigned step, unsigned begin, unsigned end)
{
    const struct near *n = common;
    const unsigned width = n->width, height = n->height;
    const uint8_t *from = (uint8_t *)buffer + n->halo * width;
    uint8_t *to = (uint8_t *)buffer + (n->rows + 2 * n->halo) * width;
    unsigned rows = rows_of(n, s), turn = begin / rows, y = begin - turn * rows, first = s * n->rows;
    unsigned x = (turn * n->stride + s * n->stride % width) % width;

    (void)step;
    for (unsigned unit = begin; unit < end; unit++) {
        unsigned row = first + y, i = y * width + x;
        bool inside = x >= RADIUS && x + RADIUS < width && row >= RADIUS && row + RADIUS < height;
        to[i] = inside ? score(from + i, n->offset, n->threshold) : 0;
        if (++y == rows) {
            y = 0;
            x += n->stride;
            x -= x < width ? 0 : width;
        }
    }
}

/* Whether none of the eight neighbours has as high a score. */
static bool is_highest(const uint8_t *at, unsigned width)
{
    const uint8_t *above = at - width, *below = at + width;
    uint8_t a = *at;

    return a > at[-1] && a > at[1] && a > above[-1] && a > above[0] && a > above[1] && a > below[-1] && a > below[0] &&
           a > below[1];
}

static void keep_highest(const void *common, char *buffer, unsigned s, unsigned step, unsigned begin, unsigned end)
{
    const struct near n = *(const struct near *)common;
    const uint8_t *from = (uint8_t *)buffer + n.halo * n.width;
    uint8_t *to = (uint8_t *)buffer + (n.rows + 2 * n.halo) * n.width;

    (void)s, (void)step;
    for (unsigned i = begin; i < end; i++) /* a score stands 3 pixels from the border at least */
        to[i] = from[i] && is_highest(from + i, n.width) ? from[i] : 0;
}

static struct mc_array sources[] = {{.name = "image", .type = "|u1", .axes = 2}, {.name = NULL}};
static struct mc_array results[] = {{.name = "scores", .type = "|u1", .axes = 2}, {.name = NULL}};

static bool inputs(void)
{
    if (!image_grey(&image, &grey))
        return false;
    size_t pixels = (size_t)image.width * image.height;
    scores = mc_zeros(pixels);
    kept = suppress ? mc_zeros(pixels) : scores;
    sources[0].data = grey;
    results[0].data = kept;
    sources[0].shape[0] = results[0].shape[0] = image.height;
    sources[0].shape[1] = results[0].shape[1] = image.width;
    return scores && kept;
}

static bool phases(const struct mc_shape *shape, struct mc_phase **made, unsigned *num)
{
    static struct mc_phase list[2];

    for (unsigned p = 0; p < 2; p++) {
        unsigned halo = p ? 1 : RADIUS;
        /* corners stand in some rows of a scene: each outer thread gets some of these, of 8 rows or more */
        unsigned each = shape->outers > 1 ? mc_least(8, image.height / (8 * shape->outers)) : 2;
        unsigned rows =
            mc_stripe_rows(shape, image.height, 2 * image.width, 2 * halo * image.width, each > 2 ? each : 2, stripe);
        blocks[p] = (struct near){.from = p ? scores : grey,
                                  .to = p ? kept : scores,
                                  .width = image.width,
                                  .height = image.height,
                                  .rows = rows,
                                  .halo = halo,
                                  .threshold = (int)threshold,
                                  .stride = column_stride(image.width)};
        for (unsigned k = 0; k < CIRCLE; k++)
            blocks[p].offset[k] = circle[k][1] * (int)image.width + circle[k][0];
        list[p] = (struct mc_phase){.stripes = mc_parts(image.height, rows),
                                    .steps = 1,
                                    .bytes = (2 * rows + 2 * halo) * image.width,
                                    .common = &blocks[p],
                                    .common_bytes = sizeof blocks[p],
                                    .in = in,
                                    .units = units,
                                    .work = p ? keep_highest : detect,
                                    .out = out};
    }
    *made = list;
    *num = suppress ? 2 : 1;
    return true;
}

static void reset(void)
{
    mc_clear(scores, (size_t)image.width * image.height);
    mc_clear(kept, (size_t)image.width * image.height);
}

/* Pixel by pixel from the definition: counts the longest arc. */
static uint8_t plain_score(unsigned x, unsigned y)
{
    int most = 0;

    for (int sign = -1; sign <= 1; sign += 2)
        for (unsigned start = 0; start < CIRCLE; start++) {
            int least = 255;
            for (unsigned k = start; k < start + ARC; k++) {
                const signed char *c = circle[k % CIRCLE];
                int d = sign * (grey[(size_t)((int)y + c[1]) * image.width + (unsigned)((int)x + c[0])] -
                                grey[(size_t)y * image.width + x]);
                least = d < least ? d : least;
            }
            most = least > most ? least : most;
        }
    return (uint8_t)(most > (int)threshold ? most - 1 : 0);
}

static void plain(void)
{
    for (unsigned y = RADIUS; y + RADIUS < image.height; y++)
        for (unsigned x = RADIUS; x + RADIUS < image.width; x++)
            scores[(size_t)y * image.width + x] = plain_score(x, y);
    for (unsigned y = RADIUS; suppress && y + RADIUS < image.height; y++)
        for (unsigned x = RADIUS; x + RADIUS < image.width; x++) {
            const uint8_t *at = scores + (size_t)y * image.width + x;
            unsigned higher = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    higher += (dx || dy) && at[dy * (int)image.width + dx] >= *at;
            kept[(size_t)y * image.width + x] = higher ? 0 : *at;
        }
}

static unsigned count(void)
{
    unsigned corners = 0;

    for (size_t i = 0; i < (size_t)image.width * image.height; i++)
        corners += kept[i] != 0;
    return corners;
}

static const struct mc_option options[] = {
    {"image", NULL, 0, 0, &image.file, "a PNG file in place of a scene; host only"},
    {"scene", NULL, 0, 0, &image.scene, "street or chess (street)"},
    {"width", &image.width, 16, 4096, NULL, "pixels of a row, a multiple of 4 (320)"},
    {"height", &image.height, 16, 4096, NULL, "rows of a street; a chess pattern is square (240)"},
    {"density", &image.density, 0, 150, NULL, "corners of a street, about, in thousandths of its pixels (60)"},
    {"threshold", &threshold, 1, 254, NULL, "grey levels (20)"},
    {"suppress", &suppress, 0, 1, NULL, "1: only corners whose eight neighbours score less (0)"},
    {"stripe", &stripe, 1, 4096, NULL, "rows of a stripe (by the form)"},
    {NULL, NULL, 0, 0, NULL, NULL},
};

MC_MAIN("mc-fast", "The FAST corner detector.", "corners")
