/* ordered in loops: chunks have their turn one after the other. Fields and orderings: workshare.h.
 *
 * `turn` is the first iteration of the chunk whose turn it is. Chunks tile the iterations whatever the schedule. So the
 * chunk behind [lo, hi) is the one that begins at hi. A member passes the turn when it is done with its chunk and its
 * own turn has come. It does so whether or not it has executed an ordered region. A member that waits sleeps on one of
 * a few event words, chosen by its chunk. So passing the turn wakes the one member concerned and rarely another.
 * OpenMP 5.2 section 15.10.1. */
#include <limits.h>

#include "doacross.h"
#include "ort.h"
#include "race.h"

static inline _Atomic uint32_t *event_of(struct ort_workshare *ws, uint64_t lo)
{
    return &ws->turn_event[(lo * UINT64_C(0x9E3779B97F4A7C15)) >> 61];
}

void ort_ordered_start(struct ort_thread *t)
{
    const struct ort_loop *loop = ort_loop_or_none(t);
    struct ort_workshare *ws = ort_absent(loop) ? NULL : loop->ws;
    if (ws == NULL || !ws->desc.ordered || !loop->has_chunk || t->team->n == 1)
        return;
    uint64_t lo = loop->lo;
    _Atomic uint32_t *event = event_of(ws, lo);
    for (;;) {
        uint32_t seen = ps_load_acquire(event);
        if (ps_load_acquire(&ws->turn) == lo)
            break;
        ee_wait(event, seen);
    }
    ps_race_acquire(&ws->turn);
}

void ort_ordered_pass(struct ort_thread *t)
{
    struct ort_workshare *ws = ort_loop(t)->ws;
    uint64_t hi = ort_loop(t)->hi;
    ort_loop(t)->has_chunk = false;
    ps_race_release(&ws->turn);
    ps_store_release(&ws->turn, hi);
    if (t->team->n == 1 || hi == ws->desc.n)
        return;
    _Atomic uint32_t *event = event_of(ws, hi);
    ps_add_release(event, 1);
    ee_wake(event, UINT_MAX);
}
