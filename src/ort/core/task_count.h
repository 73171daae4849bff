/* How a task counts its children.
 *
 * A task counts its children that are not complete, for which taskwait waits, and its children whose subtree is not
 * complete. Until the second number is zero the descriptor lives, and an implicit task does not arrive at a barrier.
 * Both numbers are packed in one: a child adds ORT_COUNT_INCOMPLETE, and ORT_COUNT_LIVE for its subtree. The packed
 * number is the sum of `own`, which only the task's member changes, and `others`, which other threads change. As a rule
 * the parent's member also finishes the child: then it needs no atomic operation.
 * When the body is done and the sum is not zero, or a deferred task has an event, the member adds `own` to `others`
 * (ORT_TASK_MERGED). From then on the thread that brings `others` to zero completes the subtree. Before that, `others`
 * only goes down from zero, so no subtraction leaves zero, and no thread completes the task too early.
 * If the processor has no atomic operations of 64 bits, `others` is two words. A thread changes `incomplete` first, and
 * `live` after it. A child that is not complete has a subtree that is not complete. So `live` is never zero before
 * `incomplete` is, and decides alone whether a subtree is complete.
 * A taskgroup counts its tasks in the same structure, as INCOMPLETE. */
#ifndef PS_ORT_TASK_COUNT_H
#define PS_ORT_TASK_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "atomic.h"
#include "compiler.h"

#define ORT_COUNT_INCOMPLETE INT64_C(1)
#define ORT_COUNT_LIVE (INT64_C(1) << 32)

struct ort_count {
    int64_t own; /* written by the task's member; while it sleeps wakers read it, under the team's lock */
    /* any thread: read-modify-write; the task's member: load, acquire or stronger */
#if __GCC_ATOMIC_LLONG_LOCK_FREE == 2
    _Atomic int64_t others;
#else
    _Atomic uint32_t incomplete, live;
#endif
};

/* ort_count_is_zero returns whether own + others is zero: all children are complete, with the tasks below them.
 * ort_count_children returns how many children are not complete. Both are called by the member that changes `own`, or
 * while that member sleeps, under the lock. ort_count_is_zero_after is for a member that has ended the body: it loads
 * with acquire.
 * ort_count_is_untouched: both parts are zero.
 * ort_count_begin: sets `others` to zero by plain stores, for a task that no other thread knows yet. (GCC 12 makes an
 * atomic operation of an atomic store for RISC-V.)
 * ort_count_sub: subtracts delta from `others`, which is ordered as seq_cst; returns whether that leaves zero.
 * ort_count_merge: adds `own` to `others` (acq_rel); returns whether the sum is zero.
 * ort_count_pour: adds `own` and a LIVE to `others` (relaxed). ort_count_unpour: subtracts that LIVE (acq_rel); returns
 * whether that leaves zero. */
#if __GCC_ATOMIC_LLONG_LOCK_FREE == 2
static inline bool ort_count_is_zero(struct ort_count *c) { return c->own + ps_load_seq(&c->others) == 0; }
static inline bool ort_count_is_zero_after(struct ort_count *c) { return c->own + ps_load_acquire(&c->others) == 0; }
static inline bool ort_count_is_untouched(struct ort_count *c) { return (c->own | ps_load_acquire(&c->others)) == 0; }
static inline uint32_t ort_count_children(struct ort_count *c) { return (uint32_t)(c->own + ps_load_seq(&c->others)); }
static inline void ort_count_begin(struct ort_count *c) { *(int64_t *)&c->others = 0; }
static inline bool ort_count_sub(struct ort_count *c, int64_t delta) { return ps_sub_seq(&c->others, delta) == delta; }
static inline bool ort_count_merge(struct ort_count *c)
{
    int64_t own = c->own;
    return ps_add_acq_rel(&c->others, own) == -own;
}
static inline void ort_count_pour(struct ort_count *c) { ps_add_relaxed(&c->others, c->own + ORT_COUNT_LIVE); }
static inline bool ort_count_unpour(struct ort_count *c)
{
    return ps_sub_acq_rel(&c->others, ORT_COUNT_LIVE) == ORT_COUNT_LIVE;
}
#else
static inline uint32_t ort_count_own_live(const struct ort_count *c) { return (uint32_t)(c->own >> 32); }
static inline uint32_t ort_count_children(struct ort_count *c)
{
    return (uint32_t)c->own + ps_load_seq(&c->incomplete);
}
static inline bool ort_count_is_zero_after(struct ort_count *c)
{
    return ((ort_count_own_live(c) + ps_load_acquire(&c->live)) | ort_count_children(c)) == 0;
}
static inline bool ort_count_is_zero(struct ort_count *c) { return ort_count_is_zero_after(c); }
static inline bool ort_count_is_untouched(struct ort_count *c)
{
    return (ort_count_own_live(c) | ps_load_acquire(&c->live)) == 0;
}
static inline void ort_count_begin(struct ort_count *c)
{
    *(uint32_t *)&c->incomplete = 0;
    *(uint32_t *)&c->live = 0;
}
static inline bool ort_count_sub(struct ort_count *c, int64_t delta)
{
    uint32_t live = (uint32_t)(delta >> 32);
    if ((uint32_t)delta != 0)
        ps_sub_seq(&c->incomplete, (uint32_t)delta);
    return live != 0 && ps_sub_seq(&c->live, live) == live;
}
static inline bool ort_count_merge(struct ort_count *c)
{
    ps_add_relaxed(&c->incomplete, (uint32_t)c->own);
    return ps_add_acq_rel(&c->live, ort_count_own_live(c)) + ort_count_own_live(c) == 0;
}
static inline void ort_count_pour(struct ort_count *c)
{
    ps_add_relaxed(&c->incomplete, (uint32_t)c->own);
    ps_add_relaxed(&c->live, ort_count_own_live(c) + 1);
}
static inline bool ort_count_unpour(struct ort_count *c) { return ps_sub_acq_rel(&c->live, 1) == 1; }
#endif

#endif
