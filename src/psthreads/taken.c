/* See taken.h. */
#include "taken.h"

#include "handoff.h"
#include "quota_park.h"
#include "sources.h"
#include "team.h"
#include "tls.h"

void vp_hand_back(struct vp *vp, struct psthread *t, struct vp *to)
{
    if (PS_UNLIKELY(t->uth && t->uth->vp))
        ps_store_seq(vp_pinned(vp), t);
    else
        vp_enqueue(to, &t->item, PS_BACK);
}

void vp_put_back(struct vp *vp, struct ps_work w)
{
    if (ps_work_team(w))
        ps_team_enqueue_late(ps_work_team(w), (unsigned)w.id, vp);
    else if (ps_work_is_rest(w))
        quota_park_refused(vp);
    else if (ps_work_some(w))
        vp_hand_back(vp, ps_work_thread(w), vp);
}

/* m goes to a kernel thread of its own before it begins. */
static bool begins_alone(const struct ps_member *m) { return m->tls && ps_load_relaxed(&m->tls->alone) != NULL; }

static bool is_program_code(struct ps_work w)
{
    struct psthread *t = ps_work_thread(w);
    if (ps_work_is_rest(w))
        return false;
    if (ps_work_team(w))
        return !begins_alone(ps_team_member(ps_work_team(w), (unsigned)w.id));
    if (t->uth)
        return !(t->uth->flags & UTH_ENDS);
    return !(t->flags & PS_T_MEMBER) || !begins_alone(PS_CONTAINER_OF(t, struct ps_member, thread));
}

PS_NOINLINE void vp_hear_for(struct vp *vp, struct ps_work w)
{
    if (vp_run(vp)->is_deaf && is_program_code(w))
        vp_hear(vp);
}
