/* Visits to the sources of work: to peek, to look or to take (enum ps_visit). sources.h has the list of sources and
 * their rules.
 *
 * Callers: to take, the kernel thread that carries vp; to peek or to look, any kernel thread. */
#ifndef PS_VISIT_H
#define PS_VISIT_H

#include "bind.h"
#include "handoff.h"
#include "home.h"
#include "queue.h"
#include "runtime.h"
#include "sources.h"
#include "vp.h"
#include "work.h"

/* Returns the answer of a PEEK or a LOOK: if there is some work, a value that stands for it and must not be run. */
static inline struct ps_work vp_found(struct vp *vp, bool some) { return (struct ps_work){.what = some ? vp : NULL}; }

/* Visits vp's pinned slot. */
static PS_ALWAYS_INLINE struct ps_work vp_visit_pinned(struct vp *vp, enum ps_visit visit)
{
    if (visit == PS_LOOK)
        return vp_found(vp, ps_load_seq(&vp->pinned));
    struct psthread *t = ps_load_relaxed(&vp->pinned);
    if (PS_LIKELY(!t) || visit == PS_PEEK)
        return ps_work_of(t);
    t = ps_xchg_acq_rel(&vp->pinned, NULL);
    return (struct ps_work){.what = t, .id = t == PS_PINNED_OFFLINE ? PS_WORK_OFFLINE : 0};
}

/* Visits vp's handoff slot. TAKE: if the slot has a member, takes it out and closes the slot. If the slot is empty, or
 * the parent takes the member back at the same moment, returns no work and leaves the slot as it is. */
static PS_ALWAYS_INLINE struct ps_work vp_visit_handoff(struct vp *vp, enum ps_visit visit)
{
    if (visit == PS_LOOK)
        return vp_found(vp, ps_load_seq(&vp->handoff) > HANDOFF_IDLE);
    uint64_t handoff = ps_load_acquire(&vp->handoff);
    if (handoff <= HANDOFF_IDLE || visit == PS_PEEK)
        return vp_found(vp, handoff > HANDOFF_IDLE);
    if (!ps_cas_acquire(&vp->handoff, &handoff, HANDOFF_BUSY)) /* the parent has taken the member back */
        return PS_NO_WORK;
    return (struct ps_work){.what = ps_handoff_team(handoff), .id = ps_handoff_id(handoff)};
}

/* Visits q, a vp's own queue or the global queue. TAKE takes from the front. */
static PS_ALWAYS_INLINE struct ps_work vp_visit_queue(struct vp *vp, struct ps_queue *q, enum ps_visit visit)
{
    if (visit == PS_TAKE)
        return vp_take_front(q);
    return vp_found(vp, visit == PS_LOOK ? ps_queue_look(q) : !ps_queue_seems_empty(q));
}

/* Visits the sources that `which` names, until one has something. Callers pass constants as `which` and `visit`, so
 * that the compiler removes what is not asked for. */
static PS_ALWAYS_INLINE struct ps_work vp_visit(struct vp *vp, unsigned which, enum ps_visit visit, bool closed_too)
{
    struct ps_work w = PS_NO_WORK;
    if (which & PS_IN_PINNED)
        w = vp_visit_pinned(vp, visit);
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

static inline struct ps_work vp_take_pinned(struct vp *vp) { return vp_visit_pinned(vp, PS_TAKE); }
/* Takes work from the vp's own sources; a lone root's vp takes from its pinned slot only. */
static PS_ALWAYS_INLINE struct ps_work vp_take_own(struct vp *vp)
{
    if (vp_is(vp, VP_LONE))
        return vp_take_pinned(vp);
    return vp_visit(vp, PS_OWN, PS_TAKE, false);
}

/* Takes work from the vp's own sources. The vp's loop calls this before it searches. */
static inline struct ps_work vp_take_next(struct vp *vp)
{
    /* For some vps this function returns no work, and the vp's loop calls vp_find_work next. A spare asks first whether
     * it is needed. For a vp that blocks signals look_first (search.c) visits these sources. A lone root's vp waits for
     * its pinned slot only. A worker that was just started counts as searching already. If the handoff slot is not
     * busy, vp_offer has just found nothing of the vp's own. */
    if (vp_is(vp, VP_SPARE | VP_SIGNALS_BLOCKED | VP_LONE) || vp->searching ||
        ps_load_relaxed(&vp->handoff) != HANDOFF_BUSY)
        return PS_NO_WORK;
    return vp_visit(vp, PS_OWN, PS_TAKE, false);
}
#endif
