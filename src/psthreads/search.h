/* The work search of a vp that has nothing at hand: searching, then parking. */
#ifndef PS_SEARCH_H
#define PS_SEARCH_H

#include "mail.h"
#include "sources.h"
#include "vp.h"
#include "work.h"

/* What is at hand, which a loop takes before it searches. */
static inline struct ps_work vp_at_hand(struct vp *vp)
{
    /* A spare asks first whether it is needed. A worker that was just started is counted as searching already. The
     * mailbox is open where vp_offer has found nothing at hand just now. */
    if (PS_UNLIKELY(vp->is_spare) || vp->searching || ps_load_relaxed(&vp->mail) != MAIL_BUSY)
        return PS_NO_WORK;
    return vp_take_own(vp);
}
/* Waits for work, where nothing is at hand; none only when the vp is to end. */
struct ps_work vp_find_work(struct vp *vp);

/* The vp's loop is about to look for work and has none at hand: mail may come from now on. Before a member is counted
 * out, so that the parent's next region finds the mailbox open. */
void vp_offer(struct vp *vp);

/* vp has taken w and gives it up: to the back, since others of the queue may have a stack. A claimed member becomes a
 * thread. */
void vp_put_back(struct vp *vp, struct ps_work w);
/* vp has taken t, but t's context is not saved yet: t goes to the queue of `to`. A thread that is bound to vp was
 * pinned there, and is pinned again: a root's own stack comes back from a promoted member's kernel thread, which may
 * not have left it yet (promote.h). */
void vp_hand_back(struct vp *vp, struct psthread *t, struct vp *to);
/* There is no stack for vp's loop: it takes part in nothing until there is one. What was counted on it for goes to
 * others. */
void vp_stand_aside(struct vp *vp);

#endif
