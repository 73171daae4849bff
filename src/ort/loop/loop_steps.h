/* How a member claims a chunk of a plain loop (workshare.h): inline functions for loop.c and for entry points.
 *
 * Callers: a member in the loop; [ort_next_uncontended and ort_loop_next_inline switch]. A chunk is returned as its
 * first value *lo and the value after its last, *hi. Each function returns false if no chunk is left. Cost of a chunk:
 * one read-modify-write, more if compare-and-swaps fail. Orderings: workshare.h, batch.h. */
#ifndef PS_ORT_LOOP_STEPS_H
#define PS_ORT_LOOP_STEPS_H

#include "batch.h"
#include "ort.h"

static PS_ALWAYS_INLINE bool ort_next_plain_dynamic(struct ort_workshare *ws, const struct ort_loop_desc *d,
                                                    uint64_t *lo, uint64_t *hi)
{
    uintptr_t chunk = (uintptr_t)d->chunk, n = (uintptr_t)d->n, a = ps_add_relaxed(&ws->next, chunk);
    if (PS_UNLIKELY(a >= n))
        return false;
    uint64_t first = d->start + a * d->step, reach = ORT_MEMBERS_APART ? chunk * d->step : ws->reach;
    *lo = first;
    *hi = PS_UNLIKELY(n - a <= chunk) ? d->end : first + reach;
    return true;
}

/* Gets iterations [*a, *b) of a guided loop that is not wide; the loop need not be plain. */
static PS_ALWAYS_INLINE bool ort_chunk_guided(struct ort_workshare *ws, const struct ort_loop_desc *d, uint32_t threads,
                                              uint64_t *a, uint64_t *b)
{
    uintptr_t n = (uintptr_t)d->n, least = (uintptr_t)d->chunk, from = ps_load_relaxed(&ws->next), end;
    do {
        uintptr_t left = n - from;
        if (left == 0)
            return false;
        uintptr_t q = (left - 1) / threads + 1;
        if (q < least)
            q = least;
        end = left <= q ? n : from + q;
    } while (!ps_cas_relaxed(&ws->next, &from, end));
    *a = from;
    *b = end;
    return true;
}

static PS_ALWAYS_INLINE bool ort_next_plain_guided(struct ort_workshare *ws, const struct ort_loop_desc *d,
                                                   uint32_t threads, uint64_t *lo, uint64_t *hi)
{
    uint64_t a, b;
    if (!ort_chunk_guided(ws, d, threads, &a, &b))
        return false;
    *lo = d->start + a * d->step;
    *hi = b == d->n ? d->end : d->start + b * d->step;
    return true;
}

/* Called while loop->uncontended is true: claims one chunk of a loop by batches. Returns false if the claim has reached
 * the loop's last chunk; the caller then calls ort_batch_used_up. Clears loop->uncontended if another member has
 * claimed since the caller's last claim. */
static PS_ALWAYS_INLINE bool ort_claim_uncontended(struct ort_loop *loop, struct ort_batch *own,
                                                   const struct ort_loop_desc *d, uint64_t *lo)
{
    struct ort_workshare *ws = loop->ws;
    uint64_t chunk = d->chunk, at = ps_add_acquire(&ws->next, chunk);
    if (PS_UNLIKELY(at != own->seen + chunk))
        loop->uncontended = false;
    own->seen = at;
    if (PS_UNLIKELY(at >= ws->batched))
        return false;
    *lo = d->start + at * d->step;
    return true;
}

static PS_ALWAYS_INLINE bool ort_next_uncontended(struct ort_thread *t, const struct ort_loop_desc *d, uint64_t *lo,
                                                  uint64_t *hi)
{
    struct ort_batch *own = ort_batch(t);
    if (!ort_claim_uncontended(ort_loop(t), own, d, lo))
        return ort_batch_used_up(t, own, lo, hi);
    *hi = *lo + own->stride;
    return true;
}

/* Does what ort_loop_next does, with the claim of a plain dynamic loop inline. */
static PS_ALWAYS_INLINE bool ort_loop_next_inline(struct ort_thread *t, uint64_t *lo, uint64_t *hi)
{
    const struct ort_loop *loop = ort_loop_begun(t);
    return PS_LIKELY(loop->desc->plain == ORT_PLAIN_DYNAMIC) ? ort_next_plain_dynamic(loop->ws, loop->desc, lo, hi)
                                                             : ort_loop_next_otherwise(t, lo, hi);
}

#endif
