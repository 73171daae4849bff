/* See detect.h. */
#include "detect.h"
#include "kernels.h"
#include "sample.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

const char *const detect_stage_names[DETECT_STAGES] = {"scale", "C1 S1",   "means of S1", "C2 S2",
                                                       "N1 N2", "octaves", "groups",      "fine search"};

enum { FINE_SCALES = 10, FINE_PLACES = 5, FINE_SETS = 4 };
static const double factor = 1.2, fine_least = 0.8, fine_most = 1.5;
static const double worth_it = 1.5; /* the volume of one set of places from which on the others are looked at */

static int padded(int width) { return (width + KERNEL_BLOCK - 1) / KERNEL_BLOCK * KERNEL_BLOCK + 2 * KERNEL_BLOCK; }

static bool make_octaves(struct detector *d)
{
    size_t used = 0;
    for (int pass = 0; pass < 2; pass++) {
        int width = d->width, height = d->height;
        used = 0;
        d->octaves = 0;
        while (d->octaves < DETECT_OCTAVES_MAX && (d->octaves == 0 || (width >= NET_WIDTH && height >= NET_HEIGHT))) {
            struct plane *o = &d->octave[d->octaves++];
            *o = (struct plane){d->memory ? d->memory + used : NULL, width, height, padded(width)};
            used += (size_t)o->stride * (size_t)height;
            width /= 2;
            height /= 2;
        }
        if (!d->memory && !(d->memory = calloc(used, sizeof *d->memory)))
            return false;
    }
    return true;
}

bool detector_make(struct detector *d, const struct net *net, int width, int height, int threads, int levels,
                   float volume)
{
    *d = (struct detector){
        .net = net, .threads = threads, .levels = levels, .volume = volume, .width = width, .height = height};
    net_mirror(&d->mirrored, net);
    d->patch = calloc((size_t)d->threads * (size_t)(levels > 1 ? threads : 1), sizeof *d->patch);
    if (!d->patch || !make_octaves(d)) {
        detector_free(d);
        return false;
    }
    double scale = 1;
    while (d->scales < DETECT_SCALES_MAX && (int)(width / scale) >= NET_WIDTH && (int)(height / scale) >= NET_HEIGHT) {
        if (!level_make(&d->scale[d->scales], net, (int)(width / scale), (int)(height / scale), width,
                        levels > 1 ? threads : 1)) {
            detector_free(d);
            return false;
        }
        d->scales++;
        scale *= factor;
    }
    return true;
}

void detector_free(struct detector *d)
{
    for (unsigned k = 0; k < d->scales; k++)
        level_free(&d->scale[k]);
    for (int k = 0; d->patch && k < d->threads * (d->levels > 1 ? d->threads : 1); k++)
        level_free(&d->patch[k]);
    free(d->patch);
    free(d->memory);
    free(d->candidates.list);
    free(d->groups.list);
    *d = (struct detector){0};
}

float *detector_row(struct detector *d, int y) { return d->octave[0].pixels + (size_t)y * (size_t)d->octave[0].stride; }

static void halve(const struct plane *from, const struct plane *to)
{
    for (int y = 0; y < to->height; y++) {
        const float *top = from->pixels + (size_t)(2 * y) * (size_t)from->stride;
        kernel_halve(top, top + from->stride, to->pixels + (size_t)y * (size_t)to->stride,
                     padded(to->width) - 2 * KERNEL_BLOCK);
    }
}

/* The view in which a pixel is `scale` of the image's, its corner at (left, top) of the image. */
static struct view view_of(const struct detector *d, double scale, double left, double top)
{
    unsigned k = 0;
    double part = 1;
    while (k + 1 < d->octaves && part * 2 <= scale * 1.0001) {
        part *= 2;
        k++;
    }
    /* Pixels' middles lie at half numbers in every scale. */
    return (struct view){&d->octave[k], (float)((left + 0.5 * scale) / part - 0.5),
                         (float)((top + 0.5 * scale) / part - 0.5), (float)(scale / part)};
}

static bool append(struct faces *to, struct face face)
{
    if (to->count == to->room) {
        unsigned room = to->room ? 2 * to->room : 64;
        struct face *list = realloc(to->list, room * sizeof *list);
        if (!list)
            return false;
        to->list = list;
        to->room = room;
    }
    to->list[to->count++] = face;
    return true;
}

static struct face window_at(double scale, double x, double y, double score)
{
    return (struct face){(float)x,     (float)y,    (float)(NET_WIDTH * scale), (float)(NET_HEIGHT * scale),
                         (float)scale, (float)score};
}

static bool collect(struct detector *d)
{
    double scale = 1;
    d->candidates.count = 0;
    for (unsigned k = 0; k < d->scales; k++, scale *= factor) {
        const struct plane *out = &d->scale[k].out;
        for (int y = 0; y < out->height; y++)
            for (int x = 0; x < out->width; x++) {
                float value = out->pixels[(size_t)y * (size_t)out->stride + (size_t)x];
                if (value > 0 &&
                    !append(&d->candidates, window_at(scale, x * NET_STEP * scale, y * NET_STEP * scale, value)))
                    return false;
            }
    }
    return true;
}

/* The better first; a tie goes to what lies higher, then further left, then is smaller: never to chance. */
static int compare_faces(const void *a, const void *b)
{
    const struct face *p = a, *q = b;
    if (p->score != q->score)
        return p->score < q->score ? 1 : -1;
    if (p->y != q->y)
        return p->y > q->y ? 1 : -1;
    if (p->x != q->x)
        return p->x > q->x ? 1 : -1;
    return (p->scale > q->scale) - (p->scale < q->scale);
}

static void sort_faces(struct faces *faces)
{
    if (faces->count > 1)
        qsort(faces->list, faces->count, sizeof *faces->list, compare_faces);
}

static bool near(const struct face *a, const struct face *b)
{
    float reach = 0.3f * fminf(a->width, b->width), ratio = a->scale / b->scale;
    float dx = a->x + a->width / 2 - b->x - b->width / 2, dy = a->y + a->height / 2 - b->y - b->height / 2;
    return fabsf(dx) < reach && fabsf(dy) < reach && ratio < 1.6f && ratio > 1 / 1.6f;
}

/* Each group is led by its best candidate, and lies at the mean of all, each as heavy as its output. */
static bool group(struct detector *d)
{
    struct faces *c = &d->candidates;
    sort_faces(c);
    d->groups.count = 0;
    for (unsigned i = 0; i < c->count; i++) {
        if (c->list[i].score <= 0)
            continue; /* belongs to a group */
        struct face lead = c->list[i];
        double x = 0, y = 0, scale = 0, weight = 0;
        for (unsigned k = i; k < c->count; k++) {
            struct face *f = &c->list[k];
            if (f->score <= 0 || !near(&lead, f))
                continue;
            x += f->score * (f->x + f->width / 2);
            y += f->score * (f->y + f->height / 2);
            scale += f->score * log(f->scale);
            weight += f->score;
            f->score = 0;
        }
        scale = exp(scale / weight);
        if (!append(&d->groups,
                    window_at(scale, x / weight - NET_WIDTH * scale / 2, y / weight - NET_HEIGHT * scale / 2, weight)))
            return false;
    }
    return true;
}

struct fine {
    double volume, x, y, scale; /* sums of the positive outputs, and of places and the scale's logarithm times them */
};

/* One scale of a group's surroundings; (right, down): pixels of that scale that the places are moved by. */
static bool search_scale(const struct detector *d, const struct face *group, int which, int right, int down,
                         const struct net *net, struct level *patch, struct fine *fine)
{
    double scale = group->scale * (fine_least + (fine_most - fine_least) * which / (FINE_SCALES - 1));
    const int width = NET_WIDTH + (FINE_PLACES - 1) * NET_STEP, height = NET_HEIGHT + (FINE_PLACES - 1) * NET_STEP;
    double left = group->x + group->width / 2 - scale * (width / 2.0 - right);
    double top = group->y + group->height / 2 - scale * (height / 2.0 - down);
    if (!patch->memory && !level_make(patch, d->net, width, height, d->width, 1))
        return false;
    struct view view = view_of(d, scale, left, top);
    patch->net = net;
    level_run(patch, &view, 1);
    *fine = (struct fine){0};
    for (int y = 0; y < patch->rows; y++)
        for (int x = 0; x < patch->columns; x++) {
            double value = patch->out.pixels[(size_t)y * (size_t)patch->out.stride + (size_t)x];
            if (value <= 0)
                continue;
            fine->volume += value;
            fine->x += value * (left + scale * (x * NET_STEP + NET_WIDTH / 2.0));
            fine->y += value * (top + scale * (y * NET_STEP + NET_HEIGHT / 2.0));
            fine->scale += value * log(scale);
        }
    return true;
}

/* All scales, by one or four sets of places. */
static bool look(const struct detector *d, const struct face *group, int sets, struct fine *all)
{
    struct fine found[FINE_SCALES * FINE_SETS];
    const int inner = d->levels > 1 ? d->threads : 1;
    struct level *patches = d->patch + omp_get_thread_num() * inner;
    bool good = true;
#pragma omp parallel for schedule(dynamic, 1) num_threads(inner) if (inner > 1) reduction(&& : good)
    for (int k = 0; k < FINE_SCALES * sets; k++) {
        int set = k / FINE_SCALES, right = sets == 1 ? 0 : set % 2 * 2 - 1, down = sets == 1 ? 0 : set / 2 * 2 - 1;
        const struct net *net = (k % FINE_SCALES + set) % 2 ? &d->mirrored : d->net;
        good = search_scale(d, group, k % FINE_SCALES, right, down, net, &patches[omp_get_thread_num()], &found[k]) &&
               good;
    }
    *all = (struct fine){0};
    for (int k = 0; good && k < FINE_SCALES * sets; k++) { /* in this order, whichever thread computed them */
        all->volume += found[k].volume;
        all->x += found[k].x;
        all->y += found[k].y;
        all->scale += found[k].scale;
    }
    return good;
}

/* The group becomes what the fine search found; its score is the volume of a set of places. */
static bool search(const struct detector *d, struct face *group)
{
    struct fine all;
    int sets = 1;
    if (!look(d, group, 1, &all))
        return false;
    if (all.volume >= worth_it) {
        sets = FINE_SETS;
        if (!look(d, group, FINE_SETS, &all))
            return false;
    }
    if (all.volume > 0) {
        double scale = exp(all.scale / all.volume);
        *group = window_at(scale, all.x / all.volume - NET_WIDTH * scale / 2,
                           all.y / all.volume - NET_HEIGHT * scale / 2, all.volume / sets);
    } else
        group->score = 0;
    return true;
}

/* Whether they share more than two fifths of the smaller one. */
static bool overlap(const struct face *a, const struct face *b)
{
    float width = fminf(a->x + a->width, b->x + b->width) - fmaxf(a->x, b->x);
    float height = fminf(a->y + a->height, b->y + b->height) - fmaxf(a->y, b->y);
    float least = fminf(a->width * a->height, b->width * b->height);
    return width > 0 && height > 0 && width * height > 0.4f * least;
}

static bool choose(struct detector *d, struct faces *faces)
{
    sort_faces(&d->groups);
    for (unsigned i = 0; i < d->groups.count && d->groups.list[i].score >= d->volume; i++) {
        bool covered = false;
        for (unsigned k = 0; k < faces->count && !covered; k++)
            covered = overlap(&faces->list[k], &d->groups.list[i]);
        if (!covered && !append(faces, d->groups.list[i]))
            return false;
    }
    return true;
}

bool detector_run(struct detector *d, struct faces *faces)
{
    const int inner = d->levels > 1 ? d->threads : 1;
    bool good = true;
    double begin = sample_now();
    *faces = (struct faces){0};
    memset(d->seconds, 0, sizeof d->seconds);
    for (unsigned k = 1; k < d->octaves; k++)
        halve(&d->octave[k - 1], &d->octave[k]);
    d->seconds[DETECT_OCTAVES] = sample_now() - begin;
#pragma omp parallel for schedule(dynamic, 1) num_threads(d->threads) if (d->threads > 1)
    for (unsigned k = 0; k < d->scales; k++) {
        struct view view = view_of(d, pow(factor, k), 0, 0);
        level_run(&d->scale[k], &view, inner);
    }
    for (unsigned k = 0; k < d->scales; k++)
        for (int stage = 0; stage < LEVEL_STAGES; stage++)
            d->seconds[stage] += d->scale[k].seconds[stage];
    begin = sample_now();
    if (!collect(d) || !group(d))
        return false;
    double end = sample_now();
    d->seconds[DETECT_GROUP] = end - begin;
#pragma omp parallel for schedule(dynamic, 1) num_threads(d->threads) if (d->threads > 1) reduction(&& : good)
    for (unsigned k = 0; k < d->groups.count; k++)
        good = search(d, &d->groups.list[k]) && good;
    d->seconds[DETECT_FINE] = sample_now() - end;
    if (good && choose(d, faces))
        return true;
    free(faces->list);
    *faces = (struct faces){0};
    return false;
}
