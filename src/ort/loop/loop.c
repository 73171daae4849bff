/* Loops: static, dynamic, guided. A runtime loop has the schedule of the ICVs; auto is static, trapezoidal is guided.
 * Slots: workshare.h.
 *
 * In this file iterations are numbers 0 .. n-1; values are computed from them at the very end. So one piece of code
 * serves signed, unsigned, upward and downward loops.
 * static: member `id` has the chunks id, id + threads, ...; without a chunk size each member has one contiguous share.
 * dynamic: fetch-and-add on the slot's `next`; a nonmonotonic loop may claim several chunks at once (batch.h). guided:
 * compare-and-swap on `next`; a chunk is the iterations that are left divided by the number of threads, but at least
 * the chunk size. With checked_add both compare-and-swap `wide`.
 * Cost: a static loop without a slot writes no shared cache line. dynamic takes one read-modify-write for each chunk;
 * for a chunk of a batch, on a line of the member's own. OpenMP 5.2 section 11.5. */
#include "doacross.h"
#include "loop_steps.h"

/* Returns a / b, rounded up. Avoids the division if it can: most loops have b == 1, and a division takes longer than
 * all other steps of a loop's start. */
static uint64_t ceil_div(uint64_t a, uint64_t b) { return b == 1 || a == 0 ? a : (a - 1) / b + 1; }

/* Returns the schedule that the core carries out for `sched`: static, dynamic or guided. */
static uint8_t kind(unsigned sched)
{
    sched &= ~ORT_SCHED_MONOTONIC;
    if (PS_LIKELY(sched < ORT_SCHED_AUTO))
        return (uint8_t)sched;
    return sched == ORT_SCHED_AUTO ? ORT_SCHED_STATIC : ORT_SCHED_GUIDED;
}

struct ort_loop_desc ort_loop_desc_long(long start, long end, long incr, unsigned sched, long chunk)
{
    uint64_t distance, step;
    if (incr > 0) {
        distance = end > start ? (uint64_t)end - (uint64_t)start : 0;
        step = (uint64_t)incr;
    } else {
        distance = end < start ? (uint64_t)start - (uint64_t)end : 0;
        step = 0 - (uint64_t)incr;
    }
    return (struct ort_loop_desc){
        .n = ceil_div(distance, step),
        .start = (uint64_t)start,
        .step = (uint64_t)incr,
        .end = (uint64_t)end,
        .sched = kind(sched),
        .chunk = chunk > 0 && (sched & ~ORT_SCHED_MONOTONIC) != ORT_SCHED_AUTO ? (uint64_t)chunk : 0,
    };
}

struct ort_loop_desc ort_loop_desc_ull(bool up, unsigned long long start, unsigned long long end,
                                       unsigned long long incr, unsigned sched, unsigned long long chunk)
{
    uint64_t n;
    if (up)
        n = end > start ? ceil_div(end - start, incr) : 0;
    else
        n = end < start ? ceil_div(start - end, 0 - incr) : 0;
    return (struct ort_loop_desc){
        .n = n,
        .start = start,
        .step = incr,
        .end = end,
        .sched = kind(sched),
        .chunk = (sched & ~ORT_SCHED_MONOTONIC) != ORT_SCHED_AUTO ? chunk : 0,
    };
}

/* Gets the member's next static chunk: iterations [*a, *b). Returns false if none is left. */
static bool next_static(struct ort_loop *loop, const struct ort_loop_desc *d, uint32_t id, uint32_t threads,
                        uint64_t *a, uint64_t *b)
{
    if (d->chunk != 0 && threads > 1) {
        uint64_t chunks = ceil_div(d->n, d->chunk), c = loop->trip * threads + id;
        if (c >= chunks)
            return false;
        *a = c * d->chunk;
        *b = d->n - *a <= d->chunk ? d->n : *a + d->chunk;
    } else {
        if (loop->trip != 0)
            return false;
        uint64_t q = d->n / threads, r = d->n % threads;
        *a = q * id + (id < r ? id : r);
        *b = *a + q + (id < r);
    }
    loop->trip++;
    return *a != *b;
}

static bool next_dynamic(struct ort_workshare *ws, const struct ort_loop_desc *d, uint64_t *a, uint64_t *b)
{
    *a = ps_add_relaxed(&ws->next, (uintptr_t)d->chunk);
    if (*a >= d->n)
        return false;
    *b = d->n - *a <= d->chunk ? d->n : *a + d->chunk;
    return true;
}

/* Gets iterations [*a, *b) of a dynamic or guided loop with checked_add. Returns false if none is left. */
static bool next_checked(struct ort_workshare *ws, const struct ort_loop_desc *d, uint32_t threads, uint64_t *a,
                         uint64_t *b)
{
    *a = ps_load_relaxed(&ws->wide);
    do {
        uint64_t left = d->n - *a, some = d->chunk;
        if (left == 0)
            return false;
        if (d->sched == ORT_SCHED_GUIDED && (left - 1) / threads >= some)
            some = (left - 1) / threads + 1;
        *b = left <= some ? d->n : *a + some;
    } while (!ps_cas_relaxed(&ws->wide, a, *b));
    return true;
}

/* Waits for the turn of the member's chunk, then passes the turn to the next chunk. */
static void pass_turn(struct ort_thread *t)
{
    ort_ordered_start(t);
    ort_ordered_pass(t);
}

static PS_NOINLINE bool next_chunk(struct ort_thread *t, uint64_t *lo, uint64_t *hi)
{
    struct ort_loop *loop = ort_loop(t);
    const struct ort_loop_desc *d = loop->desc;
    uint32_t threads = t->team->n;
    uint64_t a, b;
    if (PS_UNLIKELY(d->ordered) && loop->has_chunk)
        pass_turn(t);
    bool got;
    switch (d->sched) {
    case ORT_SCHED_DYNAMIC:
        got = PS_UNLIKELY(d->checked_add) ? next_checked(loop->ws, d, threads, &a, &b)
                                          : next_dynamic(loop->ws, d, &a, &b);
        break;
    case ORT_SCHED_GUIDED:
        got = PS_UNLIKELY(d->checked_add) ? next_checked(loop->ws, d, threads, &a, &b)
                                          : ort_chunk_guided(loop->ws, d, threads, &a, &b);
        break;
    default:
        got = next_static(loop, d, t->id, threads, &a, &b);
    }
    loop->has_chunk = got;
    if (!got)
        return false;
    loop->lo = a;
    loop->hi = b;
    *lo = d->start + a * d->step;
    *hi = b == d->n ? d->end : d->start + b * d->step;
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_chunk(t, ORT_CHUNK_LOOP, *lo, b - a);
    return true;
}

PS_NOINLINE bool ort_loop_next_otherwise(struct ort_thread *t, uint64_t *lo, uint64_t *hi)
{
    const struct ort_loop_desc *d = ort_loop(t)->desc;
    if (ort_by_batches(d))
        return ort_loop(t)->uncontended ? ort_next_uncontended(t, d, lo, hi) : ort_batch_next(t, ort_batch(t), lo, hi);
    return d->plain == ORT_PLAIN_GUIDED ? ort_next_plain_guided(ort_loop(t)->ws, d, t->team->n, lo, hi)
                                        : next_chunk(t, lo, hi);
}

bool ort_loop_next(struct ort_thread *t, uint64_t *lo, uint64_t *hi) { return ort_loop_next_inline(t, lo, hi); }

void ort_loop_apply_runtime(const struct ort_thread *t, struct ort_loop_desc *d)
{
    const struct ort_icv *icv = ort_icv(t);
    d->sched = kind(ort_icv_sched(icv));
    d->chunk = (icv->sched & ~ORT_SCHED_MONOTONIC) != ORT_SCHED_AUTO && icv->chunk > 0 ? (uint64_t)icv->chunk : 0;
    d->nonmonotonic &= (icv->sched & ORT_SCHED_MONOTONIC) == 0;
}

bool ort_loop_start(struct ort_thread *t, const struct ort_loop_desc *desc, bool runtime,
                    const struct ort_loop_extra *extra, uint64_t *lo, uint64_t *hi)
{
    struct ort_loop *loop = ort_loop(t);
    if (extra != NULL && extra->reductions != NULL)
        ort_workshare_reduction_start(t);
    if (desc->sched == ORT_SCHED_STATIC && !runtime && !desc->ordered && extra == NULL) {
        ort_ws_static(t, desc);
    } else {
        bool first = ort_ws_enter(t);
        if (first) {
            struct ort_loop_desc d = *desc;
            if (runtime)
                ort_loop_apply_runtime(t, &d);
            ort_ws_describe(loop->ws, &d, t->team->n);
        }
        if (extra != NULL)
            ort_ws_extra(t, extra, first);
        if (first)
            ort_ws_ready(t);
        ort_ws_keep(loop);
    }
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_loop_begins(t, false, loop->desc->n, loop->desc->sched);
    return lo == NULL || ort_loop_next_inline(t, lo, hi);
}

void ort_loop_leave_slot(struct ort_thread *t)
{
    struct ort_loop *loop = ort_loop(t);
    if (loop->desc->ordered && loop->has_chunk)
        pass_turn(t);
    loop->has_chunk = false;
    if (ort_by_batches(loop->desc)) {
        ort_batch_drop(ort_batch(t));
        loop->uncontended = false;
    }
    ort_ws_leave(t);
}

void ort_loop_leave(struct ort_thread *t)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_loop_ends(t);
    if (ort_loop(t)->ws != NULL)
        ort_loop_leave_slot(t);
}

unsigned ort_sections_start(struct ort_thread *t, unsigned n, const struct ort_loop_extra *extra)
{
    if (extra != NULL && extra->reductions != NULL)
        ort_workshare_reduction_start(t);
    bool first = ort_ws_enter(t);
    if (first)
        ort_ws_describe(ort_loop(t)->ws, &(struct ort_loop_desc){.n = n, .sched = ORT_SCHED_DYNAMIC}, t->team->n);
    if (extra != NULL)
        ort_ws_extra(t, extra, first);
    if (first)
        ort_ws_ready(t);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_loop_begins(t, true, n, ORT_SCHED_DYNAMIC);
    return ort_sections_next(t);
}

unsigned ort_sections_next(struct ort_thread *t)
{
    struct ort_workshare *ws = ort_loop(t)->ws;
    uint64_t i = ps_add_relaxed(&ws->next, 1);
    if (PS_UNLIKELY(ort_tool_on()) && i < ws->desc.n)
        ort_tool_section(t);
    return i < ws->desc.n ? (unsigned)i + 1 : 0;
}
