/* CURE with its update phase in parallel (cure.h; nthlib-2004, figure 1).
 *
 * Each entry knows its nearest neighbour among the entries with a smaller index, so that a pair is known once. A merge
 * of low into high touches three kinds of entries above low: those whose neighbour was low or high look for another one
 * (the inner loop), those above high compare theirs with the merged cluster, the rest stays as it is. How many look
 * again is not known beforehand, and fewer entries are valid with each step: the reason for two levels of parallelism.
 *
 * CURE_LAZY looks for lost neighbours only where that matters: the distance to the lost one remains a lower bound of
 * the distance to all others, so that the entry waits until it seems to be the closest of all. Far fewer searches, and
 * no nested loops: what is used where the result counts and not the paper.
 *
 * Who writes what: within the update phase an iteration writes only its own entry's neighbour (and the shared flag that
 * its block of entries has changed); clusters are read only. Merging and the choice of the closest pair are sequential.
 *
 * Cost: the closest pair is found by the blocks' minima, of which only changed blocks' are taken anew. Distances stop
 * as soon as they exceed what they are compared with, and clusters of several representatives are first compared by
 * centre and radius; neither changes a result. Memory: the points, and less than three times as much for merged
 * clusters. */
#include "cure.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 10,  /* of both loops' static schedule (the paper's) and of a task */
    BLOCK = 256, /* entries that share a minimum */
    /* entries that look for their first neighbour together: the others' points are read once for all of them */
    TILE = 32,
    MANY = 4,   /* from this number of pairs of representatives on, centres are compared first */
    FEW = 4096, /* entries that are not worth a team, where that is ours to decide */
};

struct entry {
    double *centre;    /* a merged cluster's memory begins here; of a single point all three are the point */
    double *scattered; /* num points */
    double *points;    /* the same ones moved towards the centre: the representatives */
    double radius;     /* of the representatives around the centre */
    uint32_t num, size;
};

struct near {
    double d2; /* squared; INFINITY: none */
    uint32_t index;
};

struct cure {
    size_t n, dim;
    const struct cure_options *options;
    struct entry *entry;
    bool *valid;
    struct near *near; /* of each entry, among the valid ones with a smaller index */
    struct near *block_near;
    bool *block_changed;
    bool *stale; /* CURE_LAZY: near is only a lower bound of the distance, of no one in particular */
    uint32_t *merged_into;
    double *chosen; /* work area of a merge: least distances of the candidates */
    size_t num_clusters, searches;
};

typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

/* The squared distance; INFINITY as soon as it is known to be greater than the limit. */
static inline double distance2(const double *a, const double *b, size_t dim, double limit)
{
    pair low = {0, 0}, high = {0, 0};
    size_t d = 0;

    while (d + 4 <= dim) {
        size_t stop = d + 8 <= dim ? d + 8 : d + 4;
        for (; d < stop; d += 4) {
            pair t = *(const pair *)(a + d) - *(const pair *)(b + d);
            pair u = *(const pair *)(a + d + 2) - *(const pair *)(b + d + 2);
            low += t * t;
            high += u * u;
        }
        if ((low[0] + low[1]) + (high[0] + high[1]) > limit)
            return INFINITY;
    }
    double lane[4] = {low[0], low[1], high[0], high[1]};
    for (; d < dim; d++)
        lane[d % 4] += (a[d] - b[d]) * (a[d] - b[d]);
    double sum = (lane[0] + lane[1]) + (lane[2] + lane[3]);
    return sum > limit ? INFINITY : sum;
}

/* Whether two clusters' representatives are certainly farther apart than the limit: the triangle inequality, with room
 * for rounding. */
static bool far_apart(const struct entry *a, const struct entry *b, size_t dim, double limit)
{
    double reach = (sqrt(limit) + a->radius + b->radius) * (1 + 1e-9);

    return isinf(distance2(a->centre, b->centre, dim, reach * reach));
}

/* compute_dist of the paper. */
static double cluster_distance2(const struct cure *c, size_t i, size_t j, double limit)
{
    const struct entry *a = &c->entry[i], *b = &c->entry[j];
    double least = INFINITY;

    if (a->num * b->num >= MANY && isfinite(limit) && far_apart(a, b, c->dim, limit))
        return INFINITY;
    for (uint32_t p = 0; p < a->num; p++) {
        for (uint32_t q = 0; q < b->num; q++) {
            double d2 = distance2(a->points + p * c->dim, b->points + q * c->dim, c->dim, limit);
            if (d2 < least) {
                least = d2;
                limit = d2 < limit ? d2 : limit;
            }
        }
    }
    return least;
}

static inline struct near nearer(struct near a, struct near b)
{
    return b.d2 < a.d2 || (b.d2 == a.d2 && b.index < a.index) ? b : a;
}

#pragma omp declare reduction(nearest                              \
                              : struct near                        \
                              : omp_out = nearer(omp_out, omp_in)) \
    initializer(omp_priv = (struct near){INFINITY, UINT32_MAX})

/* The valid entry of [from, to) that is nearest to i, or what was known before. */
static struct near nearest_within(const struct cure *c, size_t i, size_t from, size_t to, struct near known)
{
    for (size_t j = from; j < to; j++)
        if (c->valid[j])
            known = nearer(known, (struct near){cluster_distance2(c, i, j, known.d2), (uint32_t)j});
    return known;
}

static struct near nearest_by_loop(struct cure *c, size_t i, unsigned threads)
{
    struct near found = {INFINITY, UINT32_MAX};

    if (threads == 1)
        return nearest_within(c, i, 0, i, found);
#pragma omp parallel for schedule(static, CHUNK) reduction(nearest : found) num_threads(threads)
    for (size_t j = 0; j < i; j++)
        if (c->valid[j])
            found = nearer(found, (struct near){cluster_distance2(c, i, j, found.d2), (uint32_t)j});
    return found;
}

static struct near nearest_for_lazy(struct cure *c, size_t i)
{
    c->searches++;
    return nearest_by_loop(c, i, i > FEW ? c->options->outer : 1);
}

static struct near nearest_by_tasks(struct cure *c, size_t i)
{
    struct near found = {INFINITY, UINT32_MAX};

#pragma omp taskgroup task_reduction(nearest : found)
    for (size_t from = 0; from < i; from += CHUNK) {
#pragma omp task in_reduction(nearest : found) firstprivate(from)
        found = nearest_within(c, i, from, from + CHUNK < i ? from + CHUNK : i, found);
    }
    return found;
}

static void set_near(struct cure *c, size_t i, struct near near)
{
    c->near[i] = near;
    __atomic_store_n(&c->block_changed[i / BLOCK], true, __ATOMIC_RELAXED);
}

/* One iteration of update_nearest_neighbors. */
static void update_one(struct cure *c, size_t i, size_t low, size_t high)
{
    struct near *near = &c->near[i];

    if (!c->valid[i])
        return;
    if (near->index == low || near->index == high) {
        struct near none = {INFINITY, UINT32_MAX};
        __atomic_add_fetch(&c->searches, 1, __ATOMIC_RELAXED);
        set_near(c, i,
                 c->options->variant == CURE_LOOPS   ? nearest_by_loop(c, i, c->options->inner)
                 : c->options->variant == CURE_TASKS ? nearest_by_tasks(c, i)
                                                     : nearest_within(c, i, 0, i, none));
    } else if (high < i) {
        struct near merged = {cluster_distance2(c, high, i, near->d2), (uint32_t)high};
        if (nearer(*near, merged).index == high)
            set_near(c, i, merged);
    }
}

/* The same where a lost neighbour is not looked for before it matters. Entries above low, without high. */
static void update_one_lazily(struct cure *c, size_t i, size_t low, size_t high)
{
    struct near *near = &c->near[i];

    if (!c->valid[i] || i == high)
        return;
    bool lost = near->index == low || near->index == high;
    if (high < i) {
        struct near merged = {cluster_distance2(c, high, i, near->d2), (uint32_t)high};
        /* of equal distances only a neighbour with a smaller index than all others' is certain */
        if (merged.d2 < near->d2 ||
            (merged.d2 == near->d2 && !c->stale[i] && (lost ? near->index == high : near->index > high))) {
            set_near(c, i, merged);
            c->stale[i] = false;
            return;
        }
    }
    if (lost) {
        near->index = UINT32_MAX;
        c->stale[i] = true;
    }
}

static void update_lazily(struct cure *c, size_t low, size_t high)
{
    set_near(c, high, nearest_for_lazy(c, high));
    c->stale[high] = false;
#pragma omp parallel for schedule(static, CHUNK) num_threads(c->options->outer) if (c->n - low > FEW)
    for (size_t i = low + 1; i < c->n; i++)
        update_one_lazily(c, i, low, high);
}

static void update(struct cure *c, size_t low, size_t high)
{
    switch (c->options->variant) {
    case CURE_LAZY:
        update_lazily(c, low, high);
        break;
    case CURE_SEQUENTIAL:
        for (size_t i = low + 1; i < c->n; i++)
            update_one(c, i, low, high);
        break;
    case CURE_LOOPS:
#pragma omp parallel for schedule(static, CHUNK) num_threads(c->options->outer)
        for (size_t i = low + 1; i < c->n; i++)
            update_one(c, i, low, high);
        break;
    case CURE_TASKS: /* called by one thread of a team: the queues stay between the steps */
#pragma omp taskgroup
        for (size_t from = low + 1; from < c->n; from += CHUNK) {
#pragma omp task firstprivate(from)
            for (size_t i = from; i < from + CHUNK && i < c->n; i++)
                update_one(c, i, low, high);
        }
        break;
    }
}

static size_t num_tiles(const struct cure *c) { return (c->n + TILE - 1) / TILE; }

/* Progress: the longest tiles go first. */
static void tell_first(const struct cure *c, size_t done)
{
    double left = 1 - (double)done / (double)num_tiles(c);

    if (c->options->progress)
        c->options->progress("first neighbours", 1 - left * left, done, num_tiles(c));
}

/* Every entry's first neighbour. TILE entries go together; one level of parallelism is enough here, the pieces are
 * even. */
static void first_neighbours(struct cure *c)
{
    size_t tiles = num_tiles(c), done = 0;

#pragma omp parallel for schedule(dynamic, 1) \
    num_threads(c->options->variant == CURE_SEQUENTIAL ? 1 : c->options->outer)
    for (size_t t = 0; t < tiles; t++) {
        size_t from = (tiles - 1 - t) * TILE, to = from + TILE < c->n ? from + TILE : c->n;
        for (size_t j = 0; j + 1 < to; j++)
            for (size_t i = j < from ? from : j + 1; i < to; i++)
                c->near[i] = nearer(c->near[i], (struct near){cluster_distance2(c, i, j, c->near[i].d2), (uint32_t)j});
        size_t now = __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
        if (omp_get_thread_num() == 0)
            tell_first(c, now);
    }
}

/* The closest pair's higher entry. */
static size_t closest_known(struct cure *c)
{
    struct near best = {INFINITY, UINT32_MAX};

    for (size_t b = 0; b * BLOCK < c->n; b++) {
        if (c->block_changed[b]) {
            struct near least = {INFINITY, UINT32_MAX};
            size_t to = (b + 1) * BLOCK < c->n ? (b + 1) * BLOCK : c->n;
            for (size_t i = b * BLOCK; i < to; i++)
                if (c->valid[i])
                    least = nearer(least, (struct near){c->near[i].d2, (uint32_t)i});
            c->block_near[b] = least;
            c->block_changed[b] = false;
        }
        best = nearer(best, c->block_near[b]);
    }
    return best.index;
}

/* A stale entry that seems the closest looks for its neighbour now: its distance grows, or it is the closest. */
static size_t closest(struct cure *c)
{
    size_t high = closest_known(c);

    while (c->stale[high]) {
        set_near(c, high, nearest_for_lazy(c, high));
        c->stale[high] = false;
        high = closest_known(c);
    }
    return high;
}

/* Chooses `num` of the candidates, scattered as far as can be; their order is that of the choice. */
static void scatter(double *to, unsigned num, const double *candidates, unsigned num_candidates, const double *centre,
                    size_t dim, double *least)
{
    for (unsigned q = 0; q < num_candidates; q++)
        least[q] = distance2(candidates + q * dim, centre, dim, INFINITY);
    for (unsigned p = 0; p < num; p++) {
        unsigned best = 0;
        for (unsigned q = 1; q < num_candidates; q++)
            if (least[q] > least[best])
                best = q;
        memcpy(to + p * dim, candidates + best * dim, dim * sizeof *to);
        for (unsigned q = 0; q < num_candidates; q++) {
            double d2 = distance2(candidates + q * dim, to + p * dim, dim, INFINITY);
            if (p == 0 || d2 < least[q])
                least[q] = d2;
        }
        least[best] = -1; /* never again, not even a point that stands twice */
    }
}

static void move_to_centre(struct cure *c, struct entry *e)
{
    double farthest = 0;

    for (uint32_t p = 0; p < e->num; p++) {
        for (size_t d = 0; d < c->dim; d++) {
            double x = e->scattered[p * c->dim + d];
            e->points[p * c->dim + d] = x + c->options->shrink * (e->centre[d] - x);
        }
        double d2 = distance2(e->points + p * c->dim, e->centre, c->dim, INFINITY);
        farthest = d2 > farthest ? d2 : farthest;
    }
    e->radius = sqrt(farthest);
}

static void release(struct entry *e)
{
    if (e->size > 1)
        free(e->centre);
}

/* Merges low into high. ENOMEM: nothing is changed. */
static int merge(struct cure *c, size_t low, size_t high)
{
    struct entry *a = &c->entry[low], *b = &c->entry[high], merged = {.size = a->size + b->size};
    uint32_t both = a->num + b->num;
    size_t dim = c->dim;

    merged.num = both < c->options->representatives ? both : c->options->representatives;
    double *candidates = malloc(both * dim * sizeof *candidates);
    merged.centre = malloc((2 * merged.num + 1) * dim * sizeof *merged.centre);
    if (!candidates || !merged.centre) {
        free(candidates);
        free(merged.centre);
        return ENOMEM;
    }
    merged.scattered = merged.centre + dim;
    merged.points = merged.scattered + merged.num * dim;
    for (size_t d = 0; d < dim; d++)
        merged.centre[d] = (a->size * a->centre[d] + b->size * b->centre[d]) / merged.size;
    memcpy(candidates, a->scattered, a->num * dim * sizeof *candidates);
    memcpy(candidates + a->num * dim, b->scattered, b->num * dim * sizeof *candidates);
    if (merged.num == both)
        memcpy(merged.scattered, candidates, both * dim * sizeof *candidates);
    else
        scatter(merged.scattered, merged.num, candidates, both, merged.centre, dim, c->chosen);
    move_to_centre(c, &merged);
    free(candidates);
    release(a);
    release(b);
    *b = merged;
    *a = (struct entry){0};
    c->valid[low] = false;
    c->near[low] = (struct near){INFINITY, UINT32_MAX};
    c->block_changed[low / BLOCK] = c->block_changed[high / BLOCK] = true;
    c->stale[low] = false;
    c->merged_into[low] = (uint32_t)high;
    c->num_clusters--;
    return 0;
}

/* Merges until k clusters remain. */
static int merge_all(struct cure *c, struct cure_times *times)
{
    size_t k = c->options->k, steps = c->n - k;
    double all = (double)c->n * (double)c->n - (double)k * (double)k;

    for (size_t step = 0; step < steps; step++) {
        double start = omp_get_wtime();
        size_t high = closest(c), low = c->near[high].index;
        int error = merge(c, low, high);
        if (error)
            return error;
        double merged = omp_get_wtime();
        update(c, low, high);
        times->merge += merged - start;
        times->update += omp_get_wtime() - merged;
        if (c->options->progress) { /* a step costs about as much as clusters remain */
            double left = (double)c->num_clusters * (double)c->num_clusters - (double)k * (double)k;
            c->options->progress("merging", 1 - left / all, step + 1, steps);
        }
    }
    return 0;
}

static int cluster(struct cure *c, struct cure_times *times)
{
    int error = 0;

    double start = omp_get_wtime();
    first_neighbours(c);
    times->first = omp_get_wtime() - start;
    if (c->options->variant == CURE_TASKS) {
#pragma omp parallel num_threads(c->options->outer)
#pragma omp single
        error = merge_all(c, times);
    } else {
        error = merge_all(c, times);
    }
    return error;
}

static void label(struct cure *c, uint32_t *labels)
{
    uint32_t next = 0;

    for (size_t i = 0; i < c->n; i++) /* near is done with: its index now holds a cluster's label */
        c->near[i].index = UINT32_MAX;
    for (size_t i = 0; i < c->n; i++) {
        size_t root = i;
        while (c->merged_into[root] != root) {
            c->merged_into[root] = c->merged_into[c->merged_into[root]];
            root = c->merged_into[root];
        }
        if (c->near[root].index == UINT32_MAX)
            c->near[root].index = next++;
        labels[i] = c->near[root].index;
    }
}

int cure(const double *points, size_t n, size_t dim, const struct cure_options *options, uint32_t *labels,
         struct cure_times *times)
{
    size_t blocks = (n + BLOCK - 1) / BLOCK;
    size_t candidates = 2 * (size_t)(options->representatives < n ? options->representatives : n);
    struct cure c = {.n = n, .dim = dim, .options = options, .num_clusters = n};

    *times = (struct cure_times){0};
    c.entry = malloc(n * sizeof *c.entry);
    c.valid = malloc(n * sizeof *c.valid);
    c.near = calloc(n, sizeof *c.near);
    c.block_near = malloc(blocks * sizeof *c.block_near);
    c.block_changed = malloc(blocks * sizeof *c.block_changed);
    c.stale = calloc(n, sizeof *c.stale);
    c.merged_into = malloc(n * sizeof *c.merged_into);
    c.chosen = malloc(candidates * sizeof *c.chosen);
    int error = ENOMEM;
    if (c.entry && c.valid && c.near && c.block_near && c.block_changed && c.stale && c.merged_into && c.chosen) {
        for (size_t i = 0; i < n; i++) {
            double *point = (double *)points + i * dim;
            c.entry[i] = (struct entry){.centre = point, .scattered = point, .points = point, .num = 1, .size = 1};
            c.valid[i] = true;
            c.near[i] = (struct near){INFINITY, UINT32_MAX};
            c.merged_into[i] = (uint32_t)i;
        }
        memset(c.block_changed, true, blocks);
        error = cluster(&c, times);
        times->searches = c.searches;
        if (!error)
            label(&c, labels);
        for (size_t i = 0; i < n; i++)
            release(&c.entry[i]);
    }
    free(c.entry);
    free(c.valid);
    free(c.near);
    free(c.block_near);
    free(c.block_changed);
    free(c.stale);
    free(c.merged_into);
    free(c.chosen);
    return error;
}
