/* Dynamic loops that may be nonmonotonic: a member claims several chunks at once, and idle members take the chunks that
 * it has not begun.
 *
 * Does: hands out the chunks of loops whose slot says ORT_PLAIN_BATCHES. Does not: loops that are monotonic, ordered,
 * small, watched by a tool, or in a team with one vp (no contention there); these take each chunk from the slot's
 * `next` (loop.c).
 * Callers: a member, in the loop; ort_batch_describe its first member, or the parent; ort_batch_reset the parent, no
 * region open.
 *
 * A claim moves the line of `next` to the claimer's processor, 50 to 100 ns; a chunk may be much shorter. So a member
 * claims batches. The first batch is one chunk. As long as no other member claims, batches stay at one chunk (`alone`:
 * the line stays where it is). Else a batch has twice as many chunks as the last one where the last one was short: less
 * than a few such moves of every vp (CLAIM_NS). A batch has half as many where the last one took more than twice that
 * time. Bodies of microseconds are claimed one by one. Towards the loop's end a batch is at most an equal share of half
 * of what is left, unless it is too short to matter.
 *
 * What a member has not begun of its batch stands in its word, {sequence 32 | first 16 | end 16}: chunks first .. end -
 * 1, counted from value `base`.
 *   state     the word      written by                                   a thief that reads it
 *   EMPTY     first == end  the member, or the taker of the last chunk   goes on to the next holder
 *   CLAIMING  first > end   the member alone, while EMPTY                waits: the member is about to claim or to rob,
 *                                                                        and waits for no other meanwhile
 *   HELD      first < end   the member alone, while CLAIMING             may rob
 * While the word is HELD, the owner raises `first` by an addition (a compare-and-swap would wait for the word's load).
 * Thieves lower `end` by compare-and-swap. Both go on until the word is EMPTY. A thief may come between the owner's
 * look and its addition. Then `first` is beyond `end`, which looks like CLAIMING; the owner got nothing and makes the
 * word EMPTY at once. Every CLAIMING has a new sequence. So a swap never succeeds with the base of an older batch: the
 * sequence would have to come back, after 2^32 batches, within one look of one thief. A word is HELD only while its
 * member is in the loop `construct`. A member that leaves a cancelled loop with chunks left drops them; for a cancelled
 * region the parent drops them. So a thief passes over a member that is ahead in another loop (`construct` differs),
 * and a member in no loop is EMPTY.
 *
 * The slot (line of `next`)     written by                                         read by
 *   next                        claims: fetch-and-add                              -
 *   holders                     bit id % 64: set by the member before CLAIMING,    members that look for chunks
 *                               cleared when it is done (up to 64 members)
 *   moves                       thieves: counted before each robbery of more       members that look for chunks
 *                               than one chunk, while CLAIMING
 *   last                        the member that begins the last chunk: exchange    -
 *
 * A member that finds `next` used up looks at the words of all holders, and takes the latter half of the chunks that it
 * finds (rounded up). The member begins the first of these and holds the others itself. If it finds nothing, saw no
 * CLAIMING, and `moves` did not change meanwhile, then all chunks but the loop's last have begun.
 * The last chunk is no part of a batch. The first member that finds nothing else gets the last chunk, and runs nothing
 * after it. Compiled code copies lastprivate variables from the member that has run the last chunk, as it left them.
 *
 * No chunk runs twice and none is lost: batches are disjoint (fetch-and-add), and a chunk leaves a word by exactly one
 * atomic operation; the operation's caller then has the chunk. No member leaves while another holds a chunk that has
 * not begun, which may be behind a long one. Take chunk c, held when member B looks at `moves` first. Its holder X set
 * bit and CLAIMING before it got c: before its release of `next`, which B's last claim acquired, or before it counted
 * the move. In the first case, and where B saw the move, B finds X in `holders`. Then there are three cases. X's word
 * is CLAIMING: B looks again. X's word is HELD: B robs, or fails because another thief made progress, and looks again.
 * Or c is gone by a robbery, which was counted before the robber's release. B acquired the word behind that release, so
 * B sees `moves` changed and looks again, unless the robber took one chunk alone, and has begun it.
 *
 * A body may wait by hand for the iteration before its own (by a flag for each iteration, say). Claims are in order, a
 * member runs what it holds in order, and it robs only when it holds nothing. So the lowest chunk that is not finished
 * is being run, or is what its member takes next, or is what the next claim gets. A body that waits for *later*
 * iterations goes on only while some member is idle, or claims chunks one by one: OpenMP promises it nothing.
 * No way of claiming several at once can do better. Say that member B begins chunk c' while c < c' has not begun and is
 * held by member A, which is in another chunk. Let the bodies of both wait for c. Where chunks begin in order, c has
 * begun before c', and ends. Here all members are in their bodies. A body is a part of the compiled region, between two
 * calls of ours, and no function. So no other member can run c, and neither A nor B can be taken out of the body that
 * it has begun. So chunks must begin in order on all members, and each beginning must see the one before. Such an order
 * takes one line which moves from processor to processor, as claiming one by one does.
 *
 * Ordering: every reader of a word acquires it. HELD and EMPTY are released. A robbery does both: the thief reads the
 * base before its swap, and the owner acquires that swap before it writes the base anew. `next` is acquired by claims
 * and released by those that follow CLAIMING. `moves` is both. Iterations are ordered by nothing of this. Cost: a chunk
 * of a batch is one addition on the member's own line. A claim costs what it did, and a reading of the cycle counter. A
 * robbery costs four atomic operations and three lines. The end of a loop without batches costs two loads more, and an
 * exchange for its last chunk.
 * Failures: none.
 * Rejected: larger claims that no member may split (guided, in effect): a long body holds up the chunks behind it. A
 * share for each member from the start (libomp's static_steal): what waits for the iteration before then waits for
 * whole shares, and idle members rob from the first. OpenMP 5.2 section 11.5.3 and its nonmonotonic modifier. Model:
 * tests/models/batch.pml. */
#ifndef PS_ORT_BATCH_H
#define PS_ORT_BATCH_H

#include "atomic.h"
#include "compiler.h"

struct ort_team;
struct ort_thread;
struct ort_workshare;

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
    uint64_t seen;   /* what that got */
};

#define ORT_BATCH_FIRST (UINT64_C(1) << 16)
static inline uint32_t ort_batch_first(uint64_t word) { return (uint32_t)word >> 16; }
static inline uint32_t ort_batch_end(uint64_t word) { return (uint32_t)word & 0xffff; }

/* The next chunk, where the caller's word is EMPTY: of a new batch, or another member's. false: none is left.
 * [switches] */
bool ort_batch_refill(struct ort_thread *t, struct ort_batch *own, uint64_t *lo, uint64_t *hi);
/* The same, where a claim of the caller's has found `next` used up. */
bool ort_batch_used_up(struct ort_thread *t, struct ort_batch *own, uint64_t *lo, uint64_t *hi);

/* The caller's next chunk, as values. [switches] */
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

/* The slot's description is complete, its n at least ORT_BATCH_LEAST chunks a member: makes it one of batches where
 * that can pay. */
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

/* While the runtime starts: the cycle counter is compared with the time from here on. */
void ort_batch_init(void);

#endif
