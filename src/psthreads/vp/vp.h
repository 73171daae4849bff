/* Virtual processors.
 *
 * One kernel thread carries a vp: one of the library's, started at the first need, or a root's own. The vps of slots 0
 * to num_vps-1 are called regular: slot 0 is the first root's, the others are the workers'. Slots from num_vps on are
 * guests: one for each further kernel thread that uses the library. A guest's slot is used again after that kernel
 * thread has ended. No slot is freed before psthread_finalize, so a pointer to a vp may be followed at any time.
 *
 * A vp consists of parts. Each part belongs to one or two files. Their header declares the part, and says which
 * thread writes each field. Only two kinds of files include this header: those whose inlined code uses several
 * parts, and those that make, end and fork whole vps. Any other file includes run.h for what runs on a vp, and gets
 * its own part from a function that is declared beside the part (vp.c defines these functions). Such a call costs a
 * few instructions, so no hot path makes it.
 *
 * Operations on a vp are declared in headers of their own. These need to see of the vp:
 *   none of its parts    current.h (which vp is the caller's?), sources.h (to put work there), idle.h (to wake it),
 *                        scheduler.h (its threads wait), loop.h, search.h, put_back.h
 *   run.h                switch.h, vp_tls.h
 *   the whole vp         visit.h (to take work), create.h (to make threads), waiters.h */
#ifndef PS_VP_H
#define PS_VP_H

#include "data/team.h"
#include "lone_thread.h"
#include "parts.h"
#include "queue.h"
#include "run.h"
#include "runtime.h"
#include "steal.h"

/* The fields are ordered by cache lines. First come the fields that only the vp writes, then the line of its queue,
 * then the fields that other threads write to reach the vp. Last come the fields that thieves read in each search. */
struct vp {
    struct vp_run run;
    /* Other threads seldom read the fields from here to `worker`. */
    struct ps_thief thief;
    /* How often the vp looks into queues while it searches. Owner only. */
    struct ps_lone lone_thread;
    /* How long the vp searches before it parks, learnt by adaptive_spin.h. Owner only. */
    uint64_t spin_ns;
    /* Whether `searching` in ps_idle.word counts the vp. Stays set while the vp is parked, since its waker counts it
     * again. Only the vp writes the flag; while no kernel thread carries the vp, the thread that starts or stops the
     * workers does. The flag is not on the line of wake_word, which other threads write. */
    bool searching;
    /* Threads that a root submits on this vp are dealt to the vps 0 .. ps_rt.limit-1 in turn (deal_to in thread.c).
     * This is the number of the vp that gets the next one. Owner only. */
    unsigned deal;
    struct ps_root_spread spread;
    struct ps_wake_spread wake_spread;
    /* When the vp's root last asked whether it is in a region (root_fairness.h). Only the root uses it. */
    uint64_t asked_at;
    struct vp_priority priority;
    struct vp_outer outer;
    struct vp_home home;
    struct vp_forked forked;
    struct vp_dedicated dedicated;
    struct vp_thread_signal thread_signal;
    struct vp_worker worker;

    PS_LINE_ALIGNED struct ps_queue queue;
    struct ps_waiters waiters; /* The queue's lock guards this, except that `count` may be read without the lock. */

    /* Other threads write most fields of this line to reach the vp. The fields stand together, and not with the parts
     * of the files that own them. So the vp reads one line only at a scheduling point, or before it sleeps. */
    PS_LINE_ALIGNED _Atomic uint64_t handoff; /* The handoff slot: handoff.h. */
    /* Ready work that only this vp may run: a thread that is bound to it (a root on its own stack; the thread to which
     * the vp is dedicated), or PS_PINNED_OFFLINE. NULL: none. Written by the thread that readies it, taken by the vp,
     * or by a releaser (home.h). */
    _Atomic(struct psthread *) pinned;
    _Atomic uint32_t wake_word; /* 1: a wake-up of the vp is due (idle.h). Set by wakers, taken by the vp. */
    _Atomic uint32_t offline;   /* The vp's state in quota_park.h: PS_ONLINE ... */
    /* 1: the vp's root was once ready while another thread kept this vp. The watchdog sets it for good. A thread
     * that runs on this vp reads it when it wakes others, and then lets the root go first. */
    _Atomic uint32_t root_first;
    /* PS_ATTACHED or PS_ATTACHED_OURS: a kernel thread carries the vp. 0: none does, or the vp has gone offline. */
    _Atomic uint32_t attached;
    /* How many outermost regions their parents have run alone on this vp (serial_predictor.h). The vp writes it.
     * Thieves that peek into a closed queue read it. */
    _Atomic uint32_t serial_regions;

    /* PS_CLOSED_...: whether thieves are to leave the vp's queue alone (serial_predictor.h). Every thief reads it in
     * each search, so it has a line that seldom changes. A parent on this vp sets it at the start of an outermost
     * region; a thief sets PS_CLOSED_CALLED_OFF. Relaxed accesses: the value only says where to look less often. */
    PS_LINE_ALIGNED _Atomic uint32_t closed;
};
_Static_assert(offsetof(struct vp, run) == 0, "vp_run");

static inline void vp_count_theft(struct vp *vp, unsigned level)
{
    ps_store_relaxed(&vp->thief.thefts[level], ps_load_relaxed(&vp->thief.thefts[level]) + 1);
}
static inline bool vp_root_wanted(struct vp *vp)
{
    return PS_UNLIKELY(ps_load_relaxed(&vp->root_first)) && ps_load_relaxed(&vp->pinned);
}

#endif
