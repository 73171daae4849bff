/* Work-sharing: the slots of a team's ring; loops and sections, which hand out work from a slot; ordered, doacross,
 * single.
 *
 * A construct that needs state shared by the team takes the next of ORT_WS_RING slots. Each member counts such
 * constructs in ws_seq. All members meet the same constructs in the same order, so construct number s is in slot s %
 * ORT_WS_RING for every member. A member may be up to ORT_WS_RING nowait constructs ahead of the slowest member. A
 * static loop needs no slot, unless it is ordered, has its schedule from the ICVs, or comes with an ort_loop_extra.
 *
 * States of a slot, in `phase`, for construct number s (4 s + state, modulo 2^32):
 *   FREE  -- the first member: compare-and-swap --> SETUP
 *   SETUP -- the first member has stored the description --> READY
 *   READY -- the last member leaves --> FREE of s + ORT_WS_RING
 * A member that finds its slot in SETUP, or still in use by an older construct, waits for the next state (ee_wait on
 * phase).
 *
 * Ordering: READY is a release store, or a store before the fork. A reader's acquire load of it makes `desc` visible.
 * Leaving is an acq_rel addition to `left`, so the last member has seen that all others are done before it stores FREE
 * (release) for the next use. `next` is relaxed, because a loop's iterations are not ordered; claims of batches are the
 * exception (batch.h). `turn` is a release store by the member that passes it on, and an acquire load by the member
 * that waits for it: so ordered regions happen one after the other.
 * Failures: the program ends with one line if there is no memory for a doacross loop, or for `mem`.
 * Rejected: a list of work shares allocated at need (libgomp), which takes a lock and a pointer chase where a counter
 * is enough. OpenMP 5.2 chapter 11; section 15.10 (ordered, doacross). */
#ifndef PS_ORT_WORKSHARE_H
#define PS_ORT_WORKSHARE_H

#include "atomic.h"
#include "batch.h"
#include "compiler.h"

struct ort_thread;
struct ort_team;

#ifndef ORT_WS_RING /* a power of two; a target with little memory defines a smaller one */
#define ORT_WS_RING 8
#endif
#ifndef ORT_TURN_EVENT_BITS /* large teams wait for their turn on 2^ORT_TURN_EVENT_BITS words (ordered.c) */
#define ORT_TURN_EVENT_BITS 12
#endif

/* A loop. Its iterations are numbered 0 .. n-1. Iteration i has the value start + i * step, modulo 2^64, for signed and
 * unsigned loops alike. */
struct ort_loop_desc {
    uint64_t n, start, step;
    uint64_t chunk; /* iterations in a chunk; 0: not given */
    uint64_t end;   /* the program's bound of the loop, which entry points get as the end of the last chunk */
    uint8_t sched;  /* enum ort_sched */
    bool ordered;
    bool nonmonotonic; /* the chunks that a member gets need not be in ascending order */
    bool checked_add;  /* next + chunk * threads may overflow: members claim by compare-and-swap */
    /* Set by entry points. true: one iteration here stands for several of the program's. Such a loop is never
     * ORT_PLAIN_DYNAMIC. */
    bool units;
    uint8_t plain; /* ORT_PLAIN_...; ort_ws_describe chooses it */
};

/* How the chunks of a plain loop are claimed. A plain loop is not ordered, and no tool listens, so the runtime need not
 * know afterwards which chunk a member had. A plain dynamic loop also has no checked_add, and `next` stays below the
 * sign bit. BATCHES: a dynamic loop whose chunks are claimed as in batch.h. */
enum { ORT_PLAIN_NOT, ORT_PLAIN_DYNAMIC, ORT_PLAIN_GUIDED, ORT_PLAIN_BATCHES };

/* Returns whether the chunks are claimed as in batch.h. */
static inline bool ort_by_batches(const struct ort_loop_desc *d)
{
    return ORT_BATCHES && d->plain == ORT_PLAIN_BATCHES;
}

struct ort_doacross;

/* A slot. The construct's first member writes desc, mem, reductions, doacross, and what follows up to `batched`, while
 * the slot is in SETUP; all members read these fields while it is READY. For a combined construct the parent writes
 * them before the fork, without mem, reductions and doacross. tests/models/batch.md describes holders, moves and
 * last. */
struct ort_workshare {
    PS_LINE_ALIGNED _Atomic uint32_t phase;
    struct ort_loop_desc desc; /* sections: n is the number of sections, and step is 0 */
    /* Memory that the compiler asked for (`mem` of GOMP_loop_start). The slot keeps it until the next construct
     * in the slot that asks for memory. */
    void *mem;
    uintptr_t *reductions; /* construct with task reductions: the block that the first member registered */
    struct ort_doacross *doacross;
    uint64_t reach; /* plain dynamic: distance from a chunk's first value to the value behind its last */
    /* batches: 2 * chunk * the number of members or of vps, whichever is smaller. A batch of 2^k chunks is claimed only
     * while at least 2^k * share iterations are left; very short chunks are the exception (next_shift in batch.c). */
    uint64_t share;
    uint64_t quantum; /* batches: in cycles; after a batch that took less time a member claims twice as many chunks */
    uint64_t batched; /* batches: number of the iterations before the last chunk */
    union {           /* number of the first iteration (or section) that no member has claimed; all members raise it */
        PS_LINE_ALIGNED _Atomic uintptr_t next; /* by fetch-and-add, or by compare-and-swap */
        _Atomic uint64_t wide;                  /* used instead with checked_add: by compare-and-swap */
    };
    _Atomic uint64_t holders; /* batches: bits of the members that may hold chunks */
    _Atomic uint32_t moves, last;
    _Atomic uint32_t left; /* number of the members that have left; the last one sets it to 0 */
    /* ordered: the first iteration of the chunk whose turn it is; written by the member that has the turn */
    union {
        PS_LINE_ALIGNED _Atomic uintptr_t turn;
        _Atomic uint64_t wide_turn; /* used instead in a wide loop */
    };
    /* Words that count turns. A waiting member of a small team sleeps on the word that its chunk selects
     * (ordered.c). */
    _Atomic uint32_t turn_event[8];
};
/* Returns whether the loop uses `wide` and `wide_turn`, because its numbers do not fit into the processor's atomic
 * words. */
static inline bool ort_is_wide(const struct ort_loop_desc *d)
{
    return sizeof(uintptr_t) < sizeof(uint64_t) && d->checked_add;
}

/* A member's place in the loop or sections that it is in. Only the member uses it. */
struct ort_loop {
    struct ort_workshare *ws; /* NULL: the member is in no loop, or in a static loop without a slot */
    /* true: the member has the chunk [lo, hi). The field is on the cache line of ws, because each region's begin writes
     * both. */
    bool has_chunk;
    /* loop by batches, true: this member has made all claims of the loop so far, as its last claim has shown */
    bool uncontended;
    const struct ort_loop_desc *desc; /* the slot's desc, or `own` */
    struct ort_loop_desc own;
    uint64_t trip;   /* static: number of this member's next chunk; batches: 0 until its first claim, then 1 */
    uint64_t lo, hi; /* the iterations of the chunk that the member has; not kept in a plain loop */
    uint64_t
        /* Set and read by entry points: how many of the program's iterations one iteration stands for; 1, or those of a
         * vector. */
        unit;
};

/* ort_ws_enter enters the next construct that needs a slot. Returns true to the construct's first member, which must
 * describe the work in the slot and then call ort_ws_ready. Returns false to the other members, once the slot is READY.
 * [switches] */
bool ort_ws_enter(struct ort_thread *t);
void ort_ws_ready(struct ort_thread *t);
/* The caller leaves its slot. The last member of the team to leave frees the slot for a later construct. */
void ort_ws_leave(struct ort_thread *t);
/* Called by the parent before it opens a region for a combined construct: stores the loop or sections in the team's
 * first slot, or, if no slot is needed, in ort_static_loop. Returns ORT_BEGINS_IN_... */
uint8_t ort_ws_prepare(struct ort_team *team, const struct ort_loop_desc *desc);
/* Returns the loop that ort_ws_prepare has stored. */
const struct ort_loop_desc *ort_ws_begun_in(struct ort_team *team);
/* Called by a member: begins a static loop without a slot. */
void ort_ws_static(struct ort_thread *t, const struct ort_loop_desc *desc);
/* Called by a member when it begins, in a region of a combined construct: enters the loop that ort_ws_prepare has
 * stored. */
void ort_ws_begin_in(struct ort_thread *t);
/* Frees what a team block's slots hold; with members apart, the slots too. Called before the block is freed. */
void ort_ws_fini(struct ort_team *team);
/* Called by the parent for a new block and after a cancelled region: frees the doacross state of the slots, drops the
 * members' chunks, and makes all slots FREE for the constructs from `base` on. Stores `base` as ws_base. */
void ort_ws_reset(struct ort_team *team, uint32_t base);
/* Makes zeroed slots FREE for constructs 0 .. ORT_WS_RING - 1. No member uses them yet. */
void ort_ws_open(struct ort_workshare *ring);

/* For this room's files. Called by the construct's first member, or by the parent: stores the loop in the slot, and
 * chooses how its chunks are claimed. */
void ort_ws_describe(struct ort_workshare *ws, const struct ort_loop_desc *desc, unsigned threads);
struct ort_loop_extra;
/* Called by every member after ort_ws_enter, if the construct has an ort_loop_extra: registers its task reductions, and
 * gives it the slot's memory. The first member calls it before ort_ws_ready. */
void ort_ws_extra(struct ort_thread *t, const struct ort_loop_extra *extra, bool first);

/* Return a description of a loop from start to end (exclusive) by incr, over `long` or over unsigned long long. up: the
 * loop counts upwards. */
struct ort_loop_desc ort_loop_desc_long(long start, long end, long incr, unsigned sched, long chunk);
struct ort_loop_desc ort_loop_desc_ull(bool up, unsigned long long start, unsigned long long end,
                                       unsigned long long incr, unsigned sched, unsigned long long chunk);

/* Replaces the schedule and chunk size of *d by those of t's ICVs. A monotonic schedule also clears d->nonmonotonic. */
void ort_loop_apply_runtime(const struct ort_thread *t, struct ort_loop_desc *d);

/* What entry points pass with a construct: memory that the compiler asks for, and task reductions. */
struct ort_loop_extra {
    uintptr_t *reductions; /* NULL: none */
    /* The caller stores the size in *mem, and ort_ws_extra replaces it by the memory's address; NULL: none is asked
     * for. */
    void **mem;
};

/* Begins a loop. runtime: the schedule is that of the ICVs. If lo != NULL, gets the first chunk, values *lo to *hi
 * (exclusive), and returns whether there is one. If lo == NULL, gets no chunk and returns true. [switches] */
bool ort_loop_start(struct ort_thread *t, const struct ort_loop_desc *desc, bool runtime,
                    const struct ort_loop_extra *extra, uint64_t *lo, uint64_t *hi);
/* Gets the next chunk, values *lo to *hi (exclusive). Returns false if none is left. In an ordered loop the caller
 * first waits for the turn of its last chunk and passes the turn on, if it has not done so. [switches] */
bool ort_loop_next(struct ort_thread *t, uint64_t *lo, uint64_t *hi);
/* ort_loop_next for a loop that is not ORT_PLAIN_DYNAMIC. [switches] */
bool ort_loop_next_otherwise(struct ort_thread *t, uint64_t *lo, uint64_t *hi);
/* Leaves the loop or sections, without a barrier, and tells a tool. In an ordered loop the caller may wait for the turn
 * of its last chunk. [switches] */
void ort_loop_leave(struct ort_thread *t);
/* Does what ort_loop_leave does, for a member that is in a slot; tells no tool. [switches] */
void ort_loop_leave_slot(struct ort_thread *t);

/* The caller begins sections, or gets its next section. Both return the section's number, 1 .. n, or 0 if none is left.
 * [ort_sections_start switches] */
unsigned ort_sections_start(struct ort_thread *t, unsigned n, const struct ort_loop_extra *extra);
unsigned ort_sections_next(struct ort_thread *t);
/* Begins a scope construct with task reductions: opens a taskgroup and registers them. [switches] */
void ort_scope_start(struct ort_thread *t, uintptr_t *reductions);

/* Returns true to one member of the team, which executes the single region, and false to the others. Does not wait. */
bool ort_single(struct ort_thread *t);
/* single with copyprivate. Returns NULL if the caller executes the region; it then calls ort_single_copy_end with the
 * data. The other members wait for that call, and get its data. [both switch] */
void *ort_single_copy_start(struct ort_thread *t);
void ort_single_copy_end(struct ort_thread *t, void *data);

/* Waits for the turn of the caller's chunk. Returns at once if the caller is in no ordered loop, has no chunk, or is
 * alone in its team. [switches] */
void ort_ordered_start(struct ort_thread *t);

/* Begins a doacross nest of `dims` loops with counts[] iterations. Hands out the iterations of the outermost loop, and
 * returns, as ort_loop_start does. In the functions below a position has one iteration number for each loop.
 * [switches] */
bool ort_doacross_start(struct ort_thread *t, unsigned dims, const uint64_t *counts, unsigned sched, uint64_t chunk,
                        bool runtime, const struct ort_loop_extra *extra, uint64_t *lo, uint64_t *hi);
/* Returns how many numbers a position of the caller's doacross loop has; 0: the caller need neither post nor wait. */
unsigned ort_doacross_dims(const struct ort_thread *t);
/* Reports that the caller's iteration, which has this position, is finished. */
void ort_doacross_post(struct ort_thread *t, const uint64_t *position);
/* Waits until the iteration at this position has been posted. [switches] */
void ort_doacross_wait(struct ort_thread *t, const uint64_t *position);

#endif
