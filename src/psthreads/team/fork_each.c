/* The fork of a region whose members are bound to places, or dedicated: see fork_join.c. */
#include "team.h"

#include "bind.h"
#include "fork_join.h"
#include "handoff.h"
#include "home.h"
#include "idle.h"
#include "own_stack.h"
#include "runtime.h"
#include "sources.h"
#include "vp.h"

/* m, which is not bound, goes to a vp of those from *slot on that is idle. */
static bool hand_off(struct vp *self, struct ps_member *m, unsigned *slot)
{
    unsigned vps = ps_load_acquire(&ps_rt.table_size);
    while (*slot < vps && m->id < PS_HANDOFF_MAX_ID) {
        struct vp *vp = ps_vp_at((*slot)++);
        uint64_t idle = HANDOFF_IDLE;
        if (!vp || vp == self || home_is_aside(vp) || !ps_cas_seq(&vp->handoff, &idle, ps_handoff(m->team, m->id)))
            continue;
        idle_wake_this(vp);
        return true;
    }
    return false;
}

/* Members 1 .. n-1, each by itself: on its own kernel thread; by handoff to a vp, of its place where it has one; or as
 * a thread, into the place's queue, or vp's. */
static void fork_each(struct vp *vp, struct ps_team *team, unsigned n, bool outermost)
{
    unsigned handed_off = 0, dedicated = 0, slot = 0;
    bool awake = true, fits = n <= ps_rt.num_vps;
    ps_team_rounds_fork(team, n);
    for (unsigned id = 1; id < n; id++) {
        struct ps_member *m = ps_team_member(team, id);
        struct vp *own = own_stack_vp(m->tls);
        if (own) {
            dedicated++;
            awake &= !ps_load_relaxed(&own->dedicated.sleeps);
            ps_update_relaxed(&own->dedicated.may_spin, fits);
        } else if (team->scattered ? ps_bind_hand_off(vp, m, id) : outermost && fits && hand_off(vp, m, &slot)) {
            handed_off++;
            continue;
        }
        ps_team_enqueue_late(team, id, vp);
    }
    bool spread = handed_off + dedicated == n - 1 && fits;
    ps_store_relaxed(&team->spread, spread);
    if (!spread)
        ps_team_rounds_none(team);
    team->handed_off = handed_off > 0;
    team->awake = awake && dedicated && spread;
    if (!dedicated)
        ps_store_relaxed(&team->forks, ps_load_relaxed(&team->forks) & PS_FORKS_BOUND);
}

/* Members of a team that are bound, or have kernel threads of their own. Where all have the same place the entry goes
 * into that one's queue. */
PS_NOINLINE void ps_team_fork_each(struct vp *vp, struct ps_team *team, unsigned n, bool outermost)
{
    if (outermost)
        ps_per_region_work(vp, team);
    if (PS_UNLIKELY(ps_load_relaxed(&vp->closed)))
        ps_store_relaxed(&vp->closed, PS_CLOSED_NOT);
    if (team->scattered || !(ps_load_relaxed(&team->forks) & PS_FORKS_BOUND)) {
        fork_each(vp, team, n, outermost);
        return;
    }
    ps_store_relaxed(&team->spread, false);
    ps_team_rounds_none(team);
    team->handed_off = false;
    struct ps_queue *places = ps_bind_queue(&team->item);
    ps_store_relaxed(&team->next, 1);
    team->home = places ? places : &vp->queue;
    vp_enqueue(vp, &team->item, PS_FRONT);
}
