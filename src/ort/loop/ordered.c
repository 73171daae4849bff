/* ordered in loops: the chunks have their turns one after the other. Fields and orderings: workshare.h.
 *
 * `turn` is the first iteration of the chunk whose turn it is. With every schedule the chunks cover the iterations
 * without gaps, so the chunk after [lo, hi) begins at hi. A member passes the turn on when it is done with its chunk
 * and the chunk's turn has come, whether or not it has executed an ordered region.
 * A waiting member sleeps on one of several event words, which its chunk selects. So passing the turn wakes the member
 * concerned, and rarely another. A team with at most as many members as a slot has event words uses the slot's words.
 * Larger teams use words that all teams of the process share: with the slot's few words each turn would wake a fixed
 * part of all members, and a loop would cost the square of their number.
 * An event word only says that a turn has been passed. A member that another team's event has woken finds that its own
 * slot's turn has not come, and sleeps again.
 * OpenMP 5.2 section 15.10.2. */
#include <limits.h>

#include "doacross.h"
#include "ort.h"
#include "race.h"

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15) /* 2^64 / golden ratio: multiplying by it hashes (Knuth) */

static _Atomic uint32_t shared_event[1u << ORT_TURN_EVENT_BITS];

/* Returns the event word for the chunk that begins at iteration lo, in a team of so many members. */
static inline _Atomic uint32_t *event_of(struct ort_workshare *ws, uint32_t members, uint64_t lo)
{
    if (PS_LIKELY(members <= sizeof ws->turn_event / sizeof *ws->turn_event))
        return &ws->turn_event[(lo * GOLDEN) >> 61];
    return &shared_event[((lo + (uintptr_t)ws) * GOLDEN) >> (64 - ORT_TURN_EVENT_BITS)];
}

static inline bool turn_has_come(struct ort_workshare *ws, uint64_t lo)
{
    return PS_UNLIKELY(ort_is_wide(&ws->desc)) ? ps_load_acquire(&ws->wide_turn) == lo
                                               : ps_load_acquire(&ws->turn) == (uintptr_t)lo;
}

void ort_ordered_start(struct ort_thread *t)
{
    const struct ort_loop *loop = ort_loop_or_none(t);
    struct ort_workshare *ws = ort_absent(loop) ? NULL : loop->ws;
    if (ws == NULL || !ws->desc.ordered || !loop->has_chunk || t->team->n == 1)
        return;
    uint64_t lo = loop->lo;
    _Atomic uint32_t *event = event_of(ws, t->team->n, lo);
    for (;;) {
        uint32_t seen = ps_load_acquire(event);
        if (turn_has_come(ws, lo))
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
    if (PS_UNLIKELY(ort_is_wide(&ws->desc)))
        ps_store_release(&ws->wide_turn, hi);
    else
        ps_store_release(&ws->turn, (uintptr_t)hi);
    if (t->team->n == 1 || hi == ws->desc.n)
        return;
    _Atomic uint32_t *event = event_of(ws, t->team->n, hi);
    ps_add_release(event, 1);
    ee_wake(event, UINT_MAX);
}
