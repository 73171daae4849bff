/* The join of a region, on the parent: member 0. data/team.h has the states and lifetime.
 *
 * The parent claims the members that no vp has claimed, and runs them as calls on its own stack (run_member.h). Then
 * it waits for the others. It spins for a while. Then it takes back members that were handed off to vps which have not
 * looked into their slots. At last it blocks. If it is needed as member 0 meanwhile, it runs tasks (team_help.c).
 * Caller: the parent. The fork: team_fork.c.
 *
 * Orderings.
 *  - member -> join: members count `left` down with release (seq_cst), the parent reads 0 with acquire.
 *  - done_in -> the thread that makes the first task: through (A) or (B) of tests/models/team_join.md. They acquire
 *    what the subtraction or the claim (acq_rel) has released.
 *
 * Cost: a member: one fetch-and-add for the claim. All members that one vp has claimed: one fetch-and-add for their
 * end. A join without stealing: one lock and unlock.
 *
 * Rejected: counting the end of each member by itself (one more atomic operation each). */
#include "team.h"

#include "current.h"
#include "floats.h"
#include "handoff.h"
#include "home.h"
#include "inherited.h"
#include "needs.h"
#include "own_stack.h"
#include "recall.h"
#include "root_fairness.h"
#include "run_member.h"
#include "runtime.h"
#include "scheduler.h"
#include "sources.h"
#include "team_member.h"
#include "tls.h"
#include "vp.h"

#include <string.h>

/* --- members that run elsewhere --- */

/* Takes back the message in the handoff slot of vp `other` (NULL: no vp), if `other` has not read it and it is for a
 * member of this team. Returns the member's number; 0: there is no such message. */
static inline unsigned take_handoff(struct vp *other, const struct ps_team *team)
{
    uint64_t handoff = other ? ps_load_relaxed(&other->handoff) : HANDOFF_BUSY;
    if (handoff <= HANDOFF_IDLE || ps_handoff_team(handoff) != team ||
        !ps_cas_acq_rel(&other->handoff, &handoff, HANDOFF_IDLE))
        return 0;
    return ps_handoff_id(handoff);
}

/* The parent takes back members that were handed off to vps which have not looked into their slots yet, and runs them.
 * Returns how many it ran. *all: true if all members have ended. */
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

/* How long a parent spins for members that run elsewhere, before it takes handoffs back. */
#define JOIN_SPINS 3       /* the parent spins for this many times ps_spin_limit at most */
#define JOIN_LONG_SPINS 16 /* and for this many times as long if each member is known to run on a vp of its own */

static bool spin_for_members(struct ps_team *team, unsigned limit)
{
    for (unsigned i = 0; i < limit; i++) {
        if (ps_load_acquire(&team->left) == 0)
            return true;
        /* notified: the region has tasks, so the parent may have to run some */
        if (!(i % 16) && (!ps_spin_useful() || ps_load_relaxed(&team->notified)))
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

/* The parent is about to wait. Returns what `left` was. 0: all members have ended. With PS_TEAM_WANTED: the parent
 * has to assist; the bit is cleared. Otherwise: PS_TEAM_WAITING is set, and the parent has to block. */
static uint64_t begin_to_wait(struct ps_team *team)
{
    uint64_t left = ps_load_seq(&team->left), next;
    do
        next = left & PS_TEAM_WANTED ? left & ~PS_TEAM_WANTED : left | PS_TEAM_WAITING;
    while (left != 0 && !ps_cas_seq(&team->left, &left, next));
    return left;
}

/* The parent blocks until all members have ended. Each time member 0 is to help meanwhile, the parent runs tasks, and
 * blocks again. */
static void wait_and_assist(struct ps_team *team)
{
    struct ps_member *m = ps_team_member(team, 0);
    bool mine = team->by_parent_only ? ps_member_is_done(team, m) : ps_member_take_done(team, m);
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
        /* If `left` has another value, ps_team_help has cleared PS_TEAM_WAITING, and the parent is to run tasks. */
        if (ps_load_acquire(&team->left) == PS_TEAM_WAITING)
            break;
    }
    ps_store_relaxed(&team->left, 0);
}

/* Notes that the parent has taken a handoff back unread: the kernel thread of the idle vp probably has no processor.
 * The parent has spun in vain, and would do so again. So the next 1 to 63 regions that would be offered only publish
 * their members. Vps that do run still take them. */
static void handoff_was_late(struct ps_team *team)
{
    team->unread += team->unread < PS_UNREAD_MOST;
    team->unoffered = (uint8_t)((1u << team->unread) - 1);
}

/* Returns true if some members are not claimed, and the loop of the parent's vp is to take them as soon as the parent
 * blocks. Then the parent does not spin first. */
static bool rest_is_for_loop(const struct vp *vp, struct ps_team *team)
{
    return team->region < ps_load_relaxed(&uth_tls_asks) && !vp_is(vp, VP_DEDICATED) && !vp_stays_with_root(vp) &&
           !team->handed_off && !ps_team_exhausted(team);
}

/* The members' dedicated kernel threads were awake at the fork. A kernel thread that has not taken its member yet does
 * not run, perhaps because it waits for the processor on which the parent spins. Tells each of these kernel threads to
 * leave this processor. */
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

/* The parent waits until all members have ended. room: it may run members as calls on its stack, and has run those that
 * no vp had claimed. May switch. */
static PS_NOINLINE void wait_for_members(struct ps_team *team, bool room)
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

/* --- the join --- */

/* Takes the team's entry out of its queue, unless the vp that claimed the last member has done so. */
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

/* The parent drops its references and runs tasks, before it runs further members as calls: while it is suspended below
 * them it cannot run tasks. Does nothing if all members are claimed. Returns how many references the parent still has
 * to drop. */
static PS_NOINLINE unsigned help_first(struct ps_team *team, struct ps_member *last, unsigned refs)
{
    if (!refs || ps_team_exhausted(team))
        return refs;
    drop_refs(team, last, refs);
    return 0;
}

/* The parent has claimed member id, and has seen afterwards that the region has tasks. If the parent has references to
 * drop, it has to look for tasks first. Then this function makes the member a thread, and returns true. */
static PS_NOINLINE bool claimed_late(struct vp *vp, struct ps_team *team, unsigned id, unsigned refs)
{
    if (refs)
        ps_team_enqueue_late(team, id, vp);
    return refs != 0;
}

/* The parent runs the members that no vp took, as calls on this stack. True: all members have ended. */
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
        /* A plain store is enough: no other thread has a reference, so no other thread changes `left`. */
        ps_store_relaxed(&team->left, 0);
        return true;
    }
    if (drop_refs(team, NULL, run.refs) == 0)
        return true;
    if (run.last->id != 0)
        ps_member_tell_core(team, run.last);
    return false;
}

/* Makes threads of the members that no vp has claimed, since the parent calls none on its stack. */
static PS_NOINLINE void leave_rest_to_others(struct vp *vp, struct ps_team *team)
{
    struct vp *to = ps_vp_for_others(vp);
    for (unsigned id; (id = ps_team_claim(team)) != 0;)
        ps_team_enqueue_late(team, id, to);
}

#define SERIAL_A_PERIOD 4 /* a member of a short region takes less than 4 us divided by this */

static PS_NOINLINE void time_serial(struct ps_team *team)
{
    uint64_t cycles = cpu_cycles() - team->serial.began;
    team->at_end.timed = false;
    ps_serial_end(&team->serial, cycles, team->n * (ps_rt.per_region_cycles / SERIAL_A_PERIOD));
}

/* The join of a parent that calls no members (`room` in ps_team_join says why). Vps run the other members on other
 * stacks while the parent waits. */
static PS_NOINLINE void join_without_calls(struct ps_team *team)
{
    ps_team_become_parent(ps_vp(), team);
    if (!team->home) /* no queue has an entry: members are left in a forked child only (ps_team_after_fork_in_child) */
        leave_rest_to_others(ps_vp(), team);
    if (drop_refs(team, NULL, 1) != 0)
        wait_for_members(team, false);
    unpublish(team);
}

/* Sets the parent's own controls again. If these are plain, and members that the parent has called have left others,
 * notes the others as the members'. */
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

/* Returns true if the parent is a root whose context is not bound to its home. In a forked child the thread that forked
 * counts as such a root. */
static inline bool is_away(const struct psthread *parent)
{
    return PS_UNLIKELY(ps_load_relaxed(&ps_rt.roots_leave)) &&
           (parent == ps_rt.forked_root ||
            ((parent->flags & (PS_T_ROOT | PS_T_MEMBER)) == PS_T_ROOT && parent->uth->vp != home_of(parent)));
}

/* The root goes home after its outermost region. In a forked child the member that forked is a root. Its outermost
 * region is the one that it has opened itself (ps_is_outside). */
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
    int error = vp_errno(vp); /* the parent's errno: members that it calls may share it */
    cpu_float_save(&team->joined);
    /* If threads have blocks, and the team has had tasks, the parent calls no members: it stays free to run tasks,
     * since no other thread can run them in its name. If members may ask for the bounds of their stacks, they must not
     * run on its stack (own_stack.h). */
    bool tls = ps_tls_on();
    bool room = !vp_stays_with_root(vp) && uth_has_room(vp_run(vp)->uth, __builtin_frame_address(0)) &&
                !(tls && (ps_load_relaxed(&team->had_tasks) | (team->region < ps_load_relaxed(&uth_tls_asks))));
    team->by_parent_only = tls;
    /* Without blocks any thread may run tasks as member 0 from now on, and done_in says so. With blocks only the parent
     * may; it stores done_in later, when it is about to wait (wait_and_assist). */
    if (!tls)
        ps_store_release(&ps_team_member(team, 0)->done_in, team->region);
    else
        ps_floats_at_join(team);
    if (PS_UNLIKELY(!room))
        join_without_calls(team);
    else if (!run_the_rest(vp, team))
        wait_for_members(team, true);
    if (PS_UNLIKELY(cpu_float_changed(&team->joined)))
        take_floats_back(team);
    if (PS_UNLIKELY(ps_team_has_to_see_to(team)))
        see_to_end(team);
    if (is_away(team->parent))
        come_home(team->parent);
    vp_set_errno(ps_vp(), error);
}
