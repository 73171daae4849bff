/* PCURE over MPI: see cure_mpi.h; the shared-memory version is apps/pcure/cure.c, whose arithmetic is the same.
 *
 * Each step begins with every rank's closest pair, and the closest of all by MPI_MINLOC (of equal distances the least
 * index, as the definition wants it). The owner of high says which entry low is. low's owner gives its cluster to
 * high's owner, which merges. The result goes to all ranks, and each brings its own entries up to date. All ranks
 * search for an entry's neighbour: the entry goes to every rank, each looks among its own, the nearest is MPI_MINLOC's
 * again.
 *
 * The update phase has two loops (nthlib-2004, figure 1): the entries that look for another neighbour, and each one's
 * search. CURE_LOOPS has both of them in parallel within each rank, for as many lost entries of all ranks as fit in a
 * batch. CURE_LAZY searches for an entry when its turn comes, and has the loops in parallel one after the other.
 *
 * MPI is called by the first thread alone, outside of regions: MPI_THREAD_FUNNELED is enough.
 *
 * Outliers: each rank removes its own, and rank 0 tells each which of its points they were; no rank knows others'.
 *
 * Memory of a rank: its points, less than three times as much for merged clusters, two tiles of others' points while
 * first neighbours are looked for, a batch of others' clusters. Rank 0: at most 13 bytes more for each point of all,
 * which the labels are. Messages: three collective ones and two clusters' worth a step, two more a search. */
#include <omp.h>

#include "mpi_cure.h"

enum {
    TILE = 512,  /* points that go round at once while first neighbours are looked for */
    BATCH = 64,  /* lost entries of each rank that are searched for together */
    NUMBERS = 4, /* of a packed cluster before its points: index, num, size, radius */
};

struct best { /* MPI_DOUBLE_INT */
    double d2;
    int index;
};

/* --- clusters on their way */

static size_t packed_size(const struct mpi_cure *c, uint32_t num) { return NUMBERS + ((size_t)num + 1) * c->s->dim; }

static double *packing_room(struct mpi_cure *c, size_t numbers)
{
    if (numbers > c->packed_room) {
        free(c->packed);
        c->packed = room_for(numbers, sizeof *c->packed, "clusters on their way");
        c->packed_room = numbers;
    }
    return c->packed;
}

/* The centre, and `points`: the scattered ones or the representatives. */
static void pack(const struct mpi_cure *c, double *to, size_t i, const struct entry *e, const double *points)
{
    size_t dim = c->s->dim;

    to[0] = (double)i;
    to[1] = e->num;
    to[2] = e->size;
    to[3] = e->radius;
    memcpy(to + NUMBERS, e->centre, dim * sizeof *to);
    memcpy(to + NUMBERS + dim, points, e->num * dim * sizeof *to);
}

/* It stays where it was packed. scattered and points are the same: what it was packed with. */
static struct entry unpack(const struct mpi_cure *c, double *from)
{
    return (struct entry){.centre = from + NUMBERS,
                          .scattered = from + NUMBERS + c->s->dim,
                          .points = from + NUMBERS + c->s->dim,
                          .num = (uint32_t)from[1],
                          .size = (uint32_t)from[2],
                          .radius = from[3]};
}

struct entry show(struct mpi_cure *c, size_t i)
{
    int root = owner_of(c, i);
    uint32_t num = c->s->rank == root ? c->entry[local(c, i)].num : 0;

    MPI_Bcast(&num, 1, MPI_UINT32_T, root, MPI_COMM_WORLD);
    double *packed = packing_room(c, packed_size(c, num));
    if (c->s->rank == root)
        pack(c, packed, i, &c->entry[local(c, i)], c->entry[local(c, i)].points);
    MPI_Bcast(packed, (int)packed_size(c, num), MPI_DOUBLE, root, MPI_COMM_WORLD);
    return unpack(c, packed);
}

/* --- searches */

/* The nearest of this rank's entries below i to a cluster that stands in entry i. */
static struct near nearest_own(const struct mpi_cure *c, size_t i, const struct entry *e, unsigned threads)
{
    struct near found = {INFINITY, UINT32_MAX};
    size_t end = below(c, i);

#pragma omp parallel for schedule(static, CHUNK) reduction(nearest : found) num_threads(threads) if (threads > 1)
    for (size_t l = 0; l < end; l++)
        if (c->valid[l])
            found = nearer(
                found, (struct near){entry_distance2(e, &c->entry[l], c->s->dim, found.d2), (uint32_t)global(c, l)});
    return found;
}

static struct best as_best(struct near near)
{
    return (struct best){near.d2, near.index > INT32_MAX ? INT32_MAX : (int)near.index};
}

static struct near as_near(struct best best)
{
    return (struct near){best.d2, best.index == INT32_MAX ? UINT32_MAX : (uint32_t)best.index};
}

/* Entry i, which all ranks hold as e, looks for its neighbour; its owner notes it. */
static void search(struct mpi_cure *c, size_t i, const struct entry *e)
{
    struct best best = as_best(nearest_own(c, i, e, c->s->own > FEW ? c->options->outer : 1));

    MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    c->searches++;
    if (c->s->rank == owner_of(c, i)) {
        set_near(c, local(c, i), as_near(best));
        c->stale[local(c, i)] = false;
    }
}

void search_all(struct mpi_cure *c, const size_t *lost, size_t num)
{
    int ranks = c->s->ranks;
    int *sizes = room_for(2 * (size_t)ranks, sizeof *sizes, "a batch"), *at = sizes + ranks;
    unsigned outer = c->options->variant == CURE_LOOPS ? c->options->outer : 1;
    unsigned inner = c->options->variant == CURE_LOOPS ? c->options->inner : 1;

    for (size_t from = 0;; from += BATCH) {
        size_t many = from < num ? (num - from < BATCH ? num - from : BATCH) : 0, numbers = 0, all = 0, found = 0;
        for (size_t k = 0; k < many; k++)
            numbers += packed_size(c, c->entry[lost[from + k]].num);
        sizes[c->s->rank] = (int)numbers;
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, sizes, 1, MPI_INT, MPI_COMM_WORLD);
        for (int r = 0; r < ranks; r++) {
            at[r] = (int)all;
            all += (size_t)sizes[r];
        }
        if (all == 0)
            break;
        if (all > INT32_MAX)
            no_memory("a batch of clusters", all * sizeof(double));
        double *packed = packing_room(c, all), *next = packed + at[c->s->rank];
        for (size_t k = 0; k < many; k++) {
            const struct entry *e = &c->entry[lost[from + k]];
            pack(c, next, global(c, lost[from + k]), e, e->points);
            next += packed_size(c, e->num);
        }
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, packed, sizes, at, MPI_DOUBLE, MPI_COMM_WORLD);
        double *begins[BATCH], **begin = (size_t)ranks * BATCH > BATCH
                                             ? room_for((size_t)ranks * BATCH, sizeof *begin, "a batch")
                                             : begins;
        for (double *p = packed; p < packed + all; p += packed_size(c, (uint32_t)p[1]))
            begin[found++] = p;
        struct best *best = room_for(found, sizeof *best, "a batch");
#pragma omp parallel for schedule(static, CHUNK) num_threads(outer) if (outer > 1)
        for (size_t k = 0; k < found; k++) {
            struct entry e = unpack(c, begin[k]);
            best[k] = as_best(nearest_own(c, (size_t)begin[k][0], &e, inner));
        }
        MPI_Allreduce(MPI_IN_PLACE, best, (int)found, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
        for (size_t k = 0; k < found; k++)
            if (owner_of(c, (size_t)begin[k][0]) == c->s->rank)
                set_near(c, local(c, (size_t)begin[k][0]), as_near(best[k]));
        c->searches += found;
        free(best);
        if (begin != begins)
            free(begin);
    }
    free(sizes);
}

/* Every entry's first neighbour: each rank's points go to all, a tile at a time, the next while this one is looked
 * at. */
static void first_neighbours(struct mpi_cure *c)
{
    const struct share *s = c->s;
    size_t dim = s->dim, tiles = (local(c, s->n - 1) + 1 + TILE - 1) / TILE, all = tiles * (size_t)s->ranks;
    double *room[2] = {room_for(TILE * dim, sizeof(double), "a tile"), room_for(TILE * dim, sizeof(double), "a tile")};
    MPI_Request request[2];
    double *tile[2];
    size_t num[2];

    for (size_t t = 0; t <= all; t++) {
        if (t < all) { /* of rank t % ranks, from its entry (t / ranks) * TILE on */
            int root = (int)(t % (size_t)s->ranks);
            size_t from = t / (size_t)s->ranks * TILE;
            size_t has = (s->n - (size_t)root + (size_t)s->ranks - 1) / (size_t)s->ranks;
            num[t % 2] = from < has ? (has - from < TILE ? has - from : TILE) : 0;
            tile[t % 2] = root == s->rank && num[t % 2] ? s->points + from * dim : room[t % 2];
            MPI_Ibcast(tile[t % 2], (int)(num[t % 2] * dim), MPI_DOUBLE, root, MPI_COMM_WORLD, &request[t % 2]);
        }
        if (t == 0)
            continue;
        size_t u = t - 1, first = u / (size_t)s->ranks * TILE * (size_t)s->ranks + u % (size_t)s->ranks;
        const double *points = tile[u % 2];
        MPI_Wait(&request[u % 2], MPI_STATUS_IGNORE);
#pragma omp parallel for schedule(dynamic, 16) \
    num_threads(c->options->variant == CURE_SEQUENTIAL ? 1 : c->options->outer)
        for (size_t l = below(c, first); l < s->own; l++) {
            struct near near = c->near[l];
            size_t i = global(c, l);
            for (size_t k = 0, j = first; k < num[u % 2] && j < i; k++, j += (size_t)s->ranks)
                near = nearer(
                    near, (struct near){distance2(s->points + l * dim, points + k * dim, dim, near.d2), (uint32_t)j});
            c->near[l] = near;
        }
        if (c->options->progress && s->rank == 0)
            c->options->progress("first neighbours", (double)t / (double)all, t, all);
    }
    free(room[0]);
    free(room[1]);
}

/* --- steps */

static struct near closest_known_own(struct mpi_cure *c)
{
    struct near best = {INFINITY, UINT32_MAX};

    for (size_t b = 0; b * BLOCK < c->s->own; b++) {
        if (c->block_changed[b]) {
            struct near least = {INFINITY, UINT32_MAX};
            size_t to = (b + 1) * BLOCK < c->s->own ? (b + 1) * BLOCK : c->s->own;
            for (size_t l = b * BLOCK; l < to; l++)
                if (c->valid[l])
                    least = nearer(least, (struct near){c->near[l].d2, (uint32_t)global(c, l)});
            c->block_near[b] = least;
            c->block_changed[b] = false;
        }
        best = nearer(best, c->block_near[b]);
    }
    return best;
}

/* The closest pair, in all ranks. A stale entry that seems the closest looks for its neighbour first. */
static void closest(struct mpi_cure *c, size_t *low, size_t *high)
{
    for (;;) {
        struct best best = as_best(closest_known_own(c));
        MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
        *high = (size_t)best.index;
        int root = owner_of(c, *high);
        int64_t to = 0; /* the neighbour; -1: it has to be looked for */
        if (c->s->rank == root)
            to = c->stale[local(c, *high)] ? -1 : (int64_t)c->near[local(c, *high)].index;
        MPI_Bcast(&to, 1, MPI_INT64_T, root, MPI_COMM_WORLD);
        *low = (size_t)to;
        if (to >= 0)
            return;
        struct entry e = show(c, *high);
        search(c, *high, &e);
    }
}

/* Low's owner gives, high's merges; low is no more. */
static void merge(struct mpi_cure *c, size_t low, size_t high)
{
    int giver = owner_of(c, low), taker = owner_of(c, high), numbers;
    size_t l = local(c, low);
    struct entry given = {0}, merged;
    MPI_Status status;

    if (c->s->rank == giver) {
        struct entry *e = &c->entry[l];
        if (giver == taker) {
            given = *e;
        } else {
            double *packed = packing_room(c, packed_size(c, e->num));
            pack(c, packed, low, e, e->scattered);
            MPI_Send(packed, (int)packed_size(c, e->num), MPI_DOUBLE, taker, 1, MPI_COMM_WORLD);
        }
    } else if (c->s->rank == taker) {
        MPI_Probe(giver, 1, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &numbers);
        double *packed = packing_room(c, (size_t)numbers);
        MPI_Recv(packed, numbers, MPI_DOUBLE, giver, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        given = unpack(c, packed);
    }
    if (c->s->rank == taker) {
        struct entry *e = &c->entry[local(c, high)];
        if (entry_merged(&given, e, c->s->dim, c->options, &merged))
            no_memory("a merged cluster", (2 * (size_t)(given.num + e->num) + 1) * c->s->dim * sizeof(double));
        entry_release(e);
        *e = merged;
        c->block_changed[local(c, high) / BLOCK] = true;
    }
    if (c->s->rank == giver) {
        entry_release(&c->entry[l]);
        c->entry[l] = (struct entry){0};
        c->valid[l] = false;
        c->near[l] = (struct near){INFINITY, UINT32_MAX};
        c->block_changed[l / BLOCK] = true;
        c->stale[l] = false;
    }
    if (c->merged_into)
        c->merged_into[low] = (uint32_t)high;
    c->num_clusters--;
}

/* An own entry above low, when low has been merged into high, which all hold as e. True: its neighbour is lost, and is
 * to be looked for now. */
static bool update_one(struct mpi_cure *c, size_t l, size_t low, size_t high, const struct entry *e)
{
    struct near *near = &c->near[l];
    size_t i = global(c, l);
    bool lazy = c->options->variant == CURE_LAZY, lost = near->index == low || near->index == high;

    if (!c->valid[l] || (lazy && i == high))
        return false;
    if (lost && !lazy)
        return true;
    if (high < i) {
        struct near merged = {entry_distance2(e, &c->entry[l], c->s->dim, near->d2), (uint32_t)high};
        /* of equal distances only a neighbour with a smaller index than all others' is certain */
        if (merged.d2 < near->d2 ||
            (merged.d2 == near->d2 && !c->stale[l] && (lost ? near->index == high : near->index > high))) {
            set_near(c, l, merged);
            c->stale[l] = false;
            return false;
        }
    }
    if (lost) {
        near->index = UINT32_MAX;
        c->stale[l] = true;
    }
    return false;
}

static void update(struct mpi_cure *c, size_t low, size_t high)
{
    struct entry e = show(c, high);
    bool lazy = c->options->variant == CURE_LAZY;
    unsigned threads = c->options->variant == CURE_SEQUENTIAL || (lazy && c->s->own <= FEW) ? 1 : c->options->outer;
    size_t from = below(c, low + 1), num = 0, *lost = NULL;
    bool any = false;

    if (lazy)
        search(c, high, &e);
    bool *is_lost = lazy ? NULL : room_for(c->s->own, 1, "lost neighbours");
#pragma omp parallel for schedule(static, CHUNK) num_threads(threads) reduction(|| : any) if (threads > 1)
    for (size_t l = from; l < c->s->own; l++)
        if (update_one(c, l, low, high, &e))
            any = is_lost[l] = true;
    if (lazy)
        return;
    if (any) {
        lost = room_for(c->s->own, sizeof *lost, "lost neighbours");
        for (size_t l = from; l < c->s->own; l++)
            if (is_lost[l])
                lost[num++] = l;
    }
    search_all(c, lost, num);
    free(lost);
    free(is_lost);
}

static void merge_all(struct mpi_cure *c, struct cure_times *times)
{
    size_t k = c->options->k, steps = c->s->n - k, low, high;
    double all = (double)c->s->n * (double)c->s->n - (double)k * (double)k;
    unsigned phase = c->options->outliers ? 0 : OUTLIER_PHASES;

    while (c->num_clusters > k) {
        double start = MPI_Wtime();
        if (phase < OUTLIER_PHASES && c->num_clusters <= outlier_clusters(phase, c->s->n, k)) {
            remove_small(c, outlier_least(phase++, c->num_points, c->num_clusters));
            times->update += MPI_Wtime() - start;
            continue;
        }
        closest(c, &low, &high);
        merge(c, low, high);
        double merged = MPI_Wtime();
        update(c, low, high);
        times->merge += merged - start;
        times->update += MPI_Wtime() - merged;
        if (c->options->progress && c->s->rank == 0) { /* a step costs about as much as clusters remain */
            double left = (double)c->num_clusters * (double)c->num_clusters - (double)k * (double)k;
            c->options->progress("merging", 1 - left / all, c->s->n - c->num_clusters, steps);
        }
    }
}

void cure_mpi(const struct share *s, const struct cure_options *options, uint32_t *labels, struct cure_times *times)
{
    size_t blocks = (s->own + BLOCK - 1) / BLOCK;
    struct mpi_cure c = {.s = s, .options = options, .num_clusters = s->n, .num_points = s->n};

    *times = (struct cure_times){0};
    c.entry = room_for(s->own, sizeof *c.entry, "entries");
    c.valid = room_for(s->own, sizeof *c.valid, "entries");
    c.near = room_for(s->own, sizeof *c.near, "entries");
    c.stale = room_for(s->own, sizeof *c.stale, "entries");
    c.block_near = room_for(blocks, sizeof *c.block_near, "entries");
    c.block_changed = room_for(blocks, sizeof *c.block_changed, "entries");
    for (size_t l = 0; l < s->own; l++) {
        double *point = s->points + l * s->dim;
        c.entry[l] = (struct entry){.centre = point, .scattered = point, .points = point, .num = 1, .size = 1};
        c.valid[l] = true;
        c.near[l] = (struct near){INFINITY, UINT32_MAX};
    }
    memset(c.block_changed, true, blocks);
    if (s->rank == 0) {
        c.merged_into = room_for(s->n, sizeof *c.merged_into, "labels");
        for (size_t i = 0; i < s->n; i++)
            c.merged_into[i] = (uint32_t)i;
    }
    double start = MPI_Wtime();
    first_neighbours(&c);
    times->first = MPI_Wtime() - start;
    merge_all(&c, times);
    times->searches = c.searches;
    times->outliers = s->n - c.num_points;
    if (times->outliers)
        assign_removed(&c);
    for (size_t l = 0; l < s->own; l++)
        entry_release(&c.entry[l]);
    free(c.entry);
    free(c.valid);
    free(c.near);
    free(c.stale);
    free(c.block_near);
    free(c.block_changed);
    free(c.packed);
    if (s->rank == 0) {
        uint32_t *number = room_for(s->n, sizeof *number, "labels");
        label_clusters(c.merged_into, s->n, number, labels);
        free(number);
        free(c.merged_into);
    }
}
