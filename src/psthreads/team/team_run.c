/* A vp runs members that it has claimed, or taken from its handoff slot.
 *
 * A vp runs each member as a call on its present stack, then claims the next one. It counts all of them out of
 * `left` with one subtraction. Orderings and cost: team_fork.c, team_join.c. */
#include "team.h"

#include "current.h"
#include "dedicated.h"
#include "floats.h"
#include "idle.h"
#include "own_stack.h"
#include "race.h"
#include "receiver.h"
#include "run_member.h"
#include "runtime.h"
#include "scheduler.h"
#include "search.h"
#include "sources.h"
#include "team_member.h"
#include "vp.h"

/* Returns `before` if it is the block of the thread to which vp is dedicated; else NULL. A handler of that thread's
 * may be in that block (thread_signal.h). */
static struct uth_tls *vp_own_of(const struct vp *vp, struct uth_tls *before)
{
    return before == vp_run(vp)->dedicated_to ? before : NULL;
}

/* vp may still be in the block of the member that it ran before (ps_member_run_body). */
PS_NOINLINE void ps_member_enter_slowly(struct vp *vp, struct ps_member *m, struct uth_tls *before)
{
    vp_enter_tls(vp, vp_own_of(vp, before));
    if (!m->tls && (m->tls = vp_new_tls(vp)) != NULL)
        ps_team_begin_block(m->team, m->tls, m->team->parent);
    if (!m->tls || own_stack_is(vp))
        return;
    uth_tls_set_stack(m->tls, vp_run(vp)->uth->stack, vp_run(vp)->uth->stack_bytes);
    if (PS_UNLIKELY(ps_load_relaxed(&m->tls->dedicated) != NULL))
        ps_dedicate_again(&m->thread, m->tls);
    else
        vp_enter_tls(vp, m->tls);
}

/* Calls fn so that the program's thread sanitizer sees m as a thread of its own, and reports no race between members
 * that use the memory of one stack after each other. */
PS_NOINLINE void ps_member_call_traced(struct ps_member *m, struct vp *vp, void (*fn)(struct ps_member *m))
{
    struct uth *stack = vp_run(vp)->uth;
    void *outer = san_fiber_enter(m->fiber);
    ps_race_acquire(stack);
    fn(m);
    ps_race_release(stack);
    san_fiber_leave(outer);
}

/* Begins m on the stack that m keeps, on m's kernel thread. The caller goes on with other members. Adds n references to
 * `left` and to run->refs. So run_the_rest does not find exactly n in run->refs: that would mean that all members have
 * ended. */
static void begin_on_own_stack(struct vp *vp, struct ps_team *team, struct ps_member *m, struct uth_tls *before,
                               struct run *run)
{
    vp_enter_tls(vp, vp_own_of(vp, before));
    ps_team_refer(team, team->n);
    run->refs += team->n;
    ps_store_relaxed(&team->forks, ps_load_relaxed(&team->forks) | PS_FORKS_DEDICATED);
    ps_team_enqueue_late(team, m->id, vp);
}

/* Makes m the current thread on vp, in its block. False: m begins on the stack that it keeps instead. May switch. */
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

PS_NOINLINE bool ps_member_run_body_slowly(struct vp *vp, struct ps_team *team, struct ps_member *m,
                                           unsigned extra_flags, struct uth_tls *before, struct run *run)
{
    if (!begin_member_slowly(vp, team, m, extra_flags, before, run))
        return false;
    ps_member_call_floating(m, team->ops->body);
    return true;
}

/* --- the vp's loop --- */

/* vp has returned from a member's body: claims the next member that vp may run. Returns its number; 0: all are claimed,
 * or the region has tasks. If the first task comes during the claim, the claimed member becomes a thread. */
static unsigned claim_more(struct vp *vp, struct ps_team *team)
{
    if (PS_UNLIKELY(ps_load_relaxed(&team->notified)))
        return 0;
    unsigned id = ps_team_claim(team);
    if (id == 0 || PS_LIKELY(!ps_load_relaxed(&team->notified)))
        return id;
    ps_team_enqueue_late(team, id, vp);
    return 0;
}

void ps_team_run(struct ps_team *team, unsigned id)
{
    struct psthread *parent = team->parent;
    struct run run = {0};
    struct vp *vp = ps_vp();
    /* Wakes a further vp, since members are left and a vp may sleep. */
    if (!ps_team_exhausted(team))
        idle_notify(NULL);
    ps_floats_become_plain();
    do
        vp = ps_member_run_body(vp, team, ps_team_member(team, id), 0, NULL, true, &run);
    while ((id = claim_more(vp, team)) != 0);
    vp_block_signals(vp);
    leave_block(vp);
    if (PS_UNLIKELY(cpu_float_controls_changed(&ps_rt.floats))) {
        ps_floats_left(vp, team, team->region);
        cpu_float_set(&ps_rt.floats);
    }
    vp_run(vp)->current = NULL;
    vp_offer(vp);
    if (drop_refs(team, run.last, run.refs) == PS_TEAM_WAITING)
        ps_ready(parent, PS_FRONT);
}
