/* Work-sharing: the slots of a team's ring; loops and sections, which hand out work from a slot; ordered, doacross,
 * single.
 *
 * A construct that needs state shared by the team takes the next of ORT_WS_RING slots. Each member counts such
 * constructs in ws_seq. All members meet the same constructs in the same order, so construct number s is in slot s %
 * ORT_WS_RING for every member. A member may be up to ORT_WS_RING nowait constructs ahead of the slowest member. A
 * static loop whose schedule is known needs no slot.
 *
 * States of a slot, in `phase`, for construct number s (4 s + state, modulo 2^32):
 *   FREE  -- the first member: compare-and-swap --> SETUP
 *   SETUP -- the first member has stored the description --> READY
 *   READY -- the last member leaves --> FREE of s + ORT_WS_RING
 * A member that is ahead of the ring waits for the last step (ee_wait on phase).
 *
 * Ordering: READY is a release store, or a store before the fork. A reader's acquire load of it makes `desc` visible.
 * Leaving is an acq_rel addition to `left`, so the last member has seen that all others are done before it stores FREE
 * (release) for the next use. `next` is relaxed, because a loop's iterations are not ordered. `turn` is a release store
 * by the member that passes it on, and an acquire load by the member that waits for it: so ordered regions happen one
 * after the other.
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
#ifndef ORT_TURN_EVENT_BITS /* large teams wait for their turn on 2^bits words (ordered.c) */
#define ORT_TURN_EVENT_BITS 12
#endif

/* A loop. Its iterations are numbered 0 .. n-1. Iteration i has the value start + i * step, modulo 2^64, for signed and
 * unsigned loops alike. */
struct ort_loop_desc {
    uint64_t n, start, step;
    uint64_t chunk; /* iterations in a chunk; 0: not given */
    uint64_t end;   /* the loop's own bound, which is reported as the end of the last chunk */
    uint8_t sched;  /* enum ort_sched */
    bool ordered;
    bool nonmonotonic; /* the chunks that a member gets need not be in ascending order */
    bool checked_add;  /* next + chunk * threads may overflow: members claim by compare-and-swap, in `wide` */
    /* Entry points set it: an iteration stands for several of the program's. Such a loop is never ORT_PLAIN_DYNAMIC. */
    bool units;
    uint8_t plain; /* ORT_PLAIN_... */
};

/* How the chunks of a plain loop are claimed. A plain loop is not ordered, and no tool listens, so nothing has to know
 * afterwards which chunk a member had. A plain dynamic loop also has no checked_add, and `next` stays below the sign
 * bit. BATCHES: a dynamic loop whose chunks are claimed as in batch.h. */
enum { ORT_PLAIN_NOT, ORT_PLAIN_DYNAMIC, ORT_PLAIN_GUIDED, ORT_PLAIN_BATCHES };

/* Returns whether the chunks are claimed as in batch.h. */
static inline bool ort_by_batches(const struct ort_loop_desc *d)
{
    return ORT_BATCHES && d->plain == ORT_PLAIN_BATCHES;
}

struct ort_doacross;

/* A slot. In SETUP its first member writes desc, mem, reductions, doacross, and what follows up to `batched`; while it
 * is READY all members read these. tests/models/batch.md describes holders, moves and last. */
struct ort_workshare {
    PS_LINE_ALIGNED _Atomic uint32_t phase;
    struct ort_loop_desc desc; /* sections: only n, the number of sections, and step 0 */
    /* Memory that the compiler asked for (`mem` of GOMP_loop_start); the slot keeps it until its next such use. */
    void *mem;
    uintptr_t *reductions; /* construct with task reductions: the block that the first member registered */
    struct ort_doacross *doacross;
    uint64_t reach; /* plain dynamic: distance from a chunk's first value to the value behind its last */
    /* batches: 2 * chunk * claiming members; a batch of 2^k chunks is claimed only while at least 2^k * share
     * iterations are left */
    uint64_t share;
    uint64_t quantum; /* batches: cycles; if a batch took fewer, the member's next batch has twice as many chunks */
    uint64_t batched; /* batches: number of the iterations before the last chunk */
    union {           /* the first iteration that no member has claimed; all members change it */
        PS_LINE_ALIGNED _Atomic uintptr_t next; /* by fetch-and-add, or by compare-and-swap */
        _Atomic uint64_t wide;                  /* the same in a loop with checked_add: by compare-and-swap */
    };
    _Atomic uint64_t holders; /* batches: bits of the members that may hold chunks */
    _Atomic uint32_t moves, last;
    _Atomic uint32_t left; /* number of the members that have left; the last one sets it to 0 */
    /* ordered: the first iteration of the chunk whose turn it is; written by the member that has the turn */
    union {
        PS_LINE_ALIGNED _Atomic uintptr_t turn;
        _Atomic uint64_t wide_turn; /* used instead in a wide loop */
    };
    /* Counts turns; a waiting member of a small team sleeps on the word that its chunk selects. */
    _Atomic uint32_t turn_event[8];
};
/* Returns whether the loop's numbers are longer than the processor's atomic instructions. */
static inline bool ort_is_wide(const struct ort_loop_desc *d)
{
    return sizeof(uintptr_t) < sizeof(uint64_t) && d->checked_add;
}

/* A member's place in the loop or sections that it is in. Only the member uses it. */
struct ort_loop {
    struct ort_workshare *ws; /* NULL: the member is in no loop, or in a static loop without a slot */
    /* true: the member has a chunk [lo, hi). On the cache line of ws, because each region's begin writes both */
    bool has_chunk;
    bool uncontended; /* loop by batches: no other member has claimed between this member's last two claims */
    const struct ort_loop_desc *desc; /* the slot's desc, or `own` */
    struct ort_loop_desc own;
    uint64_t trip;   /* static: number of this member's next chunk. Batches: 0 until the member's first claim */
    uint64_t lo, hi; /* the iterations of the chunk; not kept in a plain loop */
    uint64_t
        /* Set by entry points: how many of the program's iterations one iteration stands for, where they hand out
         * vectors. */
        unit;
};

/* Enters the next construct that needs a slot. Returns true for its first member, which must describe the work in the
 * slot and then call ort_ws_ready. [switches] */
bool ort_ws_enter(struct ort_thread *t);
void ort_ws_ready(struct ort_thread *t);
/* Leaves the slot, which the caller no longer uses. */
void ort_ws_leave(struct ort_thread *t);
/* Called by the parent before it opens a region whose members begin in a construct (a combined one). Returns
 * ORT_BEGINS_IN_... */
uint8_t ort_ws_prepare(struct ort_team *team, const struct ort_loop_desc *desc);
/* Returns the loop that the members of such a region begin in. */
const struct ort_loop_desc *ort_ws_begun_in(struct ort_team *team);
/* Begins a static loop, which takes no slot. */
void ort_ws_static(struct ort_thread *t, const struct ort_loop_desc *desc);
/* Called by a member of such a region when it begins: it enters the construct. */
void ort_ws_begin_in(struct ort_thread *t);
/* Frees what a team block's slots hold. Called before the block is freed. */
void ort_ws_fini(struct ort_team *team);
/* Called by the parent while no region is open: frees what the slots' loops have left, and makes all slots FREE for the
 * constructs from `base` on. */
void ort_ws_reset(struct ort_team *team, uint32_t base);
/* Makes zeroed slots FREE for constructs 0 .. ORT_WS_RING - 1. No member uses them yet. */
void ort_ws_open(struct ort_workshare *ring);

/* For this room's modules. Called by the first member, or by the parent: stores the loop in the slot, and chooses how
 * its chunks are claimed. */
void ort_ws_describe(struct ort_workshare *ws, const struct ort_loop_desc *desc, unsigned threads);
struct ort_loop_extra;
/* Called by every member after ort_ws_enter; the first member calls it before ort_ws_ready. */
void ort_ws_extra(struct ort_thread *t, const struct ort_loop_extra *extra, bool first);

/* Return a description of a loop from start to end (exclusive) by incr, over `long` or over unsigned long long. */
struct ort_loop_desc ort_loop_desc_long(long start, long end, long incr, unsigned sched, long chunk);
struct ort_loop_desc ort_loop_desc_ull(bool up, unsigned long long start, unsigned long long end,
                                       unsigned long long incr, unsigned sched, unsigned long long chunk);

/* Replaces the loop's schedule by that of t's ICVs. */
void ort_loop_apply_runtime(const struct ort_thread *t, struct ort_loop_desc *d);

/* What GNU entry points pass with a construct: memory that the compiler asks for, and task reductions. */
struct ort_loop_extra {
    uintptr_t *reductions; /* NULL: none */
    /* The caller stores the size in *mem, and finds the memory there afterwards; NULL: none is asked for. */
    void **mem;
};

/* Begins a loop. runtime: the schedule is that of the ICVs. If lo != NULL, gets the first chunk, values *lo to *hi
 * (exclusive), and returns whether there is one. If lo == NULL, gets none and returns true. [switches] */
bool ort_loop_start(struct ort_thread *t, const struct ort_loop_desc *desc, bool runtime,
                    const struct ort_loop_extra *extra, uint64_t *lo, uint64_t *hi);
/* Gets the next chunk. Returns false if none is left. In an ordered loop the caller first waits for the turn of the
 * chunk that it had, and passes the turn on. [switches] */
bool ort_loop_next(struct ort_thread *t, uint64_t *lo, uint64_t *hi);
/* The same for a loop that is not plain dynamic. [switches] */
bool ort_loop_next_otherwise(struct ort_thread *t, uint64_t *lo, uint64_t *hi);
/* Leaves the loop or sections, without a barrier. In an ordered loop it may wait for a turn. [switches] */
void ort_loop_leave(struct ort_thread *t);
/* As ort_loop_leave, for a member that is in a slot; raises no event. [switches] */
void ort_loop_leave_slot(struct ort_thread *t);

/* Both return the number of the caller's next section, 1 .. n, or 0 if none is left. [ort_sections_start switches] */
unsigned ort_sections_start(struct ort_thread *t, unsigned n, const struct ort_loop_extra *extra);
unsigned ort_sections_next(struct ort_thread *t);
/* Begins a scope construct with task reductions. [switches] */
void ort_scope_start(struct ort_thread *t, uintptr_t *reductions);

/* Returns true if the caller executes the region. */
bool ort_single(struct ort_thread *t);
/* single with copyprivate. Returns NULL if the caller executes the region; it then calls ort_single_copy_end with the
 * data. The other members wait for that call, and get its data. [both switch] */
void *ort_single_copy_start(struct ort_thread *t);
void ort_single_copy_end(struct ort_thread *t, void *data);

/* In an ordered loop: waits for the turn of the caller's chunk. [switches] */
void ort_ordered_start(struct ort_thread *t);

/* Begins a doacross nest of `dims` loops with counts[] iterations. The iterations of the outermost loop are handed out
 * as by ort_loop_start. In the functions below a position is an iteration number of each loop. [switches] */
bool ort_doacross_start(struct ort_thread *t, unsigned dims, const uint64_t *counts, unsigned sched, uint64_t chunk,
                        bool runtime, const struct ort_loop_extra *extra, uint64_t *lo, uint64_t *hi);
/* Returns how many numbers a position has; 0: the caller is in no such loop, and need neither post nor wait. */
unsigned ort_doacross_dims(const struct ort_thread *t);
/* Reports that the caller's iteration, which has this position, is finished. */
void ort_doacross_post(struct ort_thread *t, const uint64_t *position);
/* Waits until the iteration at this position has been posted. [switches] */
void ort_doacross_wait(struct ort_thread *t, const uint64_t *position);

#endif
