/* How a vp becomes a member: takes on the member's identity, runs a function of the core's in its name, and gives
 * the identity up. For the files of the team; team.c says what each of them does. */
#ifndef PS_TEAM_MEMBER_H
#define PS_TEAM_MEMBER_H

#include "current.h"
#include "data/team.h"
#include "dedicated.h"
#include "floats.h"
#include "own_stack.h"
#include "receiver.h"
#include "run.h"
#include "switch.h"
#include "vp_tls.h"

static PS_ALWAYS_INLINE void ps_member_become(struct vp *vp, struct ps_member *m, const struct psthread *parent,
                                              unsigned extra_flags)
{
    ps_member_set(m, parent, extra_flags);
    m->thread.uth = vp_run(vp)->uth;
    m->thread.vp = vp;
    vp_run(vp)->current = &m->thread;
    vp_tick(vp);
    vp_migrate(vp, &m->thread);
}

/* As ps_member_enter_tls, for a member that has no block yet, is on another stack than in its last region, or has a
 * dedicated kernel thread. May switch. */
void ps_member_enter_slowly(struct vp *vp, struct ps_member *m, struct uth_tls *before);

/* Marks the block, which vp has just entered, as cached: next time vp enters it by writing the thread pointer, without
 * further tests. A block with a dedicated kernel thread, or with flags to keep, is not left cached. */
static inline void ps_member_leave_cached(struct uth_tls *tls)
{
    uth_tls_keep_cached(tls);
    if (PS_UNLIKELY(ps_load_seq(&tls->dedicated) != NULL || cpu_float_flags_kept()))
        uth_tls_drop_cached(tls);
}

static inline void ps_member_enter_tls(struct vp *vp, struct ps_member *m, struct uth_tls *before)
{
    struct uth_tls *tls = m->tls;
    if (PS_UNLIKELY(!tls || uth_tls_stack_differs(tls, vp_run(vp)->uth->stack) || ps_load_relaxed(&tls->dedicated))) {
        ps_member_enter_slowly(vp, m, before);
        return;
    }
    if (PS_UNLIKELY(!vp_enter_tls_again(vp, tls)))
        vp_enter_tls(vp, tls);
    if (vp_is(vp, VP_SIGNALS_BLOCKED))
        vp_unblock_signals(vp);
    if (ps_floats_are_plain(m))
        ps_member_leave_cached(tls);
}

/* As ps_member_call, in a program with a thread sanitizer. */
void ps_member_call_traced(struct ps_member *m, struct vp *vp, void (*fn)(struct ps_member *m));

/* Calls fn, a function of the core's, in the name of m, which is the current thread. */
static PS_ALWAYS_INLINE void ps_member_call(struct ps_member *m, void (*fn)(struct ps_member *m))
{
    if (san_any())
        ps_member_call_traced(m, ps_vp(), fn);
    else
        fn(m);
}

/* Leaves the running member's block for the kernel thread's own storage. If the member is dedicated, it leaves its
 * dedicated kernel thread, so the vp may change. Does nothing if the member keeps its stack. */
static inline void ps_member_leave_tls(void)
{
    if (!ps_tls_on() || own_stack_is(ps_vp()))
        return;
    ps_go_home(NULL);
    vp_enter_tls(ps_vp(), NULL);
}

/* If the region has tasks and the core has not been told that m's body has returned, marks m as told. True: the
 * caller has to tell the core now. */
static inline bool ps_member_take_done(const struct ps_team *team, struct ps_member *m)
{
    uint32_t region = team->region;
    return ps_load_seq(&team->notified) && ps_load_seq(&m->done_in) == region &&
           ps_cas_acq_rel(&m->done_in, &region, 0);
}

/* Notes that m's body has returned in this region and its identity is free. True: the caller has to tell the core. */
static inline bool ps_member_is_done(struct ps_team *team, struct ps_member *m)
{
    ps_store_seq(&m->done_in, team->region);
    return ps_member_take_done(team, m);
}

/* If m's body has returned and the core was not told of that, tells the core that m's identity is free. Starts an
 * assistant for m if the core asks for one. Callers: a thread that has run m; the maker of the region's first task. */
void ps_member_tell_core(struct ps_team *team, struct ps_member *m);
/* Adds `refs` references to `left`, with pending references in a region with tasks. The caller has a reference
 * itself. */
void ps_team_refer(struct ps_team *team, unsigned refs);
/* Ends m, whose body has returned on the stack that m keeps from now on. refs: how many members ran on this stack
 * before m and are not counted out yet. */
PS_NORETURN void ps_team_end_on_own_stack(struct ps_team *team, struct ps_member *m, unsigned refs);
/* The parent runs, in the name of member 0, the tasks that it finds. May switch. */
void ps_team_assist_oneself(struct ps_team *team);
/* Does the rest of drop_refs (run_member.h) in a region with tasks: looks for tasks, then drops pending references.
 * Returns what remains in `left`. May switch. */
uint64_t ps_team_look_and_drop_pending(struct ps_team *team, struct ps_member *last, unsigned refs);

#endif
