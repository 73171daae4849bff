/* Batches of a dynamic loop's chunks, for loops that may be nonmonotonic: a member claims several chunks at once, and
 * idle members take over the chunks that it has not begun.
 *
 * Does: hands out the chunks of loops whose slot says ORT_PLAIN_BATCHES. Does not: handle loops that are monotonic,
 * ordered, short or watched by a tool, or have 2^42 iterations and more. Nor does it handle loops of a team of one or
 * on one vp, where nothing contends, or loops that begin less than 50 us after the library was loaded. Members take
 * each chunk of those loops from the slot's `next` (loop.c).
 * Callers: a member that is in the loop. Exceptions: ort_batch_describe is called by the loop's first member or by the
 * parent, ort_batch_reset by the parent while no region is open.
 *
 * Invariants: each chunk is begun once. No member leaves the loop while another member holds a chunk that has not
 * begun, unless the loop is cancelled. A member runs the chunks that it holds in order. It robs, that is, takes chunks
 * that another member holds, only when it holds none itself. States, orderings and proof are in tests/models/batch.md;
 * the model is batch.pml beside it.
 *
 * Cost: a chunk of a batch is one addition on the member's own cache line. A claim is one addition on the line of
 * `next`; each claim but a member's first in the loop also reads the cycle counter. A robbery touches three cache
 * lines: the robber's, the victim's and the slot's. In a loop in which no member holds a batch, the end costs each
 * member four loads, and also an exchange if the last chunk is not taken yet. Failures: none.
 * OpenMP 5.2 section 11.5.3 and its nonmonotonic modifier. */
#ifndef PS_ORT_BATCH_H
#define PS_ORT_BATCH_H

#include "atomic.h"
#include "compiler.h"

struct ort_team;
struct ort_thread;
struct ort_workshare;

/* A target without data caches defines it as 0 and leaves batch.c out: there a claim moves no cache line. */
#ifndef ORT_BATCHES
#define ORT_BATCHES 1
#endif

/* Part of each ort_thread, on a cache line of its own. Zeroed memory is its initial state. Every member may access the
 * fields marked (shared); only the member itself accesses the others. */
struct ort_batch {
    /* (shared) the chunks that the member holds: {sequence 32 | first 16 | end 16}, see batch.md */
    PS_LINE_ALIGNED _Atomic uint64_t word;
    /* (shared) the loop's value at which chunk 0 of the batch in `word` begins; only the member writes it */
    _Atomic uint64_t base;
    /* (shared) number of the loop that the batch belongs to, as in ws_seq; only the member writes it */
    _Atomic uint32_t construct;
    /* Not shared: */
    uint8_t shift;   /* the member's last claim was for 1 << shift chunks */
    uint8_t state;   /* CLAIMS, ROBS or DONE (batch.c): how far the member is in the loop */
    bool shown;      /* true: the member's bit in the slot's `holders` is set for this loop */
    uint64_t stride; /* distance between the first values of two consecutive chunks */
    uint64_t since;  /* cpu_cycles at the member's last claim */
    uint64_t seen;   /* the value that `next` had at that claim */
};

#define ORT_BATCH_FIRST (UINT64_C(1) << 16)
static inline uint32_t ort_batch_first(uint64_t word) { return (uint32_t)word >> 16; }
static inline uint32_t ort_batch_end(uint64_t word) { return (uint32_t)word & 0xffff; }

/* Gets the next chunk for a caller that holds none: from a new claim, or from another member's word. Sets *lo and *hi
 * as ort_batch_next does. Returns false if no chunk is left. [switches] */
bool ort_batch_refill(struct ort_thread *t, struct ort_batch *own, uint64_t *lo, uint64_t *hi);
/* Does what ort_batch_refill does, for a caller that has found that `next` has reached the last chunk. So it robs, and
 * then tries to get the last chunk. [switches] */
bool ort_batch_used_up(struct ort_thread *t, struct ort_batch *own, uint64_t *lo, uint64_t *hi);

/* Gets the caller's next chunk: values *lo to *hi (exclusive). Returns false if no chunk is left. [switches] */
static inline bool ort_batch_next(struct ort_thread *t, struct ort_batch *own, uint64_t *lo, uint64_t *hi)
{
    uint64_t word = ps_load_acquire(&own->word);
    if (ort_batch_first(word) >= ort_batch_end(word))
        return ort_batch_refill(t, own, lo, hi);
    word = ps_add_acquire(&own->word, ORT_BATCH_FIRST);
    if (PS_UNLIKELY(ort_batch_first(word) >= ort_batch_end(word)))
        return ort_batch_refill(t, own, lo, hi);
    uint64_t from = ps_load_relaxed(&own->base) + ort_batch_first(word) * own->stride;
    *lo = from;
    *hi = from + own->stride;
    return true;
}

/* Sets ws->desc.plain to ORT_PLAIN_BATCHES, and the slot's fields for batches, if batches can pay; otherwise changes
 * nothing. Batches cannot pay in a team of one, on one vp, or with 2^42 iterations and more; nor before the cycle
 * counter's frequency is known. The caller has filled in the rest of the description. The loop has at least
 * ORT_BATCH_LEAST chunks for each of the `threads` members. */
#define ORT_BATCH_LEAST 4
void ort_batch_describe(struct ort_workshare *ws, unsigned threads);

/* ort_batch_drop drops the chunks that the member still holds; it may hold some after a cancellation. Called by a
 * member that leaves the loop, and by ort_batch_reset. ort_batch_drop_slow is the part of it for a member that holds
 * some. */
void ort_batch_drop_slow(struct ort_batch *own);
static inline void ort_batch_drop(struct ort_batch *own)
{
    uint64_t word = ps_load_relaxed(&own->word);
    if (PS_UNLIKELY(ort_batch_first(word) != ort_batch_end(word)))
        ort_batch_drop_slow(own);
}

/* Called by the parent for a new block and after a cancelled region (ort_ws_reset): drops the chunks that the members
 * of `team` still hold. */
void ort_batch_reset(struct ort_team *team);

/* Called once, while the library is loaded: notes the cycle counter and the time, so that a later call can compute the
 * counter's frequency. */
void ort_batch_init(void);

#endif
