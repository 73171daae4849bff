/* Work-sharing: the slots of a team's ring, loops and sections handed out from them, ordered, doacross, single.
 *
 * A construct that needs state shared by the team takes the next of ORT_WS_RING slots; each member counts such
 * constructs in ws_seq. All members meet the same constructs in the same order, so number s is in slot s % ORT_WS_RING
 * for every member. A member may be up to ORT_WS_RING nowait constructs ahead of the slowest. A static loop whose
 * schedule is known needs no slot.
 *
 * States of a slot, in `phase`, for construct number s (4 s + state, modulo 2^32):
 *   FREE  -- first member: compare-and-swap --> SETUP
 *   SETUP -- the first member stores the description --> READY
 *   READY -- last member leaves --> FREE of s + ORT_WS_RING
 * A member that is ahead of the ring waits for the last step (ee_wait on phase).
 *
 * Ordering: READY is a release, its reader's load the acquire: desc is seen. Leaving is acq_rel: the last one has seen
 * that all are done with the slot before its release of FREE lets it be used anew. `next` is relaxed: the iterations
 * are ordered by nothing else. `turn`: release by the member that passes it, acquire by the member that waits for it:
 * ordered regions happen one after the other.
 * Failures: none (doacross allocates: aborts with one line).
 * Rejected: a list of work shares allocated at need (libgomp): a lock and a pointer chase where a counter serves.
 * OpenMP 5.2 chapter 11; section 15.10 (ordered, doacross). */
#ifndef PS_ORT_WORKSHARE_H
#define PS_ORT_WORKSHARE_H

#include "atomic.h"
#include "batch.h"
#include "compiler.h"

struct ort_thread;
struct ort_team;

#ifndef ORT_WS_RING /* a target with little memory has fewer; a power of two */
#define ORT_WS_RING 8
#endif
#ifndef ORT_TURN_EVENT_BITS /* ordered.c: 2^bits words that large teams wait on */
#define ORT_TURN_EVENT_BITS 12
#endif

/* A loop's iterations are numbered 0 .. n-1; number i has the value start + i * step, modulo 2^64, for signed and
 * unsigned loops alike. */
struct ort_loop_desc {
    uint64_t n, start, step;
    uint64_t chunk; /* 0: none given */
    uint64_t end;   /* the loop's own bound: what the last chunk's end is reported as */
    uint8_t sched;  /* enum ort_sched */
    bool ordered;
    bool nonmonotonic; /* a member's chunks need not grow */
    bool checked_add;  /* next + chunk * threads may wrap: claim by compare-and-swap, in `wide` */
    bool units;        /* the entry points' own: a number stands for several iterations. Never plain dynamic */
    uint8_t plain;     /* ORT_PLAIN_... */
};

/* How a plain loop's chunks are claimed. A plain loop is not ordered; if dynamic, not checked and not past 2^63; and no
 * tool listens. So no code asks later which chunk it was. BATCHES: dynamic by batch.h. */
enum { ORT_PLAIN_NOT, ORT_PLAIN_DYNAMIC, ORT_PLAIN_GUIDED, ORT_PLAIN_BATCHES };

/* Whether the chunks are claimed by batch.h. */
static inline bool ort_by_batches(const struct ort_loop_desc *d)
{
    return ORT_BATCHES && d->plain == ORT_PLAIN_BATCHES;
}

struct ort_doacross;

/* The first member writes desc, mem, reductions and what the batches and the loop take from desc, in SETUP; all read
 * these while READY. holders, moves, last: tests/models/batch.md. */
struct ort_workshare {
    PS_LINE_ALIGNED _Atomic uint32_t phase;
    struct ort_loop_desc desc; /* sections: n alone */
    void *mem;                 /* memory for the construct that the compiler asked for (`mem` of GOMP_loop_start) */
    uintptr_t *reductions;     /* what the first member registered */
    struct ort_doacross *doacross;
    uint64_t reach;   /* plain dynamic: from a chunk's first value to the one behind its last */
    uint64_t share;   /* batches: iterations that one of theirs has, of those left, at most */
    uint64_t quantum; /* batches: shorter than so many cycles, the next is larger */
    uint64_t batched; /* batches: iterations before the last chunk */
    union {           /* all members: the first iteration that none has claimed yet */
        PS_LINE_ALIGNED _Atomic uintptr_t next; /* fetch-and-add or compare-and-swap */
        _Atomic uint64_t wide;                  /* the same where checked_add says so: compare-and-swap */
    };
    _Atomic uint64_t holders; /* batches: members that may hold chunks */
    _Atomic uint32_t moves, last;
    _Atomic uint32_t left; /* every member that leaves adds; the last one sets it to 0 */
    union {                /* ordered: first iteration of the chunk whose turn it is; its member writes */
        PS_LINE_ALIGNED _Atomic uintptr_t turn;
        _Atomic uint64_t wide_turn; /* the same in a wide loop */
    };
    _Atomic uint32_t turn_event[8]; /* counts turns; waiters of a small team spread over them by their chunk */
};
/* Whether the loop's numbers are longer than what the processor's atomic instructions take. */
static inline bool ort_is_wide(const struct ort_loop_desc *d)
{
    return sizeof(uintptr_t) < sizeof(uint64_t) && d->checked_add;
}

/* A member's place in the loop or sections that it is in. */
struct ort_loop {
    struct ort_workshare *ws; /* NULL: a static loop without a slot */
    bool has_chunk;           /* on the line of ws: each region's begin writes both */
    bool uncontended;         /* in a loop by batches only: no other has claimed between the member's last two claims */
    const struct ort_loop_desc *desc; /* the slot's or `own` */
    struct ort_loop_desc own;
    uint64_t trip;   /* static: number of the next chunk of this member */
    uint64_t lo, hi; /* the chunk that it has */
    uint64_t
        unit; /* the entry points' own: iterations that a number stands for, where they hand out vectors' lengths */
};

/* Takes part in the next construct that needs a slot. True: the caller is the first and must describe the work in
 * t->loop.ws, then call ort_ws_ready. [switches] */
bool ort_ws_enter(struct ort_thread *t);
void ort_ws_ready(struct ort_thread *t);
/* Gives the slot up, which the caller needs no more. */
void ort_ws_leave(struct ort_thread *t);
/* Called by the parent before it opens a region whose members begin in a construct. Returns ORT_BEGINS_... */
uint8_t ort_ws_prepare(struct ort_team *team, const struct ort_loop_desc *desc);
/* Returns the loop that the members of such a region begin in. */
const struct ort_loop_desc *ort_ws_begun_in(struct ort_team *team);
/* Begins a static loop, which takes no slot. */
void ort_ws_static(struct ort_thread *t, const struct ort_loop_desc *desc);
/* Called by a member of such a region when it begins: it enters the construct. */
void ort_ws_begin_in(struct ort_thread *t);
/* Frees what the slots of a block keep; the block is freed afterwards. */
void ort_ws_fini(struct ort_team *team);
/* Called by the parent while no region is open: makes all slots FREE for the constructs from `base` on. */
void ort_ws_reset(struct ort_team *team, uint32_t base);
/* Makes zeroed slots, which no member knows yet, FREE for the first constructs. */
void ort_ws_open(struct ort_workshare *ring);

/* For this room's modules. Called by the first member, or the parent: describes what the slot hands out. */
void ort_ws_describe(struct ort_workshare *ws, const struct ort_loop_desc *desc, unsigned threads);
struct ort_loop_extra;
/* Called by every member after ort_ws_enter; by the first one before ort_ws_ready. */
void ort_ws_extra(struct ort_thread *t, const struct ort_loop_extra *extra, bool first);

/* A loop over `long`: from start to end (exclusive) by incr. */
struct ort_loop_desc ort_loop_desc_long(long start, long end, long incr, unsigned sched, long chunk);
struct ort_loop_desc ort_loop_desc_ull(bool up, unsigned long long start, unsigned long long end,
                                       unsigned long long incr, unsigned sched, unsigned long long chunk);

/* Gives the loop the schedule of t's ICVs. */
void ort_loop_apply_runtime(const struct ort_thread *t, struct ort_loop_desc *d);

/* What GNU entry points pass with a construct: memory that the compiler wants, and task reductions. */
struct ort_loop_extra {
    uintptr_t *reductions; /* NULL: none */
    void **mem;            /* in: *mem is the size; out: the memory; NULL: none */
};

/* Begins a loop. *lo, *hi get the first chunk's values if lo != NULL. runtime: the schedule is the ICV's. Returns
 * whether there is a chunk, true also if lo is NULL. [switches] */
bool ort_loop_start(struct ort_thread *t, const struct ort_loop_desc *desc, bool runtime,
                    const struct ort_loop_extra *extra, uint64_t *lo, uint64_t *hi);
/* Gets the next chunk; false: none is left. In an ordered loop it first waits for the turn of the chunk that the caller
 * had before. [switches] */
bool ort_loop_next(struct ort_thread *t, uint64_t *lo, uint64_t *hi);
/* The same where the loop is not plain dynamic. [switches] */
bool ort_loop_next_otherwise(struct ort_thread *t, uint64_t *lo, uint64_t *hi);
/* Leaves the loop or sections, without a barrier. */
void ort_loop_leave(struct ort_thread *t);
/* As ort_loop_leave, without a tool's event. Caller: a member that is in a slot. */
void ort_loop_leave_slot(struct ort_thread *t);

/* Sections 1 .. n; 0: none is left. [switches] */
unsigned ort_sections_start(struct ort_thread *t, unsigned n, const struct ort_loop_extra *extra);
unsigned ort_sections_next(struct ort_thread *t);
/* Begins a scope construct with task reductions. */
void ort_scope_start(struct ort_thread *t, uintptr_t *reductions);

/* true: the caller executes the region. */
bool ort_single(struct ort_thread *t);
/* NULL: the caller executes the region and then calls ort_single_copy_end. Else returns the data that was given to
 * ort_single_copy_end. [switches] */
void *ort_single_copy_start(struct ort_thread *t);
void ort_single_copy_end(struct ort_thread *t, void *data);

/* Waits for the member's turn among the chunks of an ordered loop. [switches] */
void ort_ordered_start(struct ort_thread *t);

/* Begins a doacross nest of `dims` loops with counts[] iterations each; the outermost loop is handed out. Positions are
 * iteration numbers. */
bool ort_doacross_start(struct ort_thread *t, unsigned dims, const uint64_t *counts, unsigned sched, uint64_t chunk,
                        bool runtime, const struct ort_loop_extra *extra, uint64_t *lo, uint64_t *hi);
/* Returns how many numbers a position has; 0: posting and waiting do nothing in this loop. */
unsigned ort_doacross_dims(const struct ort_thread *t);
/* Posts that the current iteration, at this position, is finished. */
void ort_doacross_post(struct ort_thread *t, const uint64_t *position);
/* Waits until the iteration at that position has posted. [switches] */
void ort_doacross_wait(struct ort_thread *t, const uint64_t *position);

#endif
