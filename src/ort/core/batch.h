/* Dynamic loops that may be nonmonotonic: a member claims several chunks at once, and idle members take the chunks that
 * it has not begun.
 *
 * Does: hands out the chunks of loops whose slot says ORT_PLAIN_BATCHES. Does not: loops that are monotonic, ordered,
 * small, watched by a tool, or in a team with one vp (no contention there); these take each chunk from the slot's
 * `next` (loop.c).
 * Callers: a member, in the loop. Of ort_batch_describe: the loop's first member, or the parent. Of ort_batch_reset:
 * the parent, with no region open.
 *
 * Invariants: each chunk is begun once. No member leaves the loop while another holds a chunk that has not begun. A
 * member runs what it holds in order, and robs (takes chunks that another member holds) only when it holds nothing.
 * States, orderings and proof: tests/models/batch.md; the model is batch.pml beside it.
 *
 * Cost: a chunk of a batch is one addition on the member's own line. A claim is one addition on the line of `next`, and
 * a reading of the cycle counter. A robbery costs four atomic operations and three lines. The end of a loop in which no
 * member holds a batch costs a member four loads, and an exchange while the last chunk is not taken. Failures: none.
 * OpenMP 5.2 section 11.5.3 and its nonmonotonic modifier. */
#ifndef PS_ORT_BATCH_H
#define PS_ORT_BATCH_H

#include "atomic.h"
#include "compiler.h"

struct ort_team;
struct ort_thread;
struct ort_workshare;

#ifndef ORT_BATCHES /* 0: a target without data caches, where a claim moves no line; batch.c is left out */
#define ORT_BATCHES 1
#endif

/* In each ort_thread, a line of its own. Zeroed memory is its initial state. */
struct ort_batch {
    PS_LINE_ALIGNED _Atomic uint64_t word; /* (shared) */
    _Atomic uint64_t base;                 /* (shared) where chunk 0 of the word's begins */
    _Atomic uint32_t construct;            /* (shared) the loop's, as in ws_seq */
    /* The member's own: */
    uint8_t shift;   /* it claims 1 << shift chunks */
    uint8_t state;   /* how far it is in the loop (batch.c) */
    bool shown;      /* its bit is set */
    uint64_t stride; /* from a chunk's first value to the next one's */
    uint64_t since;  /* cpu_cycles at its last claim */
    uint64_t seen;   /* what `next` was at that claim */
};

#define ORT_BATCH_FIRST (UINT64_C(1) << 16)
static inline uint32_t ort_batch_first(uint64_t word) { return (uint32_t)word >> 16; }
static inline uint32_t ort_batch_end(uint64_t word) { return (uint32_t)word & 0xffff; }

/* Gets the next chunk, where the caller's word is EMPTY: from a new batch, or from another member's. false: none is
 * left. [switches] */
bool ort_batch_refill(struct ort_thread *t, struct ort_batch *own, uint64_t *lo, uint64_t *hi);
/* As ort_batch_refill, where a claim of the caller's has found `next` used up. */
bool ort_batch_used_up(struct ort_thread *t, struct ort_batch *own, uint64_t *lo, uint64_t *hi);

/* Gets the caller's next chunk, as values. [switches] */
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

/* Makes the slot one of batches where that can pay. Its description is complete, with an n of at least ORT_BATCH_LEAST
 * chunks a member. */
#define ORT_BATCH_LEAST 4
void ort_batch_describe(struct ort_workshare *ws, unsigned threads);

/* The member leaves the loop: what it still holds is dropped. */
void ort_batch_drop_slow(struct ort_batch *own);
static inline void ort_batch_drop(struct ort_batch *own)
{
    uint64_t word = ps_load_relaxed(&own->word);
    if (PS_UNLIKELY(ort_batch_first(word) != ort_batch_end(word)))
        ort_batch_drop_slow(own);
}

/* After a cancelled region: no member holds anything. */
void ort_batch_reset(struct ort_team *team);

/* Called while the runtime starts: from here on the cycle counter is compared with the time. */
void ort_batch_init(void);

#endif
