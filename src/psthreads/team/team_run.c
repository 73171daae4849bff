/* Members run: by vps that have claimed them, or taken them from a handoff slot, and by the parent in the join.
 *
 * A vp runs a member on its present stack, and goes on with the next member that it can claim. The vp counts all of
 * these members out of `left` together. The parent claims what no vp has claimed, takes back handoffs that no vp has
 * read, and waits for the others. Orderings and cost: team.c. */
#include "team.h"

#include "check.h"
#include "current.h"
#include "dedicated.h"
#include "floats.h"
#include "handoff.h"
#include "home.h"
#include "idle.h"
#include "inherited.h"
#include "needs.h"
#include "race.h"
#include "recall.h"
#include "receiver.h"
#include "root_fairness.h"
#include "runtime.h"
#include "scheduler.h"
#include "search.h"
#include "switch.h"
#include "team_member.h"
#include "vp.h"

#include <string.h>

/* `before`, where it is the block of the thread that vp carries alone; else NULL: a handler of that thread's may stand
 * in it (thread_signal.h). */
static struct uth_tls *vp_own_of(const struct vp *vp, struct uth_tls *before)
{
    return before == vp->run.dedicated_to ? before : NULL;
}

/* vp may be in the block of a member that it has run before: see run_body. */
PS_NOINLINE void ps_member_enter_slowly(struct vp *vp, struct ps_member *m, struct uth_tls *before)
{
    vp_enter_tls(vp, vp_own_of(vp, before));
    if (!m->tls && (m->tls = vp_new_tls(vp)) != NULL)
        ps_team_begin_block(m->team, m->tls, m->team->parent);
    if (!m->tls || own_stack_is(vp))
        return;
    uth_tls_set_stack(m->tls, vp->run.uth->stack, vp->run.uth->stack_bytes);
    if (PS_UNLIKELY(ps_load_relaxed(&m->tls->dedicated) != NULL))
        ps_dedicate_again(&m->thread, m->tls);
    else
        vp_enter_tls(vp, m->tls);
}

/* The program's thread sanitizer sees a thread of m's own, and in the memory of a stack that several run on one after
 * the other no race. */
PS_NOINLINE void ps_member_call_traced(struct ps_member *m, struct vp *vp, void (*fn)(struct ps_member *m))
{
    struct uth *stack = vp->run.uth;
    void *outer = san_fiber_enter(m->fiber);
    ps_race_acquire(stack);
    fn(m);
    ps_race_release(stack);
    san_fiber_leave(outer);
}

/* What a vp has run of a team, and not counted out yet. */
struct run {
    unsigned refs;
    struct ps_member *last; /* NULL: no member's body has returned */
};

/* m keeps a stack, and begins there. The caller has a reference while it goes on: n of them, so that no vp takes them
 * for those of all members. */
static void begin_on_own_stack(struct vp *vp, struct ps_team *team, struct ps_member *m, struct uth_tls *before,
                               struct run *run)
{
    vp_enter_tls(vp, vp_own_of(vp, before));
    ps_team_refer(team, team->n);
    run->refs += team->n;
    ps_store_relaxed(&team->forks, ps_load_relaxed(&team->forks) | PS_FORKS_ALONE);
    ps_team_enqueue_late(team, m->id, vp);
}

/* m begins on vp: it is current, in its block. False: it begins elsewhere. May switch. */
static bool begin_member_slowly(struct vp *vp, struct ps_team *team, struct ps_member *m, unsigned extra_flags,
                                struct uth_tls *before, struct run *run)
{
    if (own_stack_vp(m->tls)) {
        begin_on_own_stack(vp, team, m, before, run);
        return false;
    }
    ps_member_become(vp, m, team->parent, extra_flags);
    ps_member_enter_tls(vp, m, before);
    vp_unblock_signals(ps_vp_now());
    return true;
}

/* m, whose block is not at hand, begins on vp, and its body is called. False: it begins elsewhere. May switch. */
static PS_NOINLINE bool run_body_slowly(struct vp *vp, struct ps_team *team, struct ps_member *m, unsigned extra_flags,
                                        struct uth_tls *before, struct run *run)
{
    if (!begin_member_slowly(vp, team, m, extra_flags, before, run))
        return false;
    ps_member_call_floating(m, team->ops->body);
    return true;
}

/* The parent calls no members on its stack: they become threads. */
static PS_NOINLINE void leave_rest_to_others(struct vp *vp, struct ps_team *team)
{
    struct vp *to = ps_vp_for_others(vp);
    for (unsigned id; (id = ps_team_claim(team)) != 0;)
        ps_team_enqueue_late(team, id, to);
}

/* Runs m's body in its block, and stays in it: the next member's is entered from there, since changing the thread
 * pointer takes as long as much else here. Returns the vp. From then on the block may be lent with m's identity, and
 * entered by another vp. So until vp has entered another one (come_up: `before`, what it was in at first) nothing of
 * its thread-local storage is looked at: not the current vp, no malloc. */
static PS_ALWAYS_INLINE struct vp *run_body(struct vp *vp, struct ps_team *team, struct ps_member *m,
                                            unsigned extra_flags, struct uth_tls *before, bool from_loop,
                                            struct run *run)
{
    struct uth_tls *tls = m->tls;
    if (tls && PS_LIKELY(vp_tls_is_cached(vp, tls))) {
        ps_member_become(vp, m, team->parent, extra_flags);
        vp_enter_tls_cached(vp, tls);
        if (from_loop && vp_is(vp, VP_SIGNALS_BLOCKED))
            vp_unblock_signals(vp);
        ps_member_call(m, team->ops->body);
        ps_floats_at_end(m);
    } else if (ps_tls_on()) {
        if (!run_body_slowly(vp, team, m, extra_flags, before, run))
            return vp;
    } else {
        ps_member_become(vp, m, team->parent, extra_flags);
        ps_member_call(m, team->ops->body);
    }
    vp = m->thread.vp; /* as ps_vp(), which would wait for the new thread pointer and touch one line more */
    PS_ASSERT(vp == ps_vp());
    if (vp_is(vp, VP_DEDICATED) && vp->run.tls != before) {
        if (own_stack_begins(vp) && vp->run.tls == m->tls)
            ps_team_end_on_own_stack(team, m, run->refs);
        if (!from_loop)
            recall_leave(team, &m->thread);
        ps_go_home_slow(before);
        vp = ps_vp_now();
    }
    ps_store_release(&m->done_in, team->region); /* fenced by what follows: a claim, or `left` */
    run->refs++;
    run->last = m;
    return vp;
}

static inline void leave_block(struct vp *vp)
{
    if (vp->run.tls)
        vp_leave_tls_here(vp);
}

/* The parent is about to run members as calls, in their blocks, and stands below them; and it goes on. The second may
 * switch, and returns the vp. */
static inline void go_below(const struct ps_team *team, struct uth_tls *before)
{
    if (before)
        vp_suspend_caller(team->parent, before);
}
static inline struct vp *come_up(struct vp *vp, const struct ps_team *team, struct uth_tls *before)
{
    if (before)
        return vp_resume_caller(vp, team->parent, before);
    leave_block(vp);
    return vp;
}

/* Drops the references of members that have returned; in the name of the last of them, if any, tasks are looked for.
 * What is left of `left`: if 0 or PS_TEAM_WAITING the team may be gone. May switch. */
static inline uint64_t drop_refs(struct ps_team *team, struct ps_member *last, unsigned refs)
{
    uint64_t before = ps_sub_seq(&team->left, refs), left = before - refs;
    PS_ASSERT((uint32_t)before >= refs);
    return PS_UNLIKELY(left & PS_TEAM_ALL_PENDING) ? ps_team_look_and_drop_pending(team, last, refs) : left;
}

/* The vp has returned from a member's body, and may run more: the next one's number, or 0. There are tasks: it is not
 * to. */
static unsigned claim_more(struct vp *vp, struct ps_team *team)
{
    if (PS_UNLIKELY(ps_load_relaxed(&team->interrupted)))
        return 0;
    unsigned id = ps_team_claim(team);
    if (id == 0 || PS_LIKELY(!ps_load_relaxed(&team->interrupted)))
        return id;
    ps_team_enqueue_late(team, id, vp);
    return 0;
}

void ps_team_run(struct ps_team *team, unsigned id)
{
    struct psthread *parent = team->parent;
    struct run run = {0};
    struct vp *vp = ps_vp();
    /* The woken wake others: there is more than this member, and a vp may sleep. */
    if (!ps_team_exhausted(team))
        idle_notify(NULL);
    ps_floats_become_plain();
    do
        vp = run_body(vp, team, ps_team_member(team, id), 0, NULL, true, &run);
    while ((id = claim_more(vp, team)) != 0);
    vp_block_signals(vp);
    leave_block(vp);
    if (PS_UNLIKELY(cpu_float_controls_changed(&ps_rt.floats))) {
        ps_floats_left(vp, team, team->region);
        cpu_float_set(&ps_rt.floats);
    }
    vp->run.current = NULL;
    vp_offer(vp);
    if (drop_refs(team, run.last, run.refs) == PS_TEAM_WAITING)
        ps_ready(parent, PS_FRONT);
}

/* --- join --- */

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
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    ps_update(team->parent_tls, vp->run.tls);
    for (unsigned i = 0; i < slots; i++) {
        unsigned id = take_handoff(ps_vp_at(i), team);
        if (id == 0)
            continue;
        struct run run = {0};
        struct uth_tls *before = vp->run.tls;
        go_below(team, before);
        vp = run_body(vp, team, ps_team_member(team, id), PS_T_CALLED, before, false, &run);
        come_up(vp, team, before);
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
        if (!(i % 16) && (!ps_spin_useful() || ps_load_relaxed(&team->interrupted))) /* tasks to be run meanwhile */
            return false;
        cpu_pause();
    }
    return false;
}

static void requeue_handoffs(struct vp *vp, struct ps_team *team)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned i = 0; i < slots; i++) {
        unsigned id = take_handoff(ps_vp_at(i), team);
        if (id != 0)
            ps_team_enqueue_late(team, id, vp);
    }
}

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

/* The caller is the thread that forked again. */
static void become_parent(struct vp *vp, struct ps_team *team)
{
    vp->run.current = team->parent;
    team->parent->uth = vp->run.uth;
    team->parent->vp = vp;
    vp_migrate(vp, team->parent);
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
    struct uth_tls *before = vp->run.tls;
    ps_update(team->parent_tls, before);
    go_below(team, before);
    for (;;) {
        if (PS_UNLIKELY(ps_load_relaxed(&team->interrupted))) {
            come_up(vp, team, before);
            run.refs = help_first(team, run.last, run.refs);
            vp = ps_vp();
            go_below(team, before);
        }
        if ((id = ps_team_claim(team)) == 0)
            break;
        if (PS_UNLIKELY(ps_load_relaxed(&team->interrupted)) && claimed_late(vp, team, id, run.refs))
            continue;
        vp = run_body(vp, team, ps_team_member(team, id), PS_T_CALLED | inherited, before, false, &run);
    }
    vp = come_up(vp, team, before);
    become_parent(vp, team);
    unpublish(team);
    if (run.refs == team->n && !ps_load_relaxed(&team->interrupted)) {
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

/* Blocks until all members have ended, and comes back to assist as often as member 0 is lent to it. */
static void wait_and_assist(struct ps_team *team)
{
    struct ps_member *m = ps_team_member(team, 0);
    bool mine = team->recalled ? ps_member_is_done(team, m) : ps_member_take_done(team, m);
    for (uint64_t left;;) {
        for (; mine; mine = team->ops->idle(m)) {
            ps_team_assist_oneself(team);
            become_parent(ps_vp(), team);
        }
        if ((left = begin_to_wait(team)) == 0)
            break;
        mine = left & PS_TEAM_WANTED;
        if (mine)
            continue;
        ps_block(team->parent, PS_WAIT_TEAM_END, team);
        if (ps_load_acquire(&team->left) == PS_TEAM_WAITING) /* else ps_team_lend has taken that off */
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
static PS_NOINLINE void call_apart(const struct ps_team *team)
{
    int cpu = ps_places_on() ? -1 : os_current_cpu();
    for (unsigned id = 1; id < team->n && cpu >= 0; id++) {
        const struct ps_member *m = ps_team_member(team, id);
        struct vp *own = own_stack_vp(m->tls);
        if (own && ps_load_relaxed(&own->pinned) == &m->thread)
            ps_store_relaxed(&own->dedicated.leave, (uint32_t)cpu + 1);
    }
}

static void wait_for_members(struct ps_team *team, bool room)
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
        become_parent(ps_vp(), team);
        if (all)
            return;
    }
    if (team->awake)
        call_apart(team);
    if (ps_load_relaxed(&team->spread) && spin_for_members(team, limit * JOIN_LONG_SPINS))
        return;
    wait_and_assist(team);
}

#define SERIAL_A_RECHECK 4 /* members that take a microsecond each and more take too long for that */

static PS_NOINLINE void time_serial(struct ps_team *team)
{
    uint64_t cycles = cpu_cycles() - team->serial.began;
    team->at_end.timed = false;
    ps_serial_end(&team->serial, cycles, team->n * (ps_rt.recheck_cycles / SERIAL_A_RECHECK));
}

static inline void join(struct vp *vp, struct ps_team *team)
{
    struct ps_member *self = ps_team_member(team, 0);
    /* Where members leave tasks to each other the parent stays free to run some: no other can in its name. Where
     * they may ask for their stacks' bounds they are not on its stack (own_stack.h). */
    bool tls = ps_tls_on();
    bool room = !vp_stays_with_root(vp) && uth_has_room(vp->run.uth, __builtin_frame_address(0)) &&
                !(tls && (ps_load_relaxed(&team->had_tasks) | (team->region < ps_load_relaxed(&uth_tls_asks))));
    team->recalled = tls;
    if (!tls)
        ps_store_release(&self->done_in, team->region); /* else it is not free before it waits */
    else
        ps_floats_at_join(team);
    if (PS_LIKELY(room)) {
        if (!run_the_rest(vp, team))
            wait_for_members(team, room);
        return;
    }
    /* The parent is deep in its stack, or may be wanted: the others find fresh stacks, while it waits. */
    become_parent(ps_vp(), team);
    if (!team->home) /* in a forked child members may be left: ps_team_after_fork_in_child */
        leave_rest_to_others(ps_vp(), team);
    if (drop_refs(team, NULL, 1) != 0)
        wait_for_members(team, room);
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
