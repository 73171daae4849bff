/* Members that become threads, because the vp that has them cannot run them at once. See handoff.h. */
#include "handoff.h"

#include "dedicated.h"
#include "own_stack.h"
#include "run.h"
#include "sources.h"
#include "team.h"
#include "upcalls.h"

void ps_member_begin_thread(struct ps_member *m, struct vp *vp)
{
    m->thread.uth = NULL;
    struct vp *own = own_stack_vp(m->tls);
    if (PS_UNLIKELY(own != NULL))
        ps_pin_dedicated(own, &m->thread);
    else
        vp_enqueue(vp, &m->thread.item, PS_BACK);
}

void ps_team_enqueue_late(struct ps_team *team, unsigned id, struct vp *vp)
{
    struct ps_member *m = ps_team_member(team, id);
    ps_member_set(m, team->parent, 0);
    m->thread.vp = vp;
    m->thread.member_fn = ps_upcalls.late_member;
    ps_member_begin_thread(m, vp);
}

void ps_handoff_close(struct vp *vp, struct vp *to)
{
    uint64_t handoff = ps_xchg_acq_rel(vp_handoff(vp), HANDOFF_BUSY);
    if (handoff > HANDOFF_IDLE)
        ps_team_enqueue_late(ps_handoff_team(handoff), ps_handoff_id(handoff), to);
}
