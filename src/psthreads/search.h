/* The work search of a vp that has nothing at hand: searching, then parking. */
#ifndef PS_SEARCH_H
#define PS_SEARCH_H

#include "handoff.h"
#include "sources.h"
#include "vp.h"
#include "work.h"

/* What is at hand, which a loop takes before it searches. */
static inline struct ps_work vp_at_hand(struct vp *vp)
{
    /* A spare asks first whether it is needed, a deaf vp whether it is to hear. A worker that was just started is
     * counted as searching already. The handoff slot is open where vp_offer has found nothing at hand just now. */
    if (PS_UNLIKELY(vp->spare_or_deaf) || vp->searching || ps_load_relaxed(&vp->handoff) != HANDOFF_BUSY)
        return PS_NO_WORK;
    return vp_take_own(vp);
}
/* Waits for work, where nothing is at hand; none only when the vp is to end. */
struct ps_work vp_find_work(struct vp *vp);

/* A signal for the process goes to any kernel thread that does not block it. Where threads have kernel threads of their
 * own (promote.h), with masks of their own, a worker that carries no thread is none that the program knows. Such a
 * worker is deaf: it blocks all signals, from its search on until code of the program's is about to run on it. The work
 * that it takes may run no code of the program's here. Such work is a member's context that comes home from its own
 * kernel thread and only ends, or a member that goes at once to a kernel thread of its own. Then the vp stays deaf, and
 * looks for its next work as such (vp_at_hand finds nothing). A function that runs the program's code after such work
 * calls
 * vp_hear. */
static inline void vp_hear(struct vp *vp)
{
    if (!vp->is_deaf)
        return;
    vp->is_deaf = false;
    os_set_signal_mask(vp->deaf_mask);
}
/* vp is about to run w: hears, or stays deaf. */
void vp_hear_for(struct vp *vp, struct ps_work w);
/* The kernel thread that carries vp, a new one, takes the mask that was kept for it, or becomes deaf. */
void vp_take_signals(struct vp *vp);

/* The vp's loop is about to look for work and has none at hand: a handoff may come from now on. Before a member is
 * counted out, so that the parent's next region finds the handoff slot open. */
void vp_offer(struct vp *vp);

/* vp has taken w and gives it up: to the back, since others of the queue may have a stack. A claimed member becomes a
 * thread. */
void vp_put_back(struct vp *vp, struct ps_work w);
/* vp has taken t, but t's context is not saved yet: t goes to the queue of `to`. A thread that is bound to vp was
 * pinned there, and is pinned again. Example: a root's own stack comes back from a promoted member's kernel thread,
 * which may not have left it yet (promote.h). */
void vp_hand_back(struct vp *vp, struct psthread *t, struct vp *to);
/* There is no stack for vp's loop: it takes part in nothing until there is one. What was counted on it for goes to
 * others. */
void vp_stand_aside(struct vp *vp);

#endif
