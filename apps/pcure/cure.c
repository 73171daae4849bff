/* CURE with its update phase in parallel (cure.h; nthlib-2004, figure 1).
 *
 * Each entry knows its nearest neighbour among the entries with a smaller index, so that a pair is known once. A merge
 * of low into high touches three kinds of entries above low. Those whose neighbour was low or high look for another one
 * (the inner loop). Those above high compare theirs with the merged cluster. The rest stays as it is. How many look
 * again is not known beforehand, and fewer entries are valid with each step: the reason for two levels of parallelism.
 *
 * CURE_LAZY looks for lost neighbours only where that matters: the distance to the lost one remains a lower bound of
 * the distance to all others, so that the entry waits until it seems to be the closest of all. Far fewer searches, and
 * no nested loops: what is used where the result counts and not the paper.
 *
 * Writes: within the update phase an iteration writes only its own entry's neighbour, and the shared flag that its
 * block of entries has changed. Clusters are read only. Merging and the choice of the closest pair are sequential.
 *
 * Cost: the closest pair is found by the blocks' minima, of which only changed blocks' are taken anew. Memory: the
 * points, and less than three times as much for merged clusters. */
#include <omp.h>

#include "cluster.h"

enum {
    CHUNK = 10,  /* of both loops' static schedule (the paper's) and of a task */
    BLOCK = 256, /* entries that share a minimum */
    /* entries that look for their first neighbour together: the others' points are read once for all of them */
    TILE = 32,
    FEW = 4096, /* entries that are not worth a team, where that is ours to decide */
};

struct cure {
    size_t n, dim;
    const double *points;
    const struct cure_options *options;
    struct entry *entry;
    bool *valid;
    struct near *near; /* of each entry, among the valid ones with a smaller index */
    struct near *block_near;
    bool *block_changed;
    bool *stale; /* CURE_LAZY: near is only a lower bound of the distance, of no one in particular */
    uint32_t *merged_into;
    size_t num_clusters, searches;
    size_t num_points; /* of those clusters: without removed ones */
};

static inline double cluster_distance2(const struct cure *c, size_t i, size_t j, double limit)
{
    return entry_distance2(&c->entry[i], &c->entry[j], c->dim, limit);
}

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

/* The neighbour anew, by the variant's inner loop. */
static void search(struct cure *c, size_t i)
{
    struct near none = {INFINITY, UINT32_MAX};

    __atomic_add_fetch(&c->searches, 1, __ATOMIC_RELAXED);
    set_near(c, i,
             c->options->variant == CURE_LOOPS   ? nearest_by_loop(c, i, c->options->inner)
             : c->options->variant == CURE_TASKS ? nearest_by_tasks(c, i)
                                                 : nearest_within(c, i, 0, i, none));
}

/* One iteration of update_nearest_neighbors. */
static void update_one(struct cure *c, size_t i, size_t low, size_t high)
{
    struct near *near = &c->near[i];

    if (!c->valid[i])
        return;
    if (near->index == low || near->index == high)
        search(c, i);
    else if (high < i) {
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

/* Merges low into high. ENOMEM: nothing is changed. */
static int merge(struct cure *c, size_t low, size_t high)
{
    struct entry *a = &c->entry[low], *b = &c->entry[high], merged;
    int error = entry_merged(a, b, c->dim, c->options, &merged);

    if (error)
        return error;
    entry_release(a);
    entry_release(b);
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

/* --- outliers */

/* Entry i's neighbour, where it was removed. */
static void update_removed(struct cure *c, size_t i)
{
    uint32_t neighbour = c->near[i].index;

    if (!c->valid[i] || neighbour == UINT32_MAX || c->valid[neighbour])
        return;
    if (c->options->variant == CURE_LAZY) {
        c->near[i].index = UINT32_MAX;
        c->stale[i] = true;
    } else {
        search(c, i);
    }
}

/* Removes clusters that are smaller than `least`, unless fewer than k would remain. */
static void remove_small(struct cure *c, size_t least)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->n; i++)
        kept += c->valid[i] && c->entry[i].size >= least;
    if (kept < c->options->k)
        return;
    c->num_clusters = kept;
    for (size_t i = 0; i < c->n; i++) {
        if (c->valid[i] && c->entry[i].size < least) {
            c->num_points -= c->entry[i].size;
            c->valid[i] = c->stale[i] = false;
            set_near(c, i, (struct near){INFINITY, UINT32_MAX});
        }
    }
#pragma omp parallel for schedule(static, CHUNK) num_threads(c->options->outer) if (c->options->variant == CURE_LOOPS)
    for (size_t i = 1; i < c->n; i++)
        update_removed(c, i);
}

/* The points of removed clusters join those with the closest representatives. to: a work area of n. */
static void assign_removed(struct cure *c, uint32_t *to)
{
    size_t n = c->n, dim = c->dim, num = 0;
    struct near *remaining = c->near; /* neighbours are not needed any more */

    for (size_t i = 0; i < n; i++)
        if (c->valid[i])
            remaining[num++].index = (uint32_t)i;
    for (size_t i = 0; i < n; i++)
        to[i] = c->valid[cluster_root(c->merged_into, i)] ? UINT32_MAX : 0;
#pragma omp parallel for schedule(dynamic, CHUNK) \
    num_threads(c->options->variant == CURE_SEQUENTIAL ? 1 : c->options->outer)
    for (size_t i = 0; i < n; i++) {
        if (to[i] == UINT32_MAX)
            continue;
        double *x = (double *)c->points + i * dim;
        struct entry point = {.centre = x, .scattered = x, .points = x, .num = 1, .size = 1};
        struct near found = {INFINITY, UINT32_MAX};
        for (size_t r = 0; r < num; r++) {
            uint32_t j = remaining[r].index;
            found = nearer(found, (struct near){entry_distance2(&point, &c->entry[j], dim, found.d2), j});
        }
        to[i] = found.index;
    }
    for (size_t i = 0; i < n; i++)
        if (to[i] != UINT32_MAX)
            c->merged_into[i] = to[i];
}

/* Merges until k clusters remain. */
static int merge_all(struct cure *c, struct cure_times *times)
{
    size_t k = c->options->k, steps = c->n - k;
    double all = (double)c->n * (double)c->n - (double)k * (double)k;
    unsigned phase = c->options->outliers ? 0 : OUTLIER_PHASES;

    while (c->num_clusters > k) {
        double start = omp_get_wtime();
        if (phase < OUTLIER_PHASES && c->num_clusters <= outlier_clusters(phase, c->n, k)) {
            remove_small(c, outlier_least(phase++, c->num_points, c->num_clusters));
            times->update += omp_get_wtime() - start;
            continue;
        }
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
            c->options->progress("merging", 1 - left / all, c->n - c->num_clusters, steps);
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

int cure(const double *points, size_t n, size_t dim, const struct cure_options *options, uint32_t *labels,
         struct cure_times *times)
{
    size_t blocks = (n + BLOCK - 1) / BLOCK;
    struct cure c = {.n = n, .dim = dim, .points = points, .options = options, .num_clusters = n, .num_points = n};

    *times = (struct cure_times){0};
    c.entry = malloc(n * sizeof *c.entry);
    c.valid = malloc(n * sizeof *c.valid);
    c.near = calloc(n, sizeof *c.near);
    c.block_near = malloc(blocks * sizeof *c.block_near);
    c.block_changed = malloc(blocks * sizeof *c.block_changed);
    c.stale = calloc(n, sizeof *c.stale);
    c.merged_into = malloc(n * sizeof *c.merged_into);
    uint32_t *number = malloc(n * sizeof *number);
    int error = ENOMEM;
    if (c.entry && c.valid && c.near && c.block_near && c.block_changed && c.stale && c.merged_into && number) {
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
        times->outliers = n - c.num_points;
        if (!error && times->outliers)
            assign_removed(&c, number);
        if (!error)
            label_clusters(c.merged_into, n, number, labels);
        for (size_t i = 0; i < n; i++)
            entry_release(&c.entry[i]);
    }
    free(c.entry);
    free(c.valid);
    free(c.near);
    free(c.block_near);
    free(c.block_changed);
    free(c.stale);
    free(c.merged_into);
    free(number);
    return error;
}
