/* doacross loops: ordered(n) with depend(source) and depend(sink).
 *
 * An iteration's position is one number, counted in the order of the nest. A chunk of the outermost loop runs in that order on one
 * member, so one cell a chunk (static: one a member) that holds the last position posted, plus one, says for every position of the chunk
 * whether it is finished. The cells are written by the chunk's member alone (release) and read by who waits (acquire);
 * who waits long sleeps on the cell's low half: each post changes it.
 * Failures: no memory for the cells: aborts with one line.
 * Rejected: a cell for each iteration; a shift-and-or instead of the multiplication (libgomp's), which needs a second
 * representation where the bits do not suffice: the product of the counts always fits, or the loop would never end.
 * OpenMP 5.2 section 15.9.4. */
#include "doacross.h"

#include <limits.h>
#include <stdlib.h>

#include "check.h"
#include "ort.h"
#include "race.h"
#include "reserve.h"

struct ort_doacross {
    unsigned dims;
    bool by_member;    /* static: a cell for each member */
    uint64_t per_cell; /* outermost iterations of a cell, otherwise */
    uint64_t *counts;  /* [dims] */
    _Atomic uint64_t *cell;
};

void ort_doacross_free(struct ort_workshare *ws)
{
    ort_mem_free(ws->doacross);
    ws->doacross = NULL;
}

/* ws is described; a team of one needs no cells, and a nest without iterations never posts or waits. */
static struct ort_doacross *make(const struct ort_workshare *ws, unsigned dims, const uint64_t *counts,
                                 unsigned threads)
{
    if (threads == 1)
        return NULL;
    for (unsigned i = 0; i < dims; i++)
        if (counts[i] == 0)
            return NULL;
    struct ort_doacross head = {.dims = dims, .per_cell = 1};
    uint64_t cells;
    if (ws->desc.sched == ORT_SCHED_STATIC) {
        head.by_member = true;
        head.per_cell = ws->desc.chunk;
        cells = threads;
    } else {
        if (ws->desc.sched == ORT_SCHED_DYNAMIC)
            head.per_cell = ws->desc.chunk;
        cells = (counts[0] - 1) / head.per_cell + 1;
    }
    struct ort_doacross *d = NULL;
    if (cells < SIZE_MAX / 16)
        d = ort_mem_zeroed(sizeof *d + (dims + cells) * sizeof(uint64_t));
    PS_CHECK(d != NULL, "no memory for an ordered(%u) loop of %llu chunks", dims, (unsigned long long)cells);
    *d = head;
    d->counts = (uint64_t *)(d + 1);
    d->cell = (_Atomic uint64_t *)(d->counts + dims);
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
    struct ort_workshare *ws = t->loop.ws;
    if (first) {
        struct ort_loop_desc d = ort_loop_desc_ull(true, 0, counts[0], 1, sched, chunk);
        if (runtime)
            ort_loop_apply_runtime(t, &d);
        ort_ws_describe(ws, &d, t->team->n);
        ws->doacross = make(ws, dims, counts, t->team->n);
    }
    if (extra != NULL)
        ort_ws_extra(t, extra, first);
    if (first)
        ort_ws_ready(t);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_loop_begins(t, false, t->loop.desc->n, t->loop.desc->sched);
    return ort_loop_next(t, lo, hi);
}

/* The cell in which the position's iteration is posted. */
static _Atomic uint64_t *cell_of(const struct ort_thread *t, const struct ort_doacross *d, uint64_t outer)
{
    if (!d->by_member)
        return &d->cell[outer / d->per_cell];
    uint32_t threads = t->team->n;
    if (d->per_cell != 0)
        return &d->cell[outer / d->per_cell % threads];
    uint64_t q = d->counts[0] / threads, r = d->counts[0] % threads;
    return &d->cell[outer < r * (q + 1) ? outer / (q + 1) : r + (outer - r * (q + 1)) / q];
}

static uint64_t number_of(const struct ort_doacross *d, const uint64_t *position)
{
    uint64_t number = position[0];
    for (unsigned i = 1; i < d->dims; i++)
        number = number * d->counts[i] + position[i];
    return number + 1;
}

unsigned ort_doacross_dims(const struct ort_thread *t)
{
    return t->loop.ws != NULL && t->loop.ws->doacross != NULL ? t->loop.ws->doacross->dims : 0;
}

void ort_doacross_post(struct ort_thread *t, const uint64_t *position)
{
    const struct ort_doacross *d = t->loop.ws->doacross;
    if (d == NULL)
        return;
    _Atomic uint64_t *cell = cell_of(t, d, position[0]);
    ps_race_release(cell);
    ps_store_release(cell, number_of(d, position));
    ee_wake((_Atomic uint32_t *)cell, UINT_MAX);
}

void ort_doacross_wait(struct ort_thread *t, const uint64_t *position)
{
    const struct ort_doacross *d = t->loop.ws->doacross;
    if (d == NULL)
        return;
    _Atomic uint64_t *cell = cell_of(t, d, position[0]);
    uint64_t wanted = number_of(d, position);
    for (uint64_t seen; (seen = ps_load_acquire(cell)) < wanted;)
        ee_wait((_Atomic uint32_t *)cell, (uint32_t)seen);
    ps_race_acquire(cell);
}
