/* Where work can be: looking for it, taking it, and putting it there. */
#ifndef PS_SOURCES_H
#define PS_SOURCES_H

#include "bind.h"
#include "queue.h"
#include "runtime.h"
#include "sched.h"
#include "team.h"
#include "vp.h"
#include "work.h"

/* What the entry at one end of q gives; the lock is held. A team stays in the queue until its last member is
 * claimed. */
struct ps_work vp_take_item_locked(struct ps_queue *q, struct ps_item *item);
struct ps_work vp_take_front(struct ps_queue *q);

/* What is pinned to vp. */
static inline struct ps_work vp_take_pinned(struct vp *vp)
{
    if (PS_LIKELY(!ps_load_relaxed(&vp->pinned)))
        return PS_NO_WORK;
    struct psthread *t = ps_xchg_acq_rel(&vp->pinned, NULL);
    return (struct ps_work){.what = t, .id = t == PS_PINNED_REST ? PS_WORK_REST : 0};
}

/* Something ready in the vp's own reach: pinned context, then the front of its queue, then of its places'. */
static PS_ALWAYS_INLINE struct ps_work vp_take_own(struct vp *vp)
{
    struct ps_work w = vp_take_pinned(vp);
    if (PS_LIKELY(!ps_work_some(w)))
        w = vp_take_front(&vp->queue);
    return PS_LIKELY(ps_work_some(w)) || !ps_places_on() ? w : ps_bind_take(vp);
}

/* Every other queue once: the regular vps in the hierarchical order (psthreads-2009 figure 2), then guests, then the
 * global queue. peek: also into queues that are kept (crumbs.h). */
struct ps_work vp_steal_round(struct vp *vp, bool peek);

static inline bool vp_own_seem_empty(struct vp *vp)
{
    return ps_queue_seems_empty(&vp->queue) && (!ps_places_on() || ps_bind_seems_empty(vp));
}
bool vp_others_seem_empty(struct vp *vp, bool peek);

/* Inserts and wakes somebody if that helps. */
void vp_enqueue(struct vp *target, struct ps_item *item, enum ps_end end);
/* The same with n threads at once, a ring of their links that begins with `first`: none of them bound. At the back. */
void vp_enqueue_ring(struct vp *target, struct ps_list *first, unsigned n);
void vp_enqueue_global(struct ps_item *item, enum ps_end end);

#endif
