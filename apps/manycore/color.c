/* mc-color - colour tracking. Each frame has two phases. The first converts to hue, saturation and value (CSC), applies
 * a threshold (cvTHR), and takes the moments of what passes it (cvMOM). Between the phases the line from the object's
 * last place to its new one is drawn into the track. The second phase adds the track to the frame (cvADD). */
#include "files.h"
#include "images.h"
#include "mc.h"
#include "move.h"

#include <string.h>

enum { MOST_FRAMES = 16, SHIFT = 12, HEAD = 64, M00 = 0, M10, M01 };

static unsigned width = 320, height = 240, frames = 2, stripe;
static unsigned hue_least, hue_most = 15, saturation_least = 120, value_least = 80;
static const char *file;
static uint8_t *pictures, *masks, *track, *added;
static int32_t *moments; /* of each frame: M00, M10, M01 */

/* What a team needs to know, for both phases of a frame. */
struct near {
    const uint8_t *frame, *track, *zeros;
    uint8_t *mask, *added;
    uint32_t *sums; /* of each stripe: M00, M10, M01 relative to its first row, nothing */
    unsigned width, height, rows;
    uint8_t hue_least, hue_most, saturation_least, value_least;
    int32_t saturation[256], hue[256]; /* 255 / i and 30 / i, in 4096ths */
};
static struct near blocks[MOST_FRAMES];
static uint32_t *stripe_sums;
static uint8_t zeros[HEAD];

static bool passes(const struct near *n, const int32_t *by_value, const int32_t *by_span, const uint8_t *rgb)
{
    int r = rgb[0], g = rgb[1], b = rgb[2];
    int most = r > g ? r : g, least = r < g ? r : g, hue;

    most = b > most ? b : most;
    least = b < least ? b : least;
    int span = most - least, saturation = (span * by_value[most] + (1 << (SHIFT - 1))) >> SHIFT;
    if (most == r)
        hue = g - b;
    else if (most == g)
        hue = b - r + 2 * span;
    else
        hue = r - g + 4 * span;
    hue = (hue * by_span[span] + (1 << (SHIFT - 1))) >> SHIFT;
    hue += hue < 0 ? 180 : 0;
    return hue >= n->hue_least && hue <= n->hue_most && saturation >= n->saturation_least && most >= n->value_least;
}

/* --- the first phase. A buffer: the sums, the frame's rows, the mask's rows. */
static unsigned rows_of(const struct near *n, unsigned s) { return mc_least(n->rows, n->height - s * n->rows); }

static void find_in(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_in(buffer, n->zeros, 16, 1, 0, 0);
    move_in(buffer + HEAD, n->frame + (size_t)s * n->rows * n->width * 3, rows_of(n, s) * n->width * 3, 1, 0, 0);
}

static void find_out(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_out(n->sums + (size_t)s * 4, buffer, 16, 1, 0, 0);
    move_out(n->mask + (size_t)s * n->rows * n->width, buffer + HEAD + n->rows * n->width * 3, rows_of(n, s) * n->width,
             1, 0, 0);
}

static unsigned find_units(const void *common, unsigned s, unsigned step)
{
    const struct near *n = common;

    (void)step;
    return rows_of(n, s) * n->width;
}

static void find(const void *common, char *buffer, unsigned s, unsigned step, unsigned begin, unsigned end)
{
    const struct near *n = common;
    const unsigned columns = n->width;
    const uint8_t *rgb = (uint8_t *)buffer + HEAD + 3 * begin;
    uint8_t *mask = (uint8_t *)buffer + HEAD + n->rows * columns * 3;
    uint32_t *sums = (uint32_t *)buffer, m00 = 0, m10 = 0, m01 = 0;
    unsigned y = begin / columns, x = begin - y * columns;

    (void)s, (void)step;
    for (unsigned i = begin; i < end; i++, rgb += 3) {
        bool pass = passes(n, n->saturation, n->hue, rgb);
        mask[i] = pass ? 255 : 0;
        if (pass) {
            m00++;
            m10 += x;
            m01 += y;
        }
        if (++x == columns) {
            x = 0;
            y++;
        }
    }
    if (m00) {
        __atomic_fetch_add(&sums[M00], m00, __ATOMIC_RELAXED);
        __atomic_fetch_add(&sums[M10], m10, __ATOMIC_RELAXED);
        __atomic_fetch_add(&sums[M01], m01, __ATOMIC_RELAXED);
    }
}

/* A line of one pixel's width (Bresenham 1965). */
static void draw_line(int x0, int y0, int x1, int y1)
{
    int dx = x1 > x0 ? x1 - x0 : x0 - x1, dy = y1 > y0 ? y1 - y0 : y0 - y1;
    int sx = x1 > x0 ? 1 : -1, sy = y1 > y0 ? 1 : -1, error = dx - dy;

    for (;;) {
        track[(size_t)y0 * width + (unsigned)x0] = 200;
        if (x0 == x1 && y0 == y1)
            return;
        int twice = 2 * error;
        if (twice > -dy) {
            error -= dy;
            x0 += sx;
        }
        if (twice < dx) {
            error += dx;
            y0 += sy;
        }
    }
}

/* The track grows by the way from the last frame's place, if the object is in both. */
static void follow(unsigned frame)
{
    int32_t *now = moments + (size_t)frame * 3, *before = now - 3;

    if (now[M00] && frame && before[M00])
        draw_line(before[M10] / before[M00], before[M01] / before[M00], now[M10] / now[M00], now[M01] / now[M00]);
}

static void sum_up(void *data)
{
    struct near *n = data;
    unsigned frame = (unsigned)(n - blocks);
    int32_t *m = moments + (size_t)frame * 3;

    m[M00] = m[M10] = m[M01] = 0;
    for (unsigned s = 0; s < mc_parts(n->height, n->rows); s++) {
        const uint32_t *sums = n->sums + (size_t)s * 4;
        m[M00] += (int32_t)sums[M00];
        m[M10] += (int32_t)sums[M10];
        m[M01] += (int32_t)(sums[M01] + sums[M00] * s * n->rows);
    }
    follow(frame);
}

/* --- the second phase. A buffer: the frame's rows, which become the sum's, and the track's. */
static void add_in(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;
    uint32_t pixels = rows_of(n, s) * n->width;
    size_t first = (size_t)s * n->rows * n->width;

    move_in(buffer + HEAD, n->frame + first * 3, pixels * 3, 1, 0, 0);
    move_in(buffer + HEAD + n->rows * n->width * 3, n->track + first, pixels, 1, 0, 0);
}

static void add_out(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_out(n->added + (size_t)s * n->rows * n->width * 3, buffer + HEAD, rows_of(n, s) * n->width * 3, 1, 0, 0);
}

static void add(const void *common, char *buffer, unsigned s, unsigned step, unsigned begin, unsigned end)
{
    const struct near *n = common;
    uint8_t *rgb = (uint8_t *)buffer + HEAD + 3 * begin;
    const uint8_t *marks = (uint8_t *)buffer + HEAD + n->rows * n->width * 3;

    (void)s, (void)step;
    for (unsigned i = begin; i < end; i++, rgb += 3)
        for (unsigned c = 0; c < 3; c++)
            rgb[c] = (uint8_t)mc_least(rgb[c] + marks[i], 255);
}

static struct mc_array sources[] = {{.name = "frames", .type = "|u1", .axes = 3}, {.name = NULL}};
static struct mc_array results[] = {{.name = "masks", .type = "|u1", .axes = 2},
                                    {.name = "moments", .type = "<i4", .axes = 2},
                                    {.name = "added", .type = "|u1", .axes = 3},
                                    {.name = NULL}};

static bool read_file(void)
{
    struct files_image image;

    if (!files_read_image(file, 3, &image))
        return false;
    if ((uint64_t)image.width * image.height * (image.width > image.height ? image.width : image.height) / 2 >
        INT32_MAX)
        return mc_wrong("%s: %u x %u pixels: the moments are beyond 32 bits", file, image.width, image.height);
    width = image.width;
    height = image.height;
    frames = 1;
    pictures = image.pixels;
    return true;
}

static bool inputs(void)
{
    if (file ? !read_file() : !image_width_good(width))
        return false;
    size_t pixels = (size_t)width * height;
    if (!file) {
        pictures = mc_zeros(frames * pixels * 3);
        for (unsigned f = 0; pictures && f < frames; f++)
            image_ball(pictures + f * pixels * 3, width, height, f);
    }
    masks = mc_zeros(frames * pixels);
    added = mc_zeros(frames * pixels * 3);
    track = mc_zeros(pixels);
    moments = mc_zeros(frames * 3 * sizeof *moments);
    stripe_sums = mc_zeros((size_t)height * 16);
    if (!pictures || !masks || !added || !track || !moments || !stripe_sums)
        return false;
    sources[0].data = pictures;
    results[0].data = masks;
    results[1].data = moments;
    results[2].data = added;
    sources[0].shape[0] = results[0].shape[0] = results[2].shape[0] = frames * height;
    sources[0].shape[1] = results[0].shape[1] = results[2].shape[1] = width;
    sources[0].shape[2] = results[2].shape[2] = 3;
    results[1].shape[0] = frames;
    results[1].shape[1] = 3;
    return true;
}

static void fill_tables(struct near *n)
{
    for (int i = 1; i < 256; i++) {
        n->saturation[i] = (2 * (255 << SHIFT) + i) / (2 * i);
        n->hue[i] = (2 * (180 << SHIFT) + 6 * i) / (12 * i);
    }
}

static bool phases(const struct mc_shape *shape, struct mc_phase **made, unsigned *num)
{
    static struct mc_phase list[2 * MOST_FRAMES];
    unsigned rows = mc_stripe_rows(shape, height, 4 * width, HEAD + sizeof *blocks / 2, 2, stripe);
    size_t pixels = (size_t)width * height;

    for (unsigned f = 0; f < frames; f++) {
        struct near *n = &blocks[f];
        struct mc_phase phase = {.stripes = mc_parts(height, rows),
                                 .steps = 1,
                                 .pieces = 3, /* a ball is in some rows, and in a part of each */
                                 .bytes = HEAD + rows * width * 4,
                                 .common = n,
                                 .common_bytes = sizeof *n,
                                 .units = find_units,
                                 .data = n};
        *n = (struct near){.frame = pictures + f * pixels * 3,
                           .track = track,
                           .zeros = zeros,
                           .mask = masks + f * pixels,
                           .added = added + f * pixels * 3,
                           .sums = stripe_sums,
                           .width = width,
                           .height = height,
                           .rows = rows,
                           .hue_least = (uint8_t)hue_least,
                           .hue_most = (uint8_t)hue_most,
                           .saturation_least = (uint8_t)saturation_least,
                           .value_least = (uint8_t)value_least};
        fill_tables(n);
        phase.in = find_in, phase.work = find, phase.out = find_out, phase.after = sum_up;
        list[2 * f] = phase;
        phase.in = add_in, phase.work = add, phase.out = add_out, phase.after = NULL;
        list[2 * f + 1] = phase;
    }
    *made = list;
    *num = 2 * frames;
    return true;
}

static void reset(void)
{
    size_t pixels = (size_t)width * height;

    mc_clear(masks, frames * pixels);
    mc_clear(added, frames * pixels * 3);
    mc_clear(track, pixels);
    mc_clear(moments, frames * 3 * sizeof *moments);
}

static void plain(void)
{
    size_t pixels = (size_t)width * height;

    for (unsigned f = 0; f < frames; f++) {
        const uint8_t *frame = pictures + f * pixels * 3;
        int32_t *m = moments + (size_t)f * 3;
        for (size_t i = 0; i < pixels; i++) {
            int pass = passes(&blocks[0], blocks[0].saturation, blocks[0].hue, frame + 3 * i);
            masks[f * pixels + i] = pass ? 255 : 0;
            m[M00] += pass;
            m[M10] += pass * (int32_t)(i % width);
            m[M01] += pass * (int32_t)(i / width);
        }
        follow(f);
        for (size_t i = 0; i < pixels * 3; i++)
            added[f * pixels * 3 + i] = (uint8_t)mc_least(frame[i] + track[i / 3], 255);
    }
}

static unsigned count(void) { return (unsigned)moments[(size_t)(frames - 1) * 3]; }

static const struct mc_option options[] = {
    {"image", NULL, 0, 0, &file, "a PNG file, one frame, in place of the moving ball; host only"},
    {"width", &width, 16, IMAGE_MOST, NULL, "pixels of a row, a multiple of 4 (320)"},
    {"height", &height, 16, 1280, NULL, "rows (240)"},
    {"frames", &frames, 1, MOST_FRAMES, NULL, "frames of the moving ball (2)"},
    {"hue-least", &hue_least, 0, 179, NULL, "the object's hue, in steps of two degrees (0)"},
    {"hue-most", &hue_most, 0, 179, NULL, "up to this (15)"},
    {"saturation", &saturation_least, 0, 255, NULL, "its least saturation (120)"},
    {"value", &value_least, 0, 255, NULL, "its least value (80)"},
    {"stripe", &stripe, 1, 1280, NULL, "rows of a stripe (by the form)"},
    {NULL, NULL, 0, 0, NULL, NULL},
};

MC_MAIN("mc-color", "Tracks an object by its colour.", "pixels")
