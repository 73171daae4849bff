/* A region from its fork to its join, on the parent: member 0. data/team.h has the states and lifetime.
 *
 * At the fork the members go to idle vps by handoff, or the team's entry goes into the parent's queue. At the join the
 * parent claims what no vp has claimed and runs it as calls on its own stack (run_member.h), takes back handoffs that
 * no vp has read, and waits for the others (join_wait.c).
 * Callers: the parent, which may open a region.
 *
 * Orderings.
 *  - fork -> member: what the parent wrote before the fork is seen by a member, through the queue's lock or the
 *    handoff slot's compare-and-swap (release) and its taking (acquire). For this a claim needs no order: a vp that
 *    claims has come that way, or is the parent's, or has claimed before.
 *  - member -> join: `left` is counted down with release (seq_cst), the parent reads 0 with acquire.
 *  - done_in -> the thread that makes the first task: through (A) or (B) of tests/models/team_join.md, which acquire
 *    what the subtraction or the claim (acq_rel) released.
 *
 * Cost: fork: one lock and unlock of the parent's own queue, or one compare-and-swap per idle vp (an outermost region,
 * or an inner one after a region with barriers).
 * Member: one fetch-and-add for the claim; one for the end of a whole run of claims. Join without stealing: one lock
 * and unlock.
 *
 * Rejected: one ready thread per member (n insertions; the members' lines are touched by the parent twice);
 * counting the end of each member by itself (one more atomic each). */
#include "team.h"

#include "bind.h"
#include "check.h"
#include "current.h"
#include "floats.h"
#include "fork_join.h"
#include "handoff.h"
#include "home.h"
#include "idle.h"
#include "inherited.h"
#include "needs.h"
#include "recall.h"
#include "receiver.h"
#include "root_fairness.h"
#include "run_member.h"
#include "runtime.h"
#include "scheduler.h"
#include "sources.h"
#include "team_member.h"
#include "tls.h"
#include "vp.h"

#include <string.h>

/* --- fork --- */

/* Offers members to idle vps, in the order of their numbers; returns the first number that was not taken. */
static unsigned hand_off_members(struct vp *self, struct ps_team *team, unsigned n)
{
    unsigned next = 1, vps = ps_load_acquire(&ps_rt.table_size);
    if (n > PS_HANDOFF_MAX_ID)
        return next;
    for (unsigned i = 0; i < vps && next < n; i++) {
        struct vp *vp = ps_vp_at(i);
        if (!vp || vp == self || (!team->handed_off && ps_load_relaxed(&vp->handoff) != HANDOFF_IDLE) ||
            home_is_aside(vp))
            continue; /* vps that idled at the last region's start likely do so again: no look, the line moves once */
        uint64_t idle = HANDOFF_IDLE;
        if (!ps_cas_seq(&vp->handoff, &idle, ps_handoff(team, next)))
            continue;
        next++;
        idle_wake_this(vp);
    }
    return next;
}

/* Whether a region calls ps_per_region_work though it reads no clock otherwise. A region does so if something may have
 * been loaded, or there are several roots (root_spread.h). It also does if the root has changed what it has of its
 * kernel thread. What is left is for the watchdog (quota_park.h), where there are several vps. */
static inline bool needs_per_region_work(const struct vp *vp)
{
    return PS_UNLIKELY(vp_run(vp)->per_region_at == 0 || !uth_tls_nothing_loaded() ||
                       ps_load_relaxed(&ps_rt.table_size) > ps_rt.num_vps);
}

/* Whether the parent runs an outermost region of n members, which begins now, alone; tells the thieves. Where the
 * parent does so and the region is not timed, the clock is read only if there may be something to do. A reading takes
 * as long as a member, since the thread pointer's write waits for it. */
static PS_NOINLINE bool is_serial(struct vp *vp, struct ps_team *team, unsigned n)
{
    uint32_t closed = ps_load_relaxed(&vp->closed);
    bool serial = false, timed = false;
    if (n <= PS_SERIAL_MOST_MEMBERS && !vp_stays_with_root(vp)) { /* such a parent runs no members */
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

/* Here, since a fiber is ordered behind what its maker has done: made where a member begins, it would hide that the
 * parent races with it. */
static PS_COLD void make_fibers(struct ps_team *team, unsigned n)
{
    for (unsigned id = 1; id < n; id++)
        san_fiber_make(&ps_team_member(team, id)->fiber);
}

/* The opener is of different priority: each member gets a kernel thread of its own, started by the opener's
 * (priority.h). */
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

/* What members read and count in the region. Nothing to claim while the handoffs go out: a vp that gets some must not
 * claim a number that is handed off next. */
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

/* Counts up with each barrier that the team meets, by the word or by rounds. */
static inline uint32_t barriers_met(const struct ps_team *team)
{
    return ps_team_barrier_phase(team) + (uint32_t)ps_team_member(team, 0)->rounds;
}

/* Members of an inner region that meet in barriers want a vp each from the start. Where vps take them from a queue, two
 * begin on one vp, and one of these is taken away at the next barrier, again and again. Members that meet in no barrier
 * are better left in the queue: the parent runs short ones sooner than others come. So the team's last region tells.
 * It must be possible, too: n - 1 vps search. A team of more members than half the vps is not asked. Its fellow teams
 * cannot all have such vps, and then members are better off together: a vp that is idle for a moment would draw them
 * apart. */
static PS_NOINLINE bool inner_wants_vps(struct ps_team *team, unsigned n)
{
    uint32_t met = barriers_met(team), seen = team->barriers_seen;
    team->barriers_seen = met;
    return PS_UNLIKELY(met != seen) && IDLE_SEARCHING(idle_word()) >= n - 1;
}

/* Members go to idle vps by handoff. */
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

/* The members may be taken by any vp. */
static PS_ALWAYS_INLINE void fork_unbound(struct vp *vp, struct ps_team *team, unsigned n, bool outermost)
{
    unsigned next = 1;
    if (is_offered(vp, team, n, outermost)) {
        if (n <= ps_rt.num_vps)
            ps_team_rounds_fork(team, n);
        else /* vps of roots may take them all; the last region may have been one of rounds, with fewer members */
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
        ps_team_fork_each(vp, team, n, outermost);
    else
        fork_unbound(vp, team, n, outermost);
    if (specially && vp_is(vp, VP_NEEDS))
        needs_at_fork(team, n);
    ps_member_become(vp, ps_team_member(team, 0), parent, parent->flags & (PS_T_ROOT | PS_T_CALLED));
}

/* --- join --- */

/* The entry leaves the queue, if the vp that claimed the last member has not taken it out. */
static PS_ALWAYS_INLINE void unpublish(struct ps_team *team)
{
    if (!team->home)
        return;
    struct ps_queue *q = team->home;
    ps_spin_lock(&q->lock);
    if (ps_list_linked(&team->item.link))
        ps_queue_remove_locked(q, &team->item);
    ps_spin_unlock(&q->lock);
}

/* The parent, before it runs others as calls and cannot help any more. What is left of its references. */
static PS_NOINLINE unsigned help_first(struct ps_team *team, struct ps_member *last, unsigned refs)
{
    if (!refs || ps_team_exhausted(team))
        return refs;
    drop_refs(team, last, refs);
    return 0;
}

/* The parent has claimed member id, and the region has tasks now. Where it has references to drop, it looks for tasks
 * first, and the member becomes a thread: true. */
static PS_NOINLINE bool claimed_late(struct vp *vp, struct ps_team *team, unsigned id, unsigned refs)
{
    if (refs)
        ps_team_enqueue_late(team, id, vp);
    return refs != 0;
}

/* Runs what no vp took, as calls on this stack. True: all members have ended. */
static bool run_the_rest(struct vp *vp, struct ps_team *team)
{
    unsigned id, inherited = team->parent->flags & PS_T_ROOT;
    struct run run = {1, ps_team_member(team, 0)};
    struct uth_tls *before = vp_run(vp)->tls;
    ps_update(team->parent_tls, before);
    suspend_parent(team, before);
    for (;;) {
        if (PS_UNLIKELY(ps_load_relaxed(&team->notified))) {
            resume_parent(vp, team, before);
            run.refs = help_first(team, run.last, run.refs);
            vp = ps_vp();
            suspend_parent(team, before);
        }
        if ((id = ps_team_claim(team)) == 0)
            break;
        if (PS_UNLIKELY(ps_load_relaxed(&team->notified)) && claimed_late(vp, team, id, run.refs))
            continue;
        vp = ps_member_run_body(vp, team, ps_team_member(team, id), PS_T_CALLED | inherited, before, false, &run);
    }
    vp = resume_parent(vp, team, before);
    ps_team_become_parent(vp, team);
    unpublish(team);
    if (run.refs == team->n && !ps_load_relaxed(&team->notified)) {
        ps_store_relaxed(&team->left,
                         0); /* no other was in the region: one that is, or adds an assistant, has a reference */
        return true;
    }
    if (drop_refs(team, NULL, run.refs) == 0)
        return true;
    if (run.last->id != 0)
        ps_member_tell_core(team, run.last);
    return false;
}

/* The parent calls no members on its stack: they become threads. */
static PS_NOINLINE void leave_rest_to_others(struct vp *vp, struct ps_team *team)
{
    struct vp *to = ps_vp_for_others(vp);
    for (unsigned id; (id = ps_team_claim(team)) != 0;)
        ps_team_enqueue_late(team, id, to);
}

#define SERIAL_A_PERIOD 4 /* members that take a microsecond each and more take too long for that */

static PS_NOINLINE void time_serial(struct ps_team *team)
{
    uint64_t cycles = cpu_cycles() - team->serial.began;
    team->at_end.timed = false;
    ps_serial_end(&team->serial, cycles, team->n * (ps_rt.per_region_cycles / SERIAL_A_PERIOD));
}

static inline void join(struct vp *vp, struct ps_team *team)
{
    struct ps_member *self = ps_team_member(team, 0);
    /* Where members leave tasks to each other the parent stays free to run some: no other can in its name. Where
     * they may ask for their stacks' bounds they are not on its stack (own_stack.h). */
    bool tls = ps_tls_on();
    bool room = !vp_stays_with_root(vp) && uth_has_room(vp_run(vp)->uth, __builtin_frame_address(0)) &&
                !(tls && (ps_load_relaxed(&team->had_tasks) | (team->region < ps_load_relaxed(&uth_tls_asks))));
    team->recalled = tls;
    if (!tls)
        ps_store_release(&self->done_in, team->region); /* else it is not free before it waits */
    else
        ps_floats_at_join(team);
    if (PS_LIKELY(room)) {
        if (!run_the_rest(vp, team))
            ps_team_wait_for_members(team, room);
        return;
    }
    /* The parent is deep in its stack, or may be wanted: the others find fresh stacks, while it waits. */
    ps_team_become_parent(ps_vp(), team);
    if (!team->home) /* in a forked child members may be left: ps_team_after_fork_in_child */
        leave_rest_to_others(ps_vp(), team);
    if (drop_refs(team, NULL, 1) != 0)
        ps_team_wait_for_members(team, room);
    unpublish(team);
}

/* Members that the parent has called have left others than its own. */
static PS_NOINLINE void take_floats_back(struct ps_team *team)
{
    const struct cpu_float own = team->joined;
    if (cpu_float_controls_changed(&own) && !cpu_float_controls_differ(&own, &ps_rt.floats))
        ps_floats_left(ps_vp(), team, team->region);
    cpu_float_set(&own);
}

static PS_NOINLINE void see_to_end(struct ps_team *team)
{
    if (team->at_end.timed)
        time_serial(team);
    if (team->at_end.controls)
        ps_floats_give_back(team);
    if (team->at_end.watched)
        recall_unwatch(team);
    if (team->at_end.turn)
        root_fairness_give();
    if (team->at_end.granted || ps_load_relaxed(&team->at_end.helped))
        needs_learn(team);
    memset(&team->at_end, 0, sizeof team->at_end);
}

/* Whether the parent is a root that is not pinned to its home. In a forked child, also whether it has forked. */
static inline bool is_away(const struct psthread *parent)
{
    return PS_UNLIKELY(ps_load_relaxed(&ps_rt.roots_leave)) &&
           (parent == ps_rt.forked_root ||
            ((parent->flags & (PS_T_ROOT | PS_T_MEMBER)) == PS_T_ROOT && parent->uth->vp != home_of(parent)));
}

/* The region was the root's outermost one; or perhaps, in a forked child, the one of those that are there. */
static PS_NOINLINE void come_home(struct psthread *parent)
{
    if (parent->flags & PS_T_MEMBER && !ps_is_outside(ps_rt.forked_home, parent))
        return;
    home_come(parent);
    vp_migrate(ps_vp(), parent);
}

void ps_team_join(struct ps_team *team)
{
    struct vp *vp = ps_vp();
    int error = vp_errno(vp); /* members that are run as calls may share it, and have the processor's state */
    cpu_float_save(&team->joined);
    join(vp, team);
    if (PS_UNLIKELY(cpu_float_changed(&team->joined)))
        take_floats_back(team);
    if (PS_UNLIKELY(ps_team_has_to_see_to(team)))
        see_to_end(team);
    if (is_away(team->parent))
        come_home(team->parent);
    vp_set_errno(ps_vp(), error);
}
