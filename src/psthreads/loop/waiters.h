/* Members that wait in their team's barrier on one vp: a batch. team_barrier.c has the states. */
#ifndef PS_WAITERS_H
#define PS_WAITERS_H

#include "data/team.h"
#include "upcalls.h"
#include "vp.h"

static inline bool vp_has_waiters(struct vp *vp) { return ps_load_acquire(&vp->waiters.count) != 0; }

/* Called when vp may have waiters, and is about to run something else than a member of their team. Counts the waiters
 * as arrived and publishes them in the team, so that they do not depend on this vp. */
static inline void vp_leave_waiters(struct vp *vp)
{
    if (PS_UNLIKELY(vp_has_waiters(vp)))
        ps_upcalls.leave_waiters(vp);
}

#endif
