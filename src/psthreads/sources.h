/* Where work can be: looking for it, taking it, and putting it there.
 *
 * Does: lists the sources of work once (enum ps_source); vp_visit goes through that list to peek, to look or to take.
 * Does not: decide how long a vp searches (search.h), or when it parks and which vp is woken (idle.h).
 *
 * A new source has to be added to the list, to vp_visit and vp_look_for_all, to what the watchdog looks at, to dump.c
 * and to the gdb script. An operation that puts work there, or moves it, must notify behind its insertion (idle_notify,
 * or idle_wake_this for what one vp alone may run). Then the parking proof holds for it. */
#ifndef PS_SOURCES_H
#define PS_SOURCES_H

#include "bind.h"
#include "handoff.h"
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

/* A thief's visit to another vp's queue: from the back, and the lock is only tried. */
struct ps_work vp_steal_from(struct vp *vp, struct ps_queue *q);

/* Every source of work for a vp, in the order in which it looks there. */
enum ps_source {
    PS_IN_SLOT = 1,    /* what is pinned to it: only it may run that */
    PS_IN_HANDOFF = 2, /* its handoff slot */
    PS_IN_QUEUE = 4,   /* its queue, from the front */
    PS_IN_PLACES = 8,  /* the queues of the places that it looks into (bind.h), from the front */
    PS_IN_OTHERS = 16, /* the other vps' queues, from the back: the regular ones in the hierarchical order
                        * (psthreads-2009 figure 2), then the guests' */
    PS_IN_GLOBAL = 32, /* the global queue */
};
#define PS_OWN (PS_IN_SLOT | PS_IN_QUEUE | PS_IN_PLACES) /* in its own reach */
#define PS_ELSEWHERE (PS_IN_OTHERS | PS_IN_GLOBAL)
#define PS_EVERYWHERE (PS_OWN | PS_IN_HANDOFF | PS_ELSEWHERE)

static inline struct ps_work vp_found(struct vp *vp, bool some) { return (struct ps_work){.what = some ? vp : NULL}; }

static PS_ALWAYS_INLINE struct ps_work vp_visit_slot(struct vp *vp, enum ps_visit visit)
{
    if (visit == PS_LOOK)
        return vp_found(vp, ps_load_seq(&vp->pinned));
    struct psthread *t = ps_load_relaxed(&vp->pinned);
    if (PS_LIKELY(!t) || visit == PS_PEEK)
        return ps_work_of(t);
    t = ps_xchg_acq_rel(&vp->pinned, NULL);
    return (struct ps_work){.what = t, .id = t == PS_PINNED_REST ? PS_WORK_REST : 0};
}

static PS_ALWAYS_INLINE struct ps_work vp_visit_handoff(struct vp *vp, enum ps_visit visit)
{
    if (visit == PS_LOOK)
        return vp_found(vp, ps_load_seq(&vp->handoff) > HANDOFF_IDLE);
    uint64_t handoff = ps_load_acquire(&vp->handoff);
    if (handoff <= HANDOFF_IDLE || visit == PS_PEEK)
        return vp_found(vp, handoff > HANDOFF_IDLE);
    if (!ps_cas_acquire(&vp->handoff, &handoff, HANDOFF_BUSY)) /* taken back */
        return PS_NO_WORK;
    return (struct ps_work){.what = ps_handoff_team(handoff), .id = ps_handoff_id(handoff)};
}

static PS_ALWAYS_INLINE struct ps_work vp_visit_queue(struct vp *vp, struct ps_queue *q, enum ps_visit visit)
{
    if (visit == PS_TAKE)
        return vp_take_front(q);
    return vp_found(vp, visit == PS_LOOK ? ps_queue_look(q) : !ps_queue_seems_empty(q));
}

/* PS_IN_OTHERS. closed_too: also queues that are closed_too (serial_predictor.h), a peek before the taking. */
struct ps_work vp_visit_others(struct vp *vp, enum ps_visit visit, bool closed_too);

/* Visits the sources `which` until one has something. Caller: the kernel thread that carries vp, for PS_TAKE; any, for
 * PS_PEEK and PS_LOOK. `which` and `visit` are constants. */
static PS_ALWAYS_INLINE struct ps_work vp_visit(struct vp *vp, unsigned which, enum ps_visit visit, bool closed_too)
{
    struct ps_work w = PS_NO_WORK;
    if (which & PS_IN_SLOT)
        w = vp_visit_slot(vp, visit);
    if (which & PS_IN_HANDOFF && !ps_work_some(w))
        w = vp_visit_handoff(vp, visit);
    if (which & PS_IN_QUEUE && PS_LIKELY(!ps_work_some(w)))
        w = vp_visit_queue(vp, &vp->queue, visit);
    if (which & PS_IN_PLACES && !PS_LIKELY(ps_work_some(w)) && ps_places_on())
        w = ps_bind_visit(vp, visit);
    if (which & PS_IN_OTHERS && !ps_work_some(w))
        w = vp_visit_others(vp, visit, closed_too);
    if (which & PS_IN_GLOBAL && !ps_work_some(w) && ps_rt.has_global)
        w = vp_visit_queue(vp, &ps_rt.global, visit);
    return w;
}

static inline struct ps_work vp_take_pinned(struct vp *vp) { return vp_visit_slot(vp, PS_TAKE); }
static PS_ALWAYS_INLINE struct ps_work vp_take_own(struct vp *vp)
{
    if (PS_UNLIKELY(ps_load_relaxed(&vp->lone)))
        return vp_take_pinned(vp);
    return vp_visit(vp, PS_OWN, PS_TAKE, false);
}
struct ps_work vp_steal_round(struct vp *vp, bool closed_too);

/* Under the locks: whether there is something for vp. */
bool vp_look(struct vp *vp);
/* The same for all vps, in the sources `which` of each: their own ones, and the places' and the global queue. */
bool vp_look_for_all(unsigned which);

/* Inserts, and wakes a vp if that helps. */
void vp_enqueue(struct vp *target, struct ps_item *item, enum ps_end end);
/* The same with n threads at once, a ring of their links that begins with `first`: none of them bound. */
void vp_enqueue_ring(struct vp *target, struct ps_list *first, unsigned n, enum ps_end end);
void vp_enqueue_global(struct ps_item *item, enum ps_end end);

#endif
