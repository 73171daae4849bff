/* The parent waits for members that run elsewhere: see fork_join.h.
 *
 * It spins for a while, takes back the members that were handed off to vps which do not look, and blocks at last. Where
 * it is wanted as member 0 meanwhile it runs tasks (team_help.c). */
#include "fork_join.h"

#include "current.h"
#include "handoff.h"
#include "run_member.h"
#include "runtime.h"
#include "scheduler.h"
#include "search.h"
#include "sources.h"
#include "team.h"
#include "team_member.h"
#include "vp.h"

/* Takes back the message of a member of this team that vp `other` (NULL: none) has not read. Its number; 0: no such. */
static inline unsigned take_handoff(struct vp *other, const struct ps_team *team)
{
    uint64_t handoff = other ? ps_load_relaxed(&other->handoff) : HANDOFF_BUSY;
    if (handoff <= HANDOFF_IDLE || ps_handoff_team(handoff) != team ||
        !ps_cas_acq_rel(&other->handoff, &handoff, HANDOFF_IDLE))
        return 0;
    return ps_handoff_id(handoff);
}

/* Runs members that were handed off to vps which have not looked yet (their kernel thread is late). How many; *all: all
 * have ended. */
static unsigned take_handoffs_back(struct vp *vp, struct ps_team *team, bool *all)
{
    unsigned taken = 0;
    unsigned vps = ps_load_acquire(&ps_rt.table_size);
    ps_update(team->parent_tls, vp_run(vp)->tls);
    for (unsigned i = 0; i < vps; i++) {
        unsigned id = take_handoff(ps_vp_at(i), team);
        if (id == 0)
            continue;
        struct run run = {0};
        struct uth_tls *before = vp_run(vp)->tls;
        suspend_parent(team, before);
        vp = ps_member_run_body(vp, team, ps_team_member(team, id), PS_T_CALLED, before, false, &run);
        resume_parent(vp, team, before);
        taken++;
        *all = drop_refs(team, run.last, run.refs) == 0;
        vp = ps_vp();
    }
    return taken;
}

/* How long a parent leaves handed-off members to vps that are about to look, and spins for members that run
 * elsewhere. */
#define JOIN_SPINS 3       /* times ps_spin_limit */
#define JOIN_LONG_SPINS 16 /* the same, once it is certain that each runs on a vp of its own */

static bool spin_for_members(struct ps_team *team, unsigned limit)
{
    for (unsigned i = 0; i < limit; i++) {
        if (ps_load_acquire(&team->left) == 0)
            return true;
        if (!(i % 16) && (!ps_spin_useful() || ps_load_relaxed(&team->notified))) /* tasks to be run meanwhile */
            return false;
        cpu_pause();
    }
    return false;
}

static void requeue_handoffs(struct vp *vp, struct ps_team *team)
{
    unsigned vps = ps_load_acquire(&ps_rt.table_size);
    for (unsigned i = 0; i < vps; i++) {
        unsigned id = take_handoff(ps_vp_at(i), team);
        if (id != 0)
            ps_team_enqueue_late(team, id, vp);
    }
}

/* The parent waits: what `left` was. 0: all have ended; with PS_TEAM_WANTED the parent shall assist, and has taken the
 * bit off; else it blocks. */
static uint64_t begin_to_wait(struct ps_team *team)
{
    uint64_t left = ps_load_seq(&team->left), next;
    do
        next = left & PS_TEAM_WANTED ? left & ~PS_TEAM_WANTED : left | PS_TEAM_WAITING;
    while (left != 0 && !ps_cas_seq(&team->left, &left, next));
    return left;
}

/* Blocks until all members have ended, and comes back to assist as often as member 0 is to help. */
static void wait_and_assist(struct ps_team *team)
{
    struct ps_member *m = ps_team_member(team, 0);
    bool mine = team->recalled ? ps_member_is_done(team, m) : ps_member_take_done(team, m);
    for (uint64_t left;;) {
        for (; mine; mine = team->ops->idle(m)) {
            ps_team_assist_oneself(team);
            ps_team_become_parent(ps_vp(), team);
        }
        if ((left = begin_to_wait(team)) == 0)
            break;
        mine = left & PS_TEAM_WANTED;
        if (mine)
            continue;
        ps_block(team->parent, PS_WAIT_TEAM_END, team);
        if (ps_load_acquire(&team->left) == PS_TEAM_WAITING) /* else ps_team_help has cleared that */
            break;
    }
    ps_store_relaxed(&team->left, 0);
}

/* A handoff was taken back unread: the vp that idled there does not run, because something else has its processor. The
 * parent has spun in vain, and would again. So the next regions that are offered, 1 to 63 of them, only publish their
 * members. Vps that do run still take them. */
static void handoff_was_late(struct ps_team *team)
{
    team->unread += team->unread < PS_UNREAD_MOST;
    team->unoffered = (uint8_t)((1u << team->unread) - 1);
}

/* No vp has the members that are left, and the loop on the parent's vp will take them at once. */
static bool rest_is_for_loop(const struct vp *vp, struct ps_team *team)
{
    return team->region < ps_load_relaxed(&uth_tls_asks) && !vp_is(vp, VP_DEDICATED) && !vp_stays_with_root(vp) &&
           !team->handed_off && !ps_team_exhausted(team);
}

/* Members' own kernel threads that spun at the fork, and have not seen their members so far, do not run. Perhaps they
 * wait for this processor. */
static PS_NOINLINE void call_dedicated(const struct ps_team *team)
{
    int cpu = ps_places_on() ? -1 : os_current_cpu();
    for (unsigned id = 1; id < team->n && cpu >= 0; id++) {
        const struct ps_member *m = ps_team_member(team, id);
        struct vp *own = own_stack_vp(m->tls);
        if (own && ps_load_relaxed(&own->pinned) == &m->thread)
            ps_store_relaxed(&own->dedicated.leave, (uint32_t)cpu + 1);
    }
}

void ps_team_wait_for_members(struct ps_team *team, bool room)
{
    unsigned limit = ps_spin_limit() * JOIN_SPINS;
    if (!room && rest_is_for_loop(ps_vp(), team)) {
        wait_and_assist(team);
        return;
    }
    if (spin_for_members(team, limit))
        return;
    if (team->handed_off && (!room || team->scattered)) {
        requeue_handoffs(ps_vp(), team);
    } else if (team->handed_off) {
        bool all = false;
        if (take_handoffs_back(ps_vp(), team, &all))
            handoff_was_late(team);
        else
            team->unread = 0;
        ps_team_become_parent(ps_vp(), team);
        if (all)
            return;
    }
    if (team->awake)
        call_dedicated(team);
    if (ps_load_relaxed(&team->spread) && spin_for_members(team, limit * JOIN_LONG_SPINS))
        return;
    wait_and_assist(team);
}
