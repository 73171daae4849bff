/* mc-shot - the SHOT descriptor of points of a surface (Tombari, Salti, Di Stefano 2010), in two kernels. shot_parts.c
 * has both for one point. First phase: local reference frames; second: histograms. */
#include "shot_parts.h"

#include "mc.h"
#include "move.h"

#include <string.h>

static unsigned num_points = 480, num_keys = 128, radius_thousandths = 180, stripe;
static const char *kernel = "both";
static struct shot_point *cloud;
static uint32_t *keys; /* numbers of the points that are described */
static float *frames, *histograms;

enum { FRAME = 12 }; /* three axes, padded */

struct near {
    const uint32_t *keys;
    float *frames, *histograms;
    unsigned rows, num, points; /* keys of a stripe, of all */
    float radius;
};
static struct near *blocks[2]; /* each ends with the cloud */

/* A buffer: keys, frames, histograms. */
static unsigned rows_of(const struct near *n, unsigned s) { return mc_least(n->rows, n->num - s * n->rows); }
static uint32_t *keys_of(char *buffer) { return (uint32_t *)(void *)buffer; }
static float *frames_of(const struct near *n, char *buffer) { return (float *)(void *)(buffer + n->rows * 4); }

static unsigned units(const void *common, unsigned s, unsigned step)
{
    (void)step;
    return rows_of(common, s);
}

static void frames_in(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_in(buffer, n->keys + (size_t)s * n->rows, rows_of(n, s) * 4, 1, 0, 0);
}

static void frames_out(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_out(n->frames + (size_t)s * n->rows * FRAME, frames_of(n, buffer), rows_of(n, s) * FRAME * 4, 1, 0, 0);
}

static void frames_work(const void *common, char *buffer, unsigned s, unsigned step, unsigned begin, unsigned end)
{
    const struct near *n = common;
    const struct shot_point *points = (const struct shot_point *)(n + 1);

    (void)s, (void)step;
    for (unsigned i = begin; i < end; i++)
        shot_frame(points, n->points, keys_of(buffer)[i], n->radius, frames_of(n, buffer) + (size_t)i * FRAME);
}

static void histograms_in(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    frames_in(common, s, buffer);
    move_in(frames_of(n, buffer), n->frames + (size_t)s * n->rows * FRAME, rows_of(n, s) * FRAME * 4, 1, 0, 0);
}

static void histograms_out(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;

    move_out(n->histograms + (size_t)s * n->rows * SHOT_BINS, frames_of(n, buffer) + (size_t)n->rows * FRAME,
             rows_of(n, s) * SHOT_BINS * 4, 1, 0, 0);
}

static void histograms_work(const void *common, char *buffer, unsigned s, unsigned step, unsigned begin, unsigned end)
{
    const struct near *n = common;
    const struct shot_point *points = (const struct shot_point *)(n + 1);
    const float *its_frames = frames_of(n, buffer);
    float *to = frames_of(n, buffer) + (size_t)n->rows * FRAME;

    (void)s, (void)step;
    for (unsigned i = begin; i < end; i++)
        shot_histogram(points, n->points, keys_of(buffer)[i], n->radius, its_frames + (size_t)i * FRAME,
                       to + (size_t)i * SHOT_BINS);
}

static struct mc_array sources[] = {
    {.name = "cloud", .type = "<f4", .axes = 2}, {.name = "keys", .type = "<i4", .axes = 1}, {.name = NULL}};
static struct mc_array results[] = {
    {.name = "frames", .type = "<f4", .axes = 2}, {.name = "histograms", .type = "<f4", .axes = 2}, {.name = NULL}};

static bool with(const char *which) { return strcmp(kernel, "both") == 0 || strcmp(kernel, which) == 0; }

static bool inputs(void)
{
    if (!with("frame") && !with("histogram"))
        return mc_wrong("--kernel %s: expected frame, histogram or both", kernel);
    if (num_keys > num_points)
        return mc_wrong("--keys %u: there are only %u points", num_keys, num_points);
    cloud = mc_zeros(num_points * sizeof *cloud);
    keys = mc_zeros(num_keys * sizeof *keys);
    frames = mc_zeros((size_t)num_keys * FRAME * sizeof *frames);
    histograms = mc_zeros((size_t)num_keys * SHOT_BINS * sizeof *histograms);
    for (unsigned p = 0; p < 2; p++)
        blocks[p] = mc_zeros(sizeof *blocks[p] + num_points * sizeof *cloud);
    if (!cloud || !keys || !frames || !histograms || !blocks[0] || !blocks[1])
        return false;
    shot_surface(cloud, num_points);
    for (unsigned i = 0; i < num_keys; i++)
        keys[i] = (uint32_t)((uint64_t)i * num_points / num_keys);
    sources[0].data = cloud;
    sources[0].shape[0] = num_points;
    sources[0].shape[1] = 8;
    sources[1].data = keys;
    sources[1].shape[0] = results[0].shape[0] = results[1].shape[0] = num_keys;
    results[0].data = frames;
    results[0].shape[1] = FRAME;
    results[1].data = histograms;
    results[1].shape[1] = SHOT_BINS;
    return true;
}

/* A stripe has a key for each thread of a team, or as many times that as fit: fewer than threads only where a key for
 * each has no room beside what the stripes have in common. */
static unsigned keys_of_stripe(const struct mc_shape *shape, uint32_t bytes, uint32_t common)
{
    unsigned rows = mc_stripe_rows(shape, num_keys, bytes, 0, 2, stripe);

    if (stripe)
        return rows;
    if (rows >= shape->team)
        rows -= rows % shape->team;
    else if (shape->form != MC_FLAT || common + (uint64_t)shape->team * bytes <= shape->room)
        rows = shape->team;
    else
        rows = mc_stripe_rows(shape, num_keys, bytes, common / 2, 2, 0);
    return mc_least(rows, num_keys);
}

static bool phases(const struct mc_shape *shape, struct mc_phase **made, unsigned *num)
{
    static struct mc_phase list[2];
    uint32_t common = (uint32_t)(sizeof *blocks[0] + num_points * sizeof *cloud);
    const uint32_t bytes[2] = {4 + FRAME * 4, 4 + (FRAME + SHOT_BINS) * 4};

    for (unsigned p = 0; p < 2; p++) {
        struct near *n = blocks[p];
        *n = (struct near){.keys = keys,
                           .frames = frames,
                           .histograms = histograms,
                           .num = num_keys,
                           .points = num_points,
                           .radius = (float)radius_thousandths / 1000.0f,
                           .rows = keys_of_stripe(shape, bytes[p], common)};
        memcpy(n + 1, cloud, num_points * sizeof *cloud);
        list[p] = (struct mc_phase){.stripes = mc_parts(num_keys, n->rows),
                                    .steps = 1,
                                    .bytes = n->rows * bytes[p],
                                    .common = n,
                                    .common_bytes = common,
                                    .units = units};
    }
    list[0].in = frames_in, list[0].work = frames_work, list[0].out = frames_out;
    list[1].in = histograms_in, list[1].work = histograms_work, list[1].out = histograms_out;
    *made = with("frame") ? list : list + 1;
    *num = with("frame") && with("histogram") ? 2 : 1;
    return true;
}

/* From a near copy of the cloud, where there is room. */
static void plain_frames(void)
{
    uint32_t bytes = num_points * (uint32_t)sizeof *cloud;
    struct shot_point *near = move_take(bytes, 0);

    if (near) {
        move_in(near, cloud, bytes, 1, 0, 0);
        move_mark(0);
        move_wait(0);
    }
    for (unsigned i = 0; i < num_keys; i++)
        shot_frame(near ? near : cloud, num_points, keys[i], blocks[0]->radius, frames + (size_t)i * FRAME);
    if (near)
        move_give(near);
}

static void reset(void)
{
    static bool frames_there; /* inputs of the second kernel, where it is alone */

    if (with("frame"))
        mc_clear(frames, (size_t)num_keys * FRAME * sizeof *frames);
    else if (!frames_there)
        plain_frames();
    frames_there = true;
    mc_clear(histograms, (size_t)num_keys * SHOT_BINS * sizeof *histograms);
}

static void plain(void)
{
    if (with("frame"))
        plain_frames();
    for (unsigned i = 0; with("histogram") && i < num_keys; i++)
        shot_histogram(cloud, num_points, keys[i], blocks[0]->radius, frames + (size_t)i * FRAME,
                       histograms + (size_t)i * SHOT_BINS);
}

/* Bins that are not empty, or frames whose third axis points up. */
static unsigned count(void)
{
    unsigned number = 0;

    for (unsigned i = 0; with("histogram") && i < num_keys * SHOT_BINS; i++)
        number += histograms[i] != 0;
    for (unsigned i = 0; !with("histogram") && i < num_keys; i++)
        number += frames[(size_t)i * FRAME + 8] > 0;
    return number;
}

static const struct mc_option options[] = {
    {"kernel", NULL, 0, 0, &kernel, "frame, histogram or both (both)"},
    {"points", &num_points, 16, 20000, NULL, "points of the surface (480)"},
    {"keys", &num_keys, 1, 20000, NULL, "points that are described (128)"},
    {"radius", &radius_thousandths, 1, 2000, NULL, "of the support, in thousandths of the surface's side (180)"},
    {"stripe", &stripe, 1, 20000, NULL, "described points of a stripe (by the form)"},
    {NULL, NULL, 0, 0, NULL, NULL},
};

MC_MAIN("mc-shot", "The SHOT descriptor: local reference frames and histograms.", "found")
