/* Members that run as threads of their own, and how the core learns that a member has returned from its body.
 *
 * Helping. A member whose body has returned may run explicit tasks. The core decides which members do so
 * (src/ort/task/task_queue.c). It is told of each member that has returned (ops->idle), and calls some of them back
 * (ps_team_help). Such a *helper* becomes a thread again, which runs ops->assist: an *assistant*. If threads have
 * thread-local blocks, member 0's block is its parent's. Then no assistant runs as member 0, except as in recall.h.
 * Instead the parent leaves its wait in the join (PS_TEAM_WANTED).
 *
 * Telling the core. In a region without tasks the core is told nothing: each member that returns stores the region's
 * number in done_in. The member that makes the first task tells the core of all these members (ps_team_notify). From
 * then on each member is reported when its identity is free: no thread reads its descriptor any more, and its
 * thread-local block is left. The thread that takes the number out of done_in by compare-and-swap tells the core, so
 * the core is told once.
 *
 * Cost: a region without tasks pays for no fence and no load. Why no member is missed: tests/models/team_join.md. A
 * parent suspended below a member: recall.h. Without blocks member 0 is free as soon as its body has returned. */
#include "team.h"

#include "check.h"
#include "current.h"
#include "dedicated.h"
#include "handoff.h"
#include "idle.h"
#include "recall.h"
#include "receiver.h"
#include "runtime.h"
#include "scheduler.h"
#include "search.h"
#include "sources.h"
#include "team_member.h"
#include "watchdog.h"

/* Adds a pending reference for each reference that `left` counts, unless pending references were added before.
 * Caller: its own reference, or a pending one, keeps `left` above 0. */
static void add_pending(struct ps_team *team)
{
    uint64_t left = ps_load_seq(&team->left);
    while (!(left & PS_TEAM_ALL_PENDING) &&
           !ps_cas_seq(&team->left, &left, left + (left & UINT32_MAX) * PS_TEAM_PENDING))
        continue;
}

void ps_team_refer(struct ps_team *team, unsigned refs)
{
    uint64_t left = ps_load_seq(&team->left), more;
    do
        more = refs * (left & PS_TEAM_ALL_PENDING ? PS_TEAM_PENDING + 1 : 1);
    while (!ps_cas_seq(&team->left, &left, left + more));
}

/* Callers: a thread that has run m, and has left m's block; and ps_team_notify, for each member. */
void ps_member_tell_core(struct ps_team *team, struct ps_member *m)
{
    if (ps_member_take_done(team, m) && team->ops->idle(m))
        ps_team_help(team, m->id);
}

/* The parent runs, in the name of member 0, the tasks that it finds. */
void ps_team_assist_oneself(struct ps_team *team)
{
    struct ps_member *m = ps_team_member(team, 0);
    ps_member_become(ps_vp(), m, team->parent, team->parent->flags & (PS_T_ROOT | PS_T_CALLED));
    if (PS_UNLIKELY(team->at_end.controls))
        ps_floats_give_back(team);
    team->ops->assist(m);
    if (PS_UNLIKELY(team->at_end.controls))
        ps_floats_become_plain();
}

/* Leaves the running member's block, and goes on in `before`, the parent's block; NULL: in the kernel thread's own
 * storage. */
static void leave_for(struct ps_team *team, struct uth_tls *before)
{
    if (!before) {
        ps_member_leave_tls();
        return;
    }
    if (vp_is(ps_vp(), VP_DEDICATED)) {
        recall_leave(team, vp_run(ps_vp())->current);
        ps_go_home_slow(before);
    }
    vp_resume_caller(ps_vp(), team->parent, before);
}

/* Runs tasks in the name of m, whose body has returned and whose reference is dropped, and then tells the core. Does
 * nothing if the core has been told already. As soon as the core is told, m may run elsewhere as a helper, with a stack
 * of its own. If the core asks for m's help in its answer, m runs tasks here once more. */
static void last_look(struct ps_team *team, struct ps_member *m, unsigned extra_flags)
{
    struct uth_tls *before = vp_run(ps_vp())->tls;
    if (!ps_member_take_done(team, m))
        return;
    do {
        struct vp *vp = ps_vp();
        if (before)
            vp_suspend_caller(team->parent, before);
        ps_member_become(vp, m, team->parent, extra_flags);
        if (ps_tls_on()) {
            ps_member_enter_tls(vp, m, vp_run(vp)->tls);
            vp_unblock_signals(ps_vp());
        }
        ps_member_call_floating(m, team->ops->assist);
        /* m's block is left before the core is told, since an assistant may then enter the block */
        leave_for(team, before);
    } while (team->ops->idle(m));
}

/* The parent runs tasks before it goes on with other members. If only the parent can run as member 0 (by_parent_only),
 * it keeps that identity, and gives it to the core when it waits (wait_and_assist). Else it gives the identity to the
 * core when it has found no more tasks. */
static void last_look_of_parent(struct ps_team *team)
{
    struct ps_member *m = ps_team_member(team, 0);
    if (team->by_parent_only) {
        ps_team_assist_oneself(team);
        return;
    }
    for (bool mine = ps_member_take_done(team, m); mine; mine = team->ops->idle(m))
        ps_team_assist_oneself(team);
}

/* Closes vp's handoff slot, which vp_offer has opened: vp runs tasks before its loop goes on. */
static void withdraw_offer(struct vp *vp)
{
    if (ps_load_relaxed(vp_handoff(vp)) != HANDOFF_BUSY)
        ps_handoff_close(vp, vp);
}

/* Drops `pending` pending references; returns what remains in `left`. */
static uint64_t drop_pending(struct ps_team *team, unsigned pending)
{
    uint64_t taken = pending * PS_TEAM_PENDING, before = ps_sub_seq(&team->left, taken);
    PS_ASSERT((before & PS_TEAM_ALL_PENDING) >= taken);
    return before - taken;
}

/* Ends the member that runs here. Its kernel thread waits on the member's stack for the next region. */
static PS_NORETURN void wait_on_own_stack(void) { own_stack_await_next(ps_vp()); }

PS_NOINLINE uint64_t ps_team_look_and_drop_pending(struct ps_team *team, struct ps_member *last, unsigned refs)
{
    struct vp *vp = ps_vp();
    struct psthread *current = vp_run(vp)->current;
    unsigned inherited = team->parent->flags & PS_T_ROOT;
    withdraw_offer(vp);
    if (last && last->id == 0)
        last_look_of_parent(team);
    else if (last)
        last_look(team, last, current ? PS_T_CALLED | inherited : 0);
    vp = ps_vp();
    /* the member that ran here last keeps this stack, so vp's loop does not go on here */
    if (!current && own_stack_begins(vp)) {
        struct psthread *parent = team->parent;
        if (drop_pending(team, refs) == PS_TEAM_WAITING)
            ps_ready(parent, PS_FRONT);
        wait_on_own_stack();
    }
    vp_run(vp)->current = current;
    if (!current) /* the vp's loop comes next, so the slot opens again, as in ps_team_run */
        vp_offer(vp);
    return drop_pending(team, refs);
}

/* --- members as threads --- */

static void assistant_ends(struct ps_member *m);

/* The running thread, which has m's identity, runs tasks and ends. If m keeps this stack, waits on it for the next
 * region; otherwise leaves m's block. */
static void *look_and_end(struct ps_member *m)
{
    ps_member_call_floating(m, m->team->ops->assist);
    bool stays = own_stack_begins(ps_vp());
    if (!stays)
        ps_member_leave_tls();
    assistant_ends(m);
    if (stays)
        wait_on_own_stack();
    return NULL;
}

/* Counts m out, and goes on as m's assistant in the same thread. */
static void end_as_thread(struct ps_member *m)
{
    add_pending(m->team);
    ps_sub_seq(&m->team->left, 1);
    look_and_end(m);
}

void ps_team_end_on_own_stack(struct ps_team *team, struct ps_member *m, unsigned refs)
{
    uint64_t left = refs ? ps_sub_seq(&team->left, refs) - refs : 0;
    if (left & PS_TEAM_ALL_PENDING)
        ps_team_look_and_drop_pending(team, NULL, refs);
    end_as_thread(m);
    __builtin_unreachable();
}

void *ps_member_late_main(void *arg)
{
    struct ps_member *m = arg;
    if (ps_tls_on())
        ps_member_enter_tls(ps_vp(), m, vp_run(ps_vp())->tls);
    ps_member_call_floating(m, m->team->ops->body);
    end_as_thread(m);
    return NULL;
}

/* --- helping --- */

/* Returns true if the caller is member 0 of the team, in the region's body. */
static bool is_first(const struct ps_team *team)
{
    const struct vp *vp = ps_vp();
    const struct psthread *self = vp ? vp_run(vp)->current : NULL;
    return self && self->flags & PS_T_MEMBER && self == &ps_team_member((struct ps_team *)team, 0)->thread;
}

/* tests/models/team_join.md has the proof, in which the steps of this function have letters. */
void ps_team_notify(struct ps_team *team)
{
    bool watch = !ps_load_relaxed(&team->had_tasks) && ps_tls_on() && !san_any() && !is_first(team);
    ps_store_relaxed(&team->had_tasks, true);
    ps_store_seq(&team->notified, 1);
    /* members that wait in rounds then wait by the barrier's word, where ps_team_barrier_call_back finds them */
    if (ps_load_relaxed(&team->by_word) != PS_BY_WORD)
        ps_store_seq(&team->by_word, PS_BY_WORD);
    add_pending(team);
    ps_add_acq_rel(&team->next, 0);
    ps_team_barrier_call_back(team);
    ps_store_release(&team->batched, 0); /* from now on no member joins a vp's waiters */
    for (unsigned id = 0; id < team->n; id++)
        ps_member_tell_core(team, ps_team_member(team, id));
    if (watch) {
        team->at_end.watched = true;
        recall_watch(team);
    }
}

/* The main function of an assistant: the thread of member m, whose body has returned, runs explicit tasks. */
static void *assist_main(void *arg)
{
    struct ps_member *m = arg;
    if (ps_tls_on())
        ps_member_enter_tls(ps_vp(), m, vp_run(ps_vp())->tls);
    return look_and_end(m);
}

/* Starts m's assistant. The caller owns the identity of m, and `left` already counts the assistant. */
static void start_assistant(struct ps_member *m)
{
    m->thread.uth = NULL;
    m->thread.flags = PS_T_MEMBER;
    m->thread.member_fn = assist_main;
    ps_member_begin_thread(m, ps_vp());
}

/* Ends the thread that runs in the name of m. After this call the thread uses neither m nor the team: it returns to its
 * vp's loop, or waits on m's own stack. */
static void assistant_ends(struct ps_member *m)
{
    struct ps_team *team = m->team;
    struct psthread *parent = team->parent;
    /* The identity is free from here on, since nothing reads this thread's descriptor any more. */
    if (ps_member_is_done(team, m) && team->ops->idle(m))
        start_assistant(m);
    else if (drop_pending(team, 1) == PS_TEAM_WAITING)
        ps_ready(parent, PS_FRONT);
}

/* Makes the parent leave its wait in the join, or not begin to wait, so that it runs tasks as member 0. */
static void want_parent(struct ps_team *team)
{
    uint64_t left = ps_load_seq(&team->left);
    while (!ps_cas_seq(&team->left, &left, (left & ~PS_TEAM_WAITING) | PS_TEAM_WANTED))
        continue;
    if (left & PS_TEAM_WAITING)
        ps_ready(team->parent, PS_BACK);
}

void ps_team_help(struct ps_team *team, unsigned id)
{
    if (id == 0 && team->by_parent_only) {
        want_parent(team);
        return;
    }
    add_pending(team);                        /* ps_team_notify may not have done this yet */
    ps_add_seq(&team->left, PS_TEAM_PENDING); /* `left` is above 0: the caller has a reference, or is the parent */
    start_assistant(ps_team_member(team, id));
}

/* --- a parent below a member (recall.h) --- */

/* The main function of member 0's assistant. As assist_main, in the block that the parent has left. */
void *ps_member_first_main(void *arg)
{
    struct ps_member *m = arg;
    struct uth_tls *tls = m->team->parent_tls;
    struct vp *vp = ps_vp();
    if (PS_UNLIKELY(ps_load_seq(&tls->dedicated) != NULL))
        ps_dedicate_again(&m->thread, tls);
    else
        vp_enter_tls(vp, tls);
    vp_unblock_signals(ps_vp());
    m->team->ops->assist(m);
    ps_member_leave_tls();
    recall_give_back(m->team);
    return NULL;
}

void ps_team_call_first(struct ps_team *team)
{
    const struct vp *vp = ps_vp();
    const struct psthread *self = vp ? vp_run(vp)->current : NULL;
    if (self && self->flags & PS_T_CALLED && self->parent == team->parent)
        recall_parent(team);
}
