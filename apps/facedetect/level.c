/* See level.h. */
#include "level.h"
#include "kernels.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

const char *const level_stage_names[LEVEL_STAGES] = {"scale", "C1 S1", "means of S1", "C2 S2", "N1 N2"};

/* Rows are computed in whole blocks; the masks then read some floats more. */
static int row_floats(int width) { return (width + KERNEL_BLOCK - 1) / KERNEL_BLOCK * KERNEL_BLOCK + 2 * KERNEL_BLOCK; }

static int blocks(int width) { return (width + KERNEL_BLOCK - 1) / KERNEL_BLOCK * KERNEL_BLOCK; }

static float *row_of(const struct plane *plane, int y) { return plane->pixels + (size_t)y * (size_t)plane->stride; }

/* Measures a plane, or gives it its memory. */
static size_t lay(struct plane *plane, int width, int height, float *memory, size_t used)
{
    plane->width = width;
    plane->height = height;
    plane->stride = row_floats(width);
    plane->pixels = memory ? memory + used : NULL;
    return used + (size_t)plane->stride * (size_t)height;
}

static size_t lay_all(struct level *l, int plane_width, float *memory)
{
    int first_width = (l->width - 4) / 2, first_height = (l->height - 4) / 2;
    int second_width = (first_width - 2) / 2, second_height = (first_height - 2) / 2;
    size_t used = 0;
    for (int odd = 0; odd < 2; odd++)
        used = lay(&l->boxed[odd], first_width + 2, l->height - 1, memory, used);
    for (int m = 0; m < NET_FIRST; m++) {
        used = lay(&l->first[m], first_width, first_height, memory, used);
        for (int odd = 0; odd < 2; odd++)
            used = lay(&l->first_boxed[m][odd], second_width + 1, first_height - 1, memory, used);
    }
    for (int m = 0; m < NET_SECOND; m++)
        used = lay(&l->second[m], second_width, second_height, memory, used);
    used = lay(&l->out, l->columns, l->rows, memory, used);
    int line = plane_width > 2 * row_floats(l->width) ? plane_width : 2 * row_floats(l->width);
    return lay(&l->lines, line, 3 * l->threads, memory, used);
}

bool level_make(struct level *l, const struct net *net, int width, int height, int plane_width, int threads)
{
    *l = (struct level){.net = net, .width = width, .height = height, .threads = threads};
    l->columns = (width - NET_WIDTH) / NET_STEP + 1;
    l->rows = (height - NET_HEIGHT) / NET_STEP + 1;
    l->memory = calloc(lay_all(l, plane_width, NULL), sizeof *l->memory);
    l->at = calloc((size_t)row_floats(width), sizeof *l->at);
    l->share = calloc((size_t)row_floats(width), sizeof *l->share);
    if (!l->memory || !l->at || !l->share) {
        level_free(l);
        return false;
    }
    lay_all(l, plane_width, l->memory);
    return true;
}

void level_free(struct level *l)
{
    free(l->memory);
    free(l->at);
    free(l->share);
    *l = (struct level){0};
}

/* The left (upper) of the two pixels that a place lies between, and how far it is towards the other one. */
static int place(float where, int size, float *share)
{
    if (where < 0)
        where = 0;
    if (where > (float)(size - 1))
        where = (float)(size - 1);
    int at = (int)where < size - 1 ? (int)where : size - 2;
    if (at < 0)
        at = 0;
    *share = where - (float)at;
    return at;
}

static void scaled_row(const struct level *l, int y, float *blended, float *row)
{
    const struct plane *plane = l->view.plane;
    float share;
    int at = place(l->view.top + (float)y * l->view.step, plane->height, &share);
    int below = at + 1 < plane->height ? at + 1 : at;
    int first = l->at[0]; /* a patch sees a few columns only */
    kernel_blend(row_of(plane, at) + first, row_of(plane, below) + first, share, blended + first,
                 blocks(l->at[l->width - 1] + 2 - first));
    kernel_between(blended, l->at, l->share, row, blocks(l->width));
}

static void run_scale(const struct level *l, int from, int to, int thread)
{
    float *line[3];
    for (int k = 0; k < 3; k++)
        line[k] = row_of(&l->lines, 3 * thread + k);
    if (from < to)
        scaled_row(l, from, line[2], line[from % 2]);
    for (int y = from; y < to; y++) {
        scaled_row(l, y + 1, line[2], line[(y + 1) % 2]);
        kernel_box(line[y % 2], line[(y + 1) % 2], row_of(&l->boxed[0], y), row_of(&l->boxed[1], y),
                   blocks(l->boxed[0].width));
    }
}

static void run_first(const struct level *l, int from, int to, int thread)
{
    (void)thread;
    for (int y = from; y < to; y++) {
        struct kernel_row in[5];
        float *out[NET_FIRST];
        for (int i = 0; i < 5; i++)
            in[i] = (struct kernel_row){row_of(&l->boxed[0], 2 * y + i), row_of(&l->boxed[1], 2 * y + i)};
        for (int m = 0; m < NET_FIRST; m++)
            out[m] = row_of(&l->first[m], y);
        kernel_first(l->net, in, out, blocks(l->first[0].width));
    }
}

static void run_box(const struct level *l, int from, int to, int thread)
{
    (void)thread;
    for (int y = from; y < to; y++)
        for (int m = 0; m < NET_FIRST; m++)
            kernel_box(row_of(&l->first[m], y), row_of(&l->first[m], y + 1), row_of(&l->first_boxed[m][0], y),
                       row_of(&l->first_boxed[m][1], y), blocks(l->first_boxed[m][0].width));
}

static void run_second(const struct level *l, int from, int to, int thread)
{
    (void)thread;
    for (int y = from; y < to; y++) {
        struct kernel_row in[NET_FIRST][3];
        float *out[NET_SECOND];
        for (int m = 0; m < NET_FIRST; m++)
            for (int i = 0; i < 3; i++)
                in[m][i] = (struct kernel_row){row_of(&l->first_boxed[m][0], 2 * y + i),
                                               row_of(&l->first_boxed[m][1], 2 * y + i)};
        for (int m = 0; m < NET_SECOND; m++)
            out[m] = row_of(&l->second[m], y);
        kernel_second(l->net, in, out, blocks(l->second[0].width));
    }
}

static void run_last(const struct level *l, int from, int to, int thread)
{
    (void)thread;
    for (int y = from; y < to; y++) {
        const float *in[NET_SECOND][NET_FIELD_HEIGHT];
        for (int m = 0; m < NET_SECOND; m++)
            for (int i = 0; i < NET_FIELD_HEIGHT; i++)
                in[m][i] = row_of(&l->second[m], y + i);
        kernel_last(l->net, in, row_of(&l->out, y), blocks(l->out.width));
    }
}

static void run_rows(void (*stage)(const struct level *, int, int, int), const struct level *l, int rows, int threads)
{
    if (threads == 1) {
        stage(l, 0, rows, 0);
        return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int part = 0; part < threads; part++)
        stage(l, (int)((long)rows * part / threads), (int)((long)rows * (part + 1) / threads), part);
}

void level_run(struct level *l, const struct view *view, int threads)
{
    static void (*const stages[LEVEL_STAGES])(const struct level *, int, int, int) = {run_scale, run_first, run_box,
                                                                                      run_second, run_last};
    const int rows[LEVEL_STAGES] = {l->boxed[0].height, l->first[0].height, l->first_boxed[0][0].height,
                                    l->second[0].height, l->rows};
    l->view = *view;
    for (int x = 0; x < l->width; x++)
        l->at[x] = place(view->left + (float)x * view->step, view->plane->width, &l->share[x]);
    double begin = sample_now();
    for (int k = 0; k < LEVEL_STAGES; k++) {
        run_rows(stages[k], l, rows[k], threads < l->threads ? threads : l->threads);
        double end = sample_now();
        l->seconds[k] = end - begin;
        begin = end;
    }
}
