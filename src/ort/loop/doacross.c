/* doacross loops: ordered(n) with depend(source) and depend(sink).
 *
 * The position of an iteration in the nest becomes one number here, counted in the order of the nest (position_number).
 * One member runs a chunk of the outermost loop, in that order. So one cell for each chunk is enough in a dynamic loop,
 * and one for each member in a static loop. In a guided loop, whose chunks differ in size, there is a cell for each
 * iteration of the outermost loop. A cell holds the last position that was posted, plus one. This tells for every
 * earlier position of the cell that it is finished, too. Only the member that runs the chunk writes the cell (release);
 * waiting members read it (acquire).
 *
 * A member that waits long sleeps on the cell's count of posts. It cannot sleep on the position, which has 64 bits: two
 * positions posted one after the other may have the same low 32. A poster writes the position [1], then the count [2],
 * then wakes. A waiter reads the count [3], then the position [4], and sleeps only while the count is what [3] saw. If
 * [3] saw [2], then [4] sees [1] (release, acquire). If not, the count changes after [3], and no member sleeps on. (The
 * count wraps after 2^32 posts. A wake-up would be lost only if exactly that many posts of one cell came between [3]
 * and the sleep.)
 * Failures: no memory for the cells ends the program with one line.
 * Rejected: a cell for each iteration of the nest. A shift-and-or instead of the multiplication (libgomp's), which
 * needs a second representation if the bits do not suffice. The product of the counts always fits, or the loop would
 * never end. OpenMP 5.2 section 15.9.6. */
#include "doacross.h"

#include <limits.h>
#include <stdlib.h>

#include "check.h"
#include "emergency_pool.h"
#include "ort.h"
#include "race.h"

struct cell {
    _Atomic uint64_t posted; /* 1 + the last position posted; 0: none */
    _Atomic uint32_t posts;  /* number of posts, modulo 2^32; waiting members sleep on it */
};

struct ort_doacross {
    unsigned dims;
    bool by_member;    /* true in a static loop: there is a cell for each member */
    uint64_t per_cell; /* outermost iterations for each cell; in a static loop the chunk size, 0: not given */
    struct cell *cell;
    uint64_t counts[]; /* [dims] iterations of each loop; the cells lie behind them */
};

void ort_doacross_free(struct ort_workshare *ws)
{
    ort_mem_free(ws->doacross);
    ws->doacross = NULL;
}

/* Returns a new ort_doacross for ws, whose desc is complete. Returns NULL if no member will wait: in a team of one, and
 * in a nest without iterations. */
static struct ort_doacross *make_doacross(const struct ort_workshare *ws, unsigned dims, const uint64_t *counts,
                                          unsigned threads)
{
    if (threads == 1)
        return NULL;
    for (unsigned i = 0; i < dims; i++)
        if (counts[i] == 0)
            return NULL;
    bool by_member = ws->desc.sched == ORT_SCHED_STATIC;
    uint64_t per_cell = by_member || ws->desc.sched == ORT_SCHED_DYNAMIC ? ws->desc.chunk : 1;
    uint64_t cells = by_member ? threads : (counts[0] - 1) / per_cell + 1;
    struct ort_doacross *d = NULL;
    if (cells < SIZE_MAX / (2 * sizeof(struct cell)))
        d = ort_mem_zeroed(sizeof *d + dims * sizeof d->counts[0] + cells * sizeof(struct cell));
    PS_CHECK(d != NULL, "no memory for an ordered(%u) loop of %llu chunks", dims, (unsigned long long)cells);
    d->dims = dims;
    d->by_member = by_member;
    d->per_cell = per_cell;
    d->cell = (struct cell *)(d->counts + dims);
    for (unsigned i = 0; i < dims; i++)
        d->counts[i] = counts[i];
    return d;
}

bool ort_doacross_start(struct ort_thread *t, unsigned dims, const uint64_t *counts, unsigned sched, uint64_t chunk,
                        bool runtime, const struct ort_loop_extra *extra, uint64_t *lo, uint64_t *hi)
{
    if (extra != NULL && extra->reductions != NULL)
        ort_workshare_reduction_start(t);
    bool first = ort_ws_enter(t);
    struct ort_workshare *ws = ort_loop(t)->ws;
    if (first) {
        struct ort_loop_desc d = ort_loop_desc_ull(true, 0, counts[0], 1, sched, chunk);
        if (runtime)
            ort_loop_apply_runtime(t, &d);
        ort_ws_describe(ws, &d, t->team->n);
        ws->doacross = make_doacross(ws, dims, counts, t->team->n);
    }
    if (extra != NULL)
        ort_ws_extra(t, extra, first);
    if (first)
        ort_ws_ready(t);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_loop_begins(t, false, ort_loop(t)->desc->n, ort_loop(t)->desc->sched);
    return ort_loop_next(t, lo, hi);
}

/* Returns the cell for the positions of outermost iteration `outer`. */
static struct cell *cell_of(const struct ort_thread *t, const struct ort_doacross *d, uint64_t outer)
{
    if (!d->by_member)
        return &d->cell[outer / d->per_cell];
    uint32_t threads = t->team->n;
    if (d->per_cell != 0)
        return &d->cell[outer / d->per_cell % threads];
    uint64_t q = d->counts[0] / threads, r = d->counts[0] % threads;
    return &d->cell[outer < r * (q + 1) ? outer / (q + 1) : r + (outer - r * (q + 1)) / q];
}

/* Returns 1 + the number of the position in the order of the nest. */
static uint64_t position_number(const struct ort_doacross *d, const uint64_t *position)
{
    uint64_t number = position[0];
    for (unsigned i = 1; i < d->dims; i++)
        number = number * d->counts[i] + position[i];
    return number + 1;
}

unsigned ort_doacross_dims(const struct ort_thread *t)
{
    const struct ort_loop *loop = ort_loop_or_none(t);
    return !ort_absent(loop) && loop->ws != NULL && loop->ws->doacross != NULL ? loop->ws->doacross->dims : 0;
}

void ort_doacross_post(struct ort_thread *t, const uint64_t *position)
{
    const struct ort_doacross *d = ort_loop(t)->ws->doacross;
    if (d == NULL)
        return;
    struct cell *cell = cell_of(t, d, position[0]);
    ps_race_release(cell);
    ps_store_release(&cell->posted, position_number(d, position));     /* step [1] of the file's head */
    ps_store_release(&cell->posts, ps_load_relaxed(&cell->posts) + 1); /* step [2] */
    ee_wake(&cell->posts, UINT_MAX);
}

void ort_doacross_wait(struct ort_thread *t, const uint64_t *position)
{
    const struct ort_doacross *d = ort_loop(t)->ws->doacross;
    if (d == NULL)
        return;
    struct cell *cell = cell_of(t, d, position[0]);
    uint64_t wanted = position_number(d, position);
    for (;;) {
        uint32_t posts = ps_load_acquire(&cell->posts); /* step [3] */
        if (ps_load_acquire(&cell->posted) >= wanted)   /* step [4] */
            break;
        ee_wait(&cell->posts, posts);
    }
    ps_race_acquire(cell);
}
