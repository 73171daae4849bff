/* Virtual processors.
 *
 * A vp is carried by one kernel thread: a worker that the library starts at the first need, or a root's own. Slots 0 ..
 * num_vps-1 are the regular ones (0 for the first root, the rest workers). Slots from num_vps on are guests: one for
 * each further kernel thread that uses the library, recycled when it ends. Slots are never freed before
 * psthread_finalize, so that a pointer to a vp may be looked through at any time.
 *
 * A vp consists of parts. Each part belongs to one file or two, and is declared in the header of these, with the
 * writer of each field. This header is for the files whose inlined code reaches several parts, and for those that make,
 * end and fork whole vps. Other files take what runs on a vp from run.h. They take their own part by a function that is
 * declared beside it (vp.c has these). Such a call is a few instructions more, so no path that is hot uses it.
 *
 * What is done with a vp stands in headers of its own:
 *   without its parts    current.h (which one is it?), sources.h (work is put there), idle.h (it is woken), scheduler.h
 *                        (its threads wait), loop.h, search.h, put_back.h
 *   with what runs       switch.h, vp_tls.h
 *   with all             visit.h (work is taken), create.h (threads are made), waiters.h */
#ifndef PS_VP_H
#define PS_VP_H

#include "data/team.h"
#include "lone_thread.h"
#include "parts.h"
#include "queue.h"
#include "run.h"
#include "runtime.h"
#include "steal.h"

/* The fields are ordered by cache lines: first those that only the vp writes, then its queue's line, then those that
 * others write to reach it, then those that thieves read in each search. */
struct vp {
    struct vp_run run;
    /* Few others read these, and seldom. */
    struct ps_thief thief;
    struct ps_lone lone_thread; /* how often it looks into queues while it searches; owner only */
    uint64_t spin_ns;           /* how long it searches before it parks (adaptive_spin.h); owner only */
    /* Whether the vp is counted in idle's `searching`. Owner only; the waker sets it for a parked vp. Apart from
     * wake_word, which others write. */
    bool searching;
    unsigned deal; /* thread.c: cyclic distribution of outer threads; owner only */
    struct ps_root_spread spread;
    struct ps_wake_spread wake_spread;
    uint64_t asked_at; /* root_fairness.h */
    struct vp_priority priority;
    struct vp_outer outer;
    struct vp_home home;
    struct vp_forked forked;
    struct vp_dedicated dedicated;
    struct vp_thread_signal thread_signal;
    struct vp_worker worker;

    PS_LINE_ALIGNED struct ps_queue queue;
    struct ps_waiters waiters; /* guarded by the queue's lock; count is looked at without it */

    /* Others write these to reach the vp. They stand here and not with their owners' parts because the vp looks at all
     * of them, at each scheduling point or before it sleeps, and so reads one line only. */
    PS_LINE_ALIGNED _Atomic uint64_t handoff; /* handoff.h */
    /* Ready work that only this vp may run: a thread with a saved context (its uth is adopted), or PS_PINNED_OFFLINE;
     * NULL: none. Written by the thread that readies it, taken by the vp. */
    _Atomic(struct psthread *) pinned;
    _Atomic uint32_t wake_word; /* idle.h. 1: a wake is due; taken by the vp */
    _Atomic uint32_t offline;   /* quota_park.h */
    /* 1: its root was stuck behind a thread here. The watchdog sets it for good; threads that wake others here read
     * it */
    _Atomic uint32_t root_first;
    /* PS_ATTACHED_...; not 0: a kernel thread carries it. */
    _Atomic uint32_t attached;
    /* The number of regions that its root has run alone (serial_predictor.h): written by the vp, read by thieves that
     * peek. */
    _Atomic uint32_t serial_regions;

    /* PS_CLOSED_... Every search of other vps reads it, so it is on a line that seldom changes. Its root sets it at the
     * start of an outermost region; a thief sets PS_CLOSED_CALLED_OFF. Relaxed: it says where to look less often, not
     * what is there. */
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
