/* Teams: their blocks and members' identities, and the fork. See team.h for states and lifetime.
 *
 *   team.c          the block, the fork
 *   team_run.c      members run; the join
 *   team_lend.c     members that run as threads; the first task of a region; lending
 *   team_member.h   how a vp takes on a member's identity
 *   team_barrier.c  the barrier; team_batch.c, team_rounds.c: its two forms
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
 * counting the end of each member alone (one more atomic each). */
#include "team.h"

#include "bind.h"
#include "check.h"
#include "current.h"
#include "floats.h"
#include "handoff.h"
#include "home.h"
#include "identity.h"
#include "idle.h"
#include "inherited.h"
#include "needs.h"
#include "race.h"
#include "receiver.h"
#include "runtime.h"
#include "scheduler.h"
#include "sources.h"
#include "switch.h"
#include "team_member.h"
#include "tls.h"
#include "vp.h"
#include "watchdog.h"

void ps_team_init(struct ps_team *team, const struct ps_team_ops *ops, void *members, size_t stride, unsigned n_max)
{
    *team = (struct ps_team){.item.kind = PS_KIND_TEAM,
                             .ops = ops,
                             .members = members,
                             .stride = (uint32_t)stride,
                             .n_max = n_max,
                             .floats = ps_rt.floats,
                             .joined = ps_rt.floats};
    for (unsigned id = 0; id < n_max; id++) {
        struct ps_member *m = ps_team_member(team, id);
        *m = (struct ps_member){.team = team};
        m->thread.item.kind = PS_KIND_THREAD;
        m->thread.flags = PS_T_MEMBER;
        m->id = id;
    }
    struct vp *vp = ps_vp_attach();
    if (vp->run.current != &vp->run.root)
        return;
    home_prepare(vp);
    if (home_block(vp) && PS_HAS_IDENTITY)
        ps_identity.root_begins(vp);
}

/* --- blocks between regions --- */

void ps_team_begin_block(struct ps_team *team, struct uth_tls *block, const struct psthread *opener)
{
    block->mask = ps_mask_of_members(opener);
    vp_block_becomes(block, team);
}

/* What the program left with a member: threads it has made (their parent must outlast them), keys' values, thread-local
 * objects. Their destructors run as a call of the member's, outside of every region: where they use OpenMP, the core
 * makes a root of it for that while. The caller, whose team is being given back, may not be that root. */
static void end_identity(struct ps_member *m)
{
    struct vp *vp = ps_vp_attach();
    struct uth_tls *before = vp->run.tls;
    struct psthread *caller = vp->run.current;
    struct uth_tls *outer = before == vp->run.dedicated_to ? before : NULL;
    bool alone = false; /* its kernel thread may stand in the block, with a handler */
    if (m->tls) {
        vp_block_becomes(m->tls, NULL); /* its kernel thread is waited for before the team goes */
        alone = ps_load_seq(&m->tls->dedicated) != NULL;
        vp_enter_tls(vp, alone ? outer : m->tls);
    }
    ps_member_set(m, caller, PS_T_CALLED | (caller->flags & PS_T_ROOT));
    m->thread.local = NULL;
    m->thread.uth = vp->run.uth;
    m->thread.vp = vp;
    vp->run.current = &m->thread;
    if (alone)
        ps_dedicate_again(&m->thread, m->tls);
    ps_thread_end_member(&m->thread);
    if (m->tls)
        vp_end_tls(ps_vp());
    ps_end_local(&m->thread);
    vp = ps_vp();
    caller->uth = vp->run.uth;
    caller->vp = vp;
    vp->run.current = caller;
    vp_enter_tls(vp, before);
    m->tls = NULL;
}

void ps_team_fini(struct ps_team *team)
{
    PS_CHECK(ps_load_relaxed(&team->left) == 0, "a team was given back while its region is open");
    for (unsigned id = 0; id < team->n_max; id++) {
        struct ps_member *m = ps_team_member(team, id);
        if (id > 0)
            san_fiber_end(&m->fiber);
        if (m->tls || m->thread.keys || m->thread.created || ps_load_relaxed(&m->thread.zombies))
            end_identity(m);
    }
}

bool ps_team_succeed(struct ps_team *larger, struct ps_team *team, unsigned id)
{
    struct ps_member *to = ps_team_member(larger, id), *from = ps_team_member(team, id);
    if (from->thread.created || ps_load_relaxed(&from->thread.zombies))
        return false;
    to->tls = from->tls;
    if (to->tls) {
        vp_block_becomes(to->tls, larger);
        ps_team_await_lookers();
        struct vp *own = ps_load_acquire(&to->tls->dedicated);
        if (own && ps_load_relaxed(&own->run.stands_as) == from) /* thread_signal.h */
            ps_store_relaxed(&own->run.stands_as, to);
    }
    to->fiber = from->fiber;
    to->thread.keys = from->thread.keys;
    from->tls = NULL;
    from->fiber = from->thread.keys = NULL;
    if (ps_load_relaxed(&team->had_tasks))
        ps_store_relaxed(&larger->had_tasks, true);
    return true;
}

unsigned ps_team_take_tls(struct ps_team *team, unsigned n)
{
    for (unsigned id = 1; id < n && uth_tls_enabled(); id++) {
        struct ps_member *m = ps_team_member(team, id);
        if (m->tls)
            continue;
        if (!(m->tls = vp_try_tls(ps_vp_attach())))
            return id;
        ps_team_begin_block(team, m->tls, ps_vp()->run.current);
    }
    return n;
}

/* --- fork --- */

/* Offers members to idle vps, in the order of their numbers; returns the first number that was not taken. */
static unsigned hand_off_members(struct vp *self, struct ps_team *team, unsigned n)
{
    unsigned next = 1, slots = ps_load_acquire(&ps_rt.num_slots);
    if (n > PS_HANDOFF_MAX_ID)
        return next;
    for (unsigned i = 0; i < slots && next < n; i++) {
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

/* Whether a region calls ps_recheck_tls though it reads no clock otherwise. A region does so if something may have been
 * loaded, or there are several roots (root_spread.h). It also does if the root has changed what it has of its kernel
 * thread. What is left is for the watchdog (quota_park.h), where there are several vps. */
static inline bool recheck_needed(const struct vp *vp)
{
    return PS_UNLIKELY(vp->run.rechecked_at == 0 || !uth_tls_nothing_loaded() ||
                       ps_load_relaxed(&ps_rt.num_slots) > ps_rt.num_vps);
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
    if (!serial || timed || recheck_needed(vp)) {
        uint64_t now = ps_recheck_tls(vp, team);
        team->at_end.timed = timed;
        team->serial.began = now;
    }
    if (serial)
        ps_store_relaxed(&vp->serial_regions, ps_load_relaxed(&vp->serial_regions) + 1);
    if (closed != (serial ? PS_CLOSED : PS_CLOSED_NOT))
        ps_store_relaxed(&vp->closed, serial ? PS_CLOSED : PS_CLOSED_NOT);
    return serial;
}

void ps_member_bind(struct ps_member *m, int place)
{
    m->place = (uint32_t)(place + 1);
    m->thread.item.bound = place != PS_NO_PLACE;
}

void ps_team_bind(struct ps_team *team, int place, bool scattered)
{
    team->place = (uint32_t)(place + 1);
    team->item.bound = place != PS_NO_PLACE;
    team->scattered = scattered;
    ps_store_relaxed(&team->forks, scattered || place != PS_NO_PLACE ? PS_FORKS_BOUND : 0);
}

/* Here, since a fiber is ordered behind what its maker has done: made where a member begins, it would hide that the
 * parent races with it. */
static PS_COLD void make_fibers(struct ps_team *team, unsigned n)
{
    for (unsigned id = 1; id < n; id++)
        san_fiber_make(&ps_team_member(team, id)->fiber);
}

/* The opener is apart: each member gets a kernel thread of its own, started by the opener's (priority.h). */
static PS_COLD void start_carriers(struct vp *vp, struct ps_team *team, unsigned n)
{
    for (unsigned id = 1; id < n && ps_tls_on(); id++) {
        struct ps_member *m = ps_team_member(team, id);
        if (!m->tls && (m->tls = vp_try_tls(vp)))
            ps_team_begin_block(team, m->tls, vp->run.current);
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
    ps_store_relaxed(&team->interrupted, 0);
    ps_update_relaxed(&team->next, n);
    ps_floats_at_fork(team);
    if (san_any())
        make_fibers(team, n);
}

/* m, which is not bound, goes to a vp of those from *slot on that is idle. */
static bool hand_off(struct vp *self, struct ps_member *m, unsigned *slot)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    while (*slot < slots && m->id < PS_HANDOFF_MAX_ID) {
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
    unsigned handed_off = 0, alone = 0, slot = 0;
    bool awake = true, fits = n <= ps_rt.num_vps;
    ps_team_rounds_fork(team, n);
    for (unsigned id = 1; id < n; id++) {
        struct ps_member *m = ps_team_member(team, id);
        struct vp *own = own_stack_vp(m->tls);
        if (own) {
            alone++;
            awake &= !ps_load_relaxed(&own->dedicated.sleeps);
            ps_update_relaxed(&own->dedicated.may_spin, fits);
        } else if (team->scattered ? ps_bind_hand_off(vp, m, id) : outermost && fits && hand_off(vp, m, &slot)) {
            handed_off++;
            continue;
        }
        ps_team_enqueue_late(team, id, vp);
    }
    bool spread = handed_off + alone == n - 1 && fits;
    ps_store_relaxed(&team->spread, spread);
    if (!spread)
        ps_team_rounds_none(team);
    team->handed_off = handed_off > 0;
    team->awake = awake && alone && spread;
    if (!alone)
        ps_store_relaxed(&team->forks, ps_load_relaxed(&team->forks) & PS_FORKS_BOUND);
}

/* Members of a team that are bound, or have kernel threads of their own. Where all have the same place the entry goes
 * into that one's queue. */
static PS_NOINLINE void fork_apart(struct vp *vp, struct ps_team *team, unsigned n, bool outermost)
{
    if (outermost)
        ps_recheck_tls(vp, team);
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
    else if (outermost && (ps_rt.num_vps > 1 || recheck_needed(vp)))
        ps_recheck_tls(vp, team);
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
    struct psthread *parent = vp->run.current;
    PS_ASSERT(n >= 2 && n <= team->n_max && ps_load_relaxed(&team->left) == 0);
    reset_region(team, parent, n);
    bool specially = vp_is(vp, VP_STARTS | VP_TO_BE_COUNTED | VP_UNPREPARED | VP_NEEDS);
    if (specially)
        begin_specially(vp, team, n, outermost);
    if (PS_UNLIKELY(ps_load_relaxed(&team->forks)))
        fork_apart(vp, team, n, outermost);
    else
        fork_unbound(vp, team, n, outermost);
    if (specially && vp_is(vp, VP_NEEDS))
        needs_at_fork(team, n);
    ps_member_become(vp, ps_team_member(team, 0), parent, parent->flags & (PS_T_ROOT | PS_T_CALLED));
}

/* Members that had not begun are threads of the parent's, as those that had: none of them runs in the child. There is
 * one exception, beyond what kernel threads allow: the child may come to the end of a region of which it is the first
 * thread. Where all other members were still to be claimed, it claims them there, in the join. So the entry is in no
 * queue (home is NULL): another vp of the child's would begin them at once. */
void ps_team_after_fork_in_child(struct vp *self)
{
    bool may_end = true; /* the caller comes to this team's join, if it goes on */
    ps_team_lookers_reset();
    for (struct psthread *t = self->run.current; t && (t->flags & PS_T_MEMBER); t = t->parent) {
        struct ps_member *m = PS_CONTAINER_OF(t, struct ps_member, thread);
        struct ps_team *team = m->team;
        may_end = may_end && m->id == 0 && ps_load_relaxed(&team->next) == 1;
        if (!may_end)
            ps_store_relaxed(&team->next, team->n);
        if (!team->home)
            continue;
        team->item.link.next = NULL; /* the list that it was in is gone */
        team->home = NULL;
    }
}

void ps_team_forget_block(struct psthread *current, const struct uth_tls *block)
{
    for (struct psthread *t = current; t && (t->flags & PS_T_MEMBER); t = t->parent) {
        struct ps_member *m = PS_CONTAINER_OF(t, struct ps_member, thread);
        if (m->tls == block)
            m->tls = NULL;
    }
}
