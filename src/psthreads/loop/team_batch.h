/* Members that wait in their team's barrier on one vp: a batch. The states are in team_barrier.c. */
#ifndef PS_TEAM_BATCH_H
#define PS_TEAM_BATCH_H

#include "data/team.h"
#include "upcalls.h"
#include "vp.h"

/* ps_team_barrier_meet where members share vps. The member joins the waiters of its vp, and the thread that the vp
 * would run next runs. That next thread must be of the same team, and the region without tasks; else the call is
 * ps_team_barrier_count. May switch. */
enum ps_met vp_wait_in_batch(struct ps_team *team, struct ps_member *m, uint32_t phase, bool counted);
static inline bool vp_has_waiters(struct vp *vp) { return ps_load_acquire(&vp->waiters.count) != 0; }

/* vp is about to go on with something that it has not chosen for its waiters' sake. */
static inline void vp_leave_waiters(struct vp *vp)
{
    if (PS_UNLIKELY(vp_has_waiters(vp)))
        ps_upcalls.leave_waiters(vp);
}

#endif
