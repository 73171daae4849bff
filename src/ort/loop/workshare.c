/* The slots of a team's ring, and the single construct. Protocol and orderings: workshare.h. */
#include "workshare.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "check.h"
#include "doacross.h"
#include "emergency_pool.h"
#include "ort.h"

enum { FREE, SETUP, READY };

/* Returns the value of a slot's phase for construct s and one of the states above. */
static inline uint32_t phase(uint32_t s, unsigned state) { return 4 * s + state; }

void ort_ws_reset(struct ort_team *team, uint32_t base)
{
    for (uint32_t s = base; ort_has_slots(team) && s != base + ORT_WS_RING; s++) {
        struct ort_workshare *ws = ort_slot(team, s);
        ort_doacross_free(ws);
        ps_store_relaxed(&ws->left, 0);
        ps_store_relaxed(&ws->phase, phase(s, FREE));
    }
    if (ORT_BATCHES)
        ort_batch_reset(team);
    team->ws_base = base;
}

void ort_ws_open(struct ort_workshare *ring)
{
    for (uint32_t s = 0; s < ORT_WS_RING; s++)
        ps_store_relaxed(&ring[s].phase, phase(s, FREE));
}

void ort_ws_fini(struct ort_team *team)
{
    for (uint32_t s = 0; ort_has_slots(team) && s < ORT_WS_RING; s++) {
        struct ort_workshare *ws = ort_slot(team, s);
        ort_doacross_free(ws);
        ort_mem_free(ws->mem);
    }
    ort_store_give(team);
}

void ort_ws_static(struct ort_thread *t, const struct ort_loop_desc *desc)
{
    struct ort_loop *loop = ort_loop(t);
    ort_loop_abandon(t);
    loop->ws = NULL;
    loop->own = *desc;
    loop->desc = &loop->own;
    loop->trip = 0;
    loop->has_chunk = false;
}

bool ort_ws_enter(struct ort_thread *t)
{
    ort_loop_abandon(t);
    uint32_t s = t->ws_seq++;
    struct ort_workshare *ws = ort_slot(t->team, s);
    struct ort_loop *loop = ort_loop(t);
    loop->ws = ws;
    loop->desc = &ws->desc;
    loop->trip = 0;
    loop->has_chunk = false;
    loop->uncontended = false;
    for (;;) {
        uint32_t seen = ps_load_acquire(&ws->phase);
        if (seen == phase(s, READY))
            return false;
        if (seen == phase(s, FREE)) {
            if (ps_cas_acquire(&ws->phase, &seen, phase(s, SETUP)))
                return true;
            continue;
        }
        /* A slow member is still in the construct that had the slot before, or this construct's first member has not
         * described the work yet. */
        ee_wait(&ws->phase, seen);
    }
}

void ort_ws_ready(struct ort_thread *t)
{
    struct ort_workshare *ws = ort_loop(t)->ws;
    ps_store_release(&ws->phase, phase(t->ws_seq - 1, READY));
    if (t->team->n > 1)
        ee_wake(&ws->phase, UINT_MAX);
}

void ort_ws_leave(struct ort_thread *t)
{
    struct ort_workshare *ws = ort_loop(t)->ws;
    uint32_t n = t->team->n;
    ort_loop(t)->ws = NULL;
    if (n > 1 && ps_add_acq_rel(&ws->left, 1) + 1 != n)
        return;
    ort_doacross_free(ws);
    ps_store_relaxed(&ws->left, 0);
    ps_store_release(&ws->phase, phase(t->ws_seq - 1 + ORT_WS_RING, FREE));
    if (n > 1)
        ee_wake(&ws->phase, UINT_MAX);
}

void ort_ws_describe(struct ort_workshare *ws, const struct ort_loop_desc *desc, unsigned threads)
{
    uintptr_t claim;
    ws->desc = *desc;
    if (ws->desc.chunk == 0 && desc->sched != ORT_SCHED_STATIC && desc->sched != ORT_SCHED_AUTO)
        ws->desc.chunk = 1;
    ws->desc.checked_add = __builtin_mul_overflow(ws->desc.chunk, (uint64_t)threads + 1, &claim) ||
                           __builtin_add_overflow(claim, desc->n, &claim);
    ws->desc.plain = ORT_PLAIN_NOT;
    if (PS_LIKELY(!desc->ordered && !ort_tool_on())) {
        if (desc->sched == ORT_SCHED_DYNAMIC) {
            ws->reach = ws->desc.chunk * desc->step;
            ws->desc.plain =
                ws->desc.checked_add || (intptr_t)claim < 0 || desc->units ? ORT_PLAIN_NOT : ORT_PLAIN_DYNAMIC;
            if (ORT_BATCHES && desc->nonmonotonic && ws->desc.plain &&
                desc->n / ORT_BATCH_LEAST >= ws->desc.chunk * threads)
                ort_batch_describe(ws, threads);
        } else if (desc->sched == ORT_SCHED_GUIDED && !ort_is_wide(&ws->desc)) {
            ws->desc.plain = ORT_PLAIN_GUIDED;
        }
    }
    *(uint64_t *)&ws->wide = 0; /* plain stores: no other member uses the slot's fields yet */
    *(uint64_t *)&ws->wide_turn = 0;
}

uint8_t ort_ws_prepare(struct ort_team *team, const struct ort_loop_desc *desc)
{
    uint32_t s = team->ws_base;
    if (desc->sched == ORT_SCHED_STATIC && !desc->ordered) {
        *ort_static_loop(team) = *desc;
        return ORT_BEGINS_IN_STATIC;
    }
    struct ort_workshare *ws = ort_slot(team, s);
    ort_ws_describe(ws, desc, team->n);
    ps_store_relaxed(&ws->phase, phase(s, READY));
    return ORT_BEGINS_IN_SLOT;
}

const struct ort_loop_desc *ort_ws_begun_in(struct ort_team *team)
{
    return team->begins_in == ORT_BEGINS_IN_STATIC ? ort_static_loop(team) : &ort_slot(team, team->ws_base)->desc;
}

void ort_ws_begin_in(struct ort_thread *t)
{
    if (t->team->begins_in == ORT_BEGINS_IN_STATIC) {
        ort_ws_static(t, ort_static_loop(t->team));
        return;
    }
    uint32_t s = t->ws_seq++;
    struct ort_loop *loop = ort_loop(t);
    loop->ws = ort_slot(t->team, s);
    loop->desc = &loop->ws->desc;
    ort_ws_keep(loop);
    loop->trip = 0;
    loop->has_chunk = false;
    loop->uncontended = false;
}

void ort_ws_extra(struct ort_thread *t, const struct ort_loop_extra *extra, bool first)
{
    struct ort_workshare *ws = ort_loop(t)->ws;
    if (extra->reductions != NULL) {
        ort_workshare_reduction_register(t, extra->reductions, first ? NULL : ws->reductions);
        if (first)
            ws->reductions = extra->reductions;
    }
    if (extra->mem == NULL)
        return;
    if (first) {
        size_t bytes = (size_t)(uintptr_t)*extra->mem;
        ort_mem_free(ws->mem);
        ws->mem = ort_mem_zeroed(bytes);
        PS_CHECK(ws->mem != NULL, "no memory for a work-sharing construct (%zu bytes)", bytes);
    }
    *extra->mem = ws->mem;
}

void ort_scope_start(struct ort_thread *t, uintptr_t *reductions)
{
    struct ort_loop_extra extra = {.reductions = reductions};
    ort_workshare_reduction_start(t);
    bool first = ort_ws_enter(t);
    ort_ws_extra(t, &extra, first);
    if (first)
        ort_ws_ready(t);
    ort_ws_leave(t);
}

/* In a team of up to FEW members the first access to team->single most likely misses the cache. So ort_single tries the
 * compare-and-swap at once, which fetches the line for writing. In larger teams a load comes first, so that most
 * members do not take the line away from the others. */
#define FEW 4

bool ort_single(struct ort_thread *t)
{
    struct ort_team *team = t->team;
    uint32_t s = t->single_seq++, n = team->n;
    if (n == 1) {
        ps_store_relaxed(&team->single, s + 1);
        return true;
    }
    return (n <= FEW || ps_load_relaxed(&team->single) == s) && ps_cas_relaxed(&team->single, &(uint32_t){s}, s + 1);
}

void *ort_single_copy_start(struct ort_thread *t)
{
    if (ort_single(t))
        return NULL;
    ort_barrier(t);
    return t->team->copyprivate;
}

void ort_single_copy_end(struct ort_thread *t, void *data)
{
    t->team->copyprivate = data;
    ort_barrier(t);
}
