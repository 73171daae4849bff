/* The fork of a region, on the parent, which becomes member 0. data/team.h has the states and lifetime.
 *
 * The members go to idle vps by handoff, or the team's entry goes into the parent's queue. Members go one by one if
 * they have different places, or if some have dedicated kernel threads and none has a place.
 * Caller: the parent. The join: team_join.c.
 *
 * Ordering, fork -> member: a member sees what the parent wrote before the fork. Either the vp that begins the member
 * has taken the queue's lock after the parent. Or it has taken the message in its handoff slot, or the member in its
 * pinned slot (acquire), which the parent put there (release). So a claim itself needs no order: the vp that claims has
 * come in one of these ways, or has claimed before, or is the parent's.
 *
 * Cost: one lock and unlock of the parent's own queue, or one compare-and-swap per idle vp (an outermost region, or
 * an inner one after a region with barriers).
 *
 * Rejected: one ready thread per member (n insertions; the parent touches the members' lines twice). */
#include "team.h"

#include "bind.h"
#include "current.h"
#include "floats.h"
#include "handoff.h"
#include "home.h"
#include "idle.h"
#include "needs.h"
#include "own_stack.h"
#include "runtime.h"
#include "sources.h"
#include "team_member.h"
#include "tls.h"
#include "vp.h"

/* Hands members to idle vps in the order of their numbers. Returns the first number that was not handed off; n: all
 * were. */
static unsigned hand_off_members(struct vp *self, struct ps_team *team, unsigned n)
{
    unsigned next = 1, vps = ps_load_acquire(&ps_rt.table_size);
    if (n > PS_HANDOFF_MAX_ID)
        return next;
    for (unsigned i = 0; i < vps && next < n; i++) {
        struct vp *vp = ps_vp_at(i);
        /* if the last region handed members off, the same vps are likely idle: the slot is not read first, so its
         * line moves once */
        if (!vp || vp == self || (!team->handed_off && ps_load_relaxed(&vp->handoff) != HANDOFF_IDLE) ||
            home_is_aside(vp))
            continue;
        uint64_t idle = HANDOFF_IDLE;
        if (!ps_cas_seq(&vp->handoff, &idle, ps_handoff(team, next)))
            continue;
        next++;
        idle_wake_this(vp);
    }
    return next;
}

/* Returns true if an outermost region that does not need the clock has to call ps_per_region_work all the same. There
 * are three reasons: objects may have been loaded; a guest was made, which may be a second root's vp (root_spread.h);
 * or the work is due at once (per_region_at is 0). */
static inline bool needs_per_region_work(const struct vp *vp)
{
    return PS_UNLIKELY(vp_run(vp)->per_region_at == 0 || !uth_tls_nothing_loaded() ||
                       ps_load_relaxed(&ps_rt.table_size) > ps_rt.num_vps);
}

/* Returns true if the parent runs this outermost region of n members alone; sets vp->closed accordingly, which thieves
 * read. If the parent runs the region alone and the region is not timed, reads the clock only if there may be
 * per-region work. Reading the clock takes as long as a member, since it waits for the write of the thread pointer. */
static PS_NOINLINE bool is_serial(struct vp *vp, struct ps_team *team, unsigned n)
{
    uint32_t closed = ps_load_relaxed(&vp->closed);
    bool serial = false, timed = false;
    /* a parent that stays on its kernel thread runs no other members */
    if (n <= PS_SERIAL_MOST_MEMBERS && !vp_stays_with_root(vp)) {
        serial = ps_serial_begin(&team->serial, n, closed == PS_CLOSED_CALLED_OFF);
        timed = ps_serial_timed(&team->serial);
    }
    if (!serial || timed || needs_per_region_work(vp)) {
        uint64_t now = ps_per_region_work(vp, team);
        team->at_end.timed = timed;
        team->serial.began = now;
    }
    if (serial)
        ps_store_relaxed(&vp->serial_regions, ps_load_relaxed(&vp->serial_regions) + 1);
    if (closed != (serial ? PS_CLOSED : PS_CLOSED_NOT))
        ps_store_relaxed(&vp->closed, serial ? PS_CLOSED : PS_CLOSED_NOT);
    return serial;
}

/* Makes the members' fibers. This is done at the fork: a thread sanitizer orders a fiber after all that its maker
 * has done. If the vp that begins the member made the fiber, no race between the parent and the member would be
 * reported. */
static PS_COLD void make_fibers(struct ps_team *team, unsigned n)
{
    for (unsigned id = 1; id < n; id++)
        san_fiber_make(&ps_team_member(team, id)->fiber);
}

/* Starts a dedicated kernel thread for each member but member 0, from the opener's kernel thread, so that it begins
 * with the opener's priority (priority.h). */
static PS_COLD void start_carriers(struct vp *vp, struct ps_team *team, unsigned n)
{
    for (unsigned id = 1; id < n && ps_tls_on(); id++) {
        struct ps_member *m = ps_team_member(team, id);
        if (!m->tls && (m->tls = vp_try_tls(vp)))
            ps_team_begin_block(team, m->tls, vp_run(vp)->current);
        if (m->tls)
            ps_dedicated_number(m->tls);
    }
}

static PS_COLD void begin_specially(struct vp *vp, struct ps_team *team, unsigned n, bool outermost)
{
    if (vp_is(vp, VP_STARTS) && outermost)
        start_carriers(vp, team, n);
    if (vp_is(vp, VP_TO_BE_COUNTED) && outermost) {
        vp_becomes(vp, VP_COUNTED);
        vp_is_no_more(vp, VP_TO_BE_COUNTED);
    }
    if (vp_is(vp, VP_UNPREPARED)) {
        home_prepare(vp);
        if (vp->home.empty)
            vp_is_no_more(vp, VP_UNPREPARED);
    }
}

/* Resets what members read and count in the region. `next` is n while handoffs go out, so that no vp claims a number
 * that is handed off next. */
static PS_ALWAYS_INLINE void reset_region(struct ps_team *team, struct psthread *parent, unsigned n)
{
    ps_update(team->parent, parent);
    ps_update(team->n, n);
    team->home = NULL;
    team->region = team->region + 1 ? team->region + 1 : 1;
    ps_store_relaxed(&team->left, n);
    ps_team_barrier_fork(team, n);
    ps_store_relaxed(&team->notified, 0);
    ps_update_relaxed(&team->next, n);
    ps_floats_at_fork(team);
    if (san_any())
        make_fibers(team, n);
}

/* Returns a number that grows with each barrier of the team, whether its members meet by the word or by rounds. */
static inline uint32_t barriers_met(const struct ps_team *team)
{
    return ps_team_barrier_phase(team) + (uint32_t)ps_team_member(team, 0)->rounds;
}

/* Returns true if the members of an inner region are to get a vp each from the start. That pays for members that meet
 * in barriers. If vps take them from a queue, two may begin on one vp. At the next barrier another vp takes one of the
 * two, and this repeats. Members that meet in no barrier are better left in the queue, since the parent runs short ones
 * sooner than other vps come. So the answer is true if the team has met in barriers since the last call, and n - 1 or
 * more vps search now. Callers do not ask for a team with more members than half the vps: a second such team could not
 * have as many vps, too. */
static PS_NOINLINE bool inner_wants_vps(struct ps_team *team, unsigned n)
{
    uint32_t met = barriers_met(team), seen = team->barriers_seen;
    team->barriers_seen = met;
    return PS_UNLIKELY(met != seen) && IDLE_SEARCHING(idle_word()) >= n - 1;
}

/* Returns true if the members of this region are to be handed off to idle vps. Does the per-region work of an outermost
 * region. */
static PS_ALWAYS_INLINE bool is_offered(struct vp *vp, struct ps_team *team, unsigned n, bool outermost)
{
    bool offered = outermost;
    if (!outermost && PS_UNLIKELY(2 * n <= ps_rt.num_vps))
        offered = inner_wants_vps(team, n);
    if (outermost && PS_LIKELY(ps_rt.predicts_serial))
        offered = !is_serial(vp, team, n);
    else if (outermost && (ps_rt.num_vps > 1 || needs_per_region_work(vp)))
        ps_per_region_work(vp, team);
    if (offered && PS_UNLIKELY(team->unoffered > 0)) {
        team->unoffered--;
        offered = false;
    }
    return offered;
}

/* Opens a region whose members any vp may take. */
static PS_ALWAYS_INLINE void fork_unbound(struct vp *vp, struct ps_team *team, unsigned n, bool outermost)
{
    unsigned next = 1;
    if (is_offered(vp, team, n, outermost)) {
        if (n <= ps_rt.num_vps)
            ps_team_rounds_fork(team, n);
        /* There are more members than workers, but each may still get a vp: some get roots' vps. They do not meet in
         * rounds, even if the last region, with fewer members, did. */
        else
            ps_team_rounds_none(team);
        next = hand_off_members(vp, team, n);
    }
    ps_store_relaxed(&team->spread, next == n);
    team->handed_off = next > 1;
    if (next < n) {
        ps_team_rounds_none(team);
        ps_store_relaxed(&team->next, next);
        team->home = &vp->queue;
        vp_enqueue(vp, &team->item, PS_FRONT);
    }
}

/* --- members that are bound, or dedicated --- */

/* Hands m, which is not bound, to the first idle vp from slot number *slot on, and advances *slot. False: no such vp
 * is idle. */
static bool hand_off_one(struct vp *self, struct ps_member *m, unsigned *slot)
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

/* Begins members 1 .. n-1 one by one. A member with a kernel thread of its own begins there. If the members have
 * different places, any other member is handed off to an idle vp of its place. If they have not, it is handed off to
 * any idle vp, in an outermost region with no more members than vps. A member that was not handed off becomes a thread
 * in its place's queue, or in vp's queue if it is not bound. */
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
        } else if (team->scattered ? ps_bind_hand_off(vp, m, id) : outermost && fits && hand_off_one(vp, m, &slot)) {
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

/* Opens a region whose members are bound, or have kernel threads of their own. If all members have the same place,
 * the team's entry goes into that place's queue. */
static PS_NOINLINE void fork_bound(struct vp *vp, struct ps_team *team, unsigned n, bool outermost)
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

void ps_team_fork(struct ps_team *team, unsigned n, bool outermost)
{
    struct vp *vp = ps_vp();
    struct psthread *parent = vp_run(vp)->current;
    PS_ASSERT(n >= 2 && n <= team->n_max && ps_load_relaxed(&team->left) == 0);
    reset_region(team, parent, n);
    bool specially = vp_is(vp, VP_STARTS | VP_TO_BE_COUNTED | VP_UNPREPARED | VP_NEEDS);
    if (specially)
        begin_specially(vp, team, n, outermost);
    if (PS_UNLIKELY(ps_load_relaxed(&team->forks)))
        fork_bound(vp, team, n, outermost);
    else
        fork_unbound(vp, team, n, outermost);
    if (specially && vp_is(vp, VP_NEEDS))
        needs_at_fork(team, n);
    ps_member_become(vp, ps_team_member(team, 0), parent, parent->flags & (PS_T_ROOT | PS_T_CALLED));
}
