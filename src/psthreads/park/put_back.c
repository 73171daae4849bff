/* A vp gives up work that it has taken. See put_back.h. */
#include "put_back.h"

#include "quota_park.h"
#include "sources.h"
#include "team.h"

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
    else if (ps_work_is_offline(w))
        quota_park_refused(vp);
    else if (ps_work_some(w))
        vp_hand_back(vp, ps_work_thread(w), vp);
}
