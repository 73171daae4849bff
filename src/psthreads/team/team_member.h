/* How a vp takes on the identity of a member, runs a function of the core's in its name, and gives the identity up: for
 * the files of the team. See team.c for what each of them has. */
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

/* As ps_member_enter_tls, where the block is not as the member left it. May switch. */
void ps_member_enter_slowly(struct vp *vp, struct ps_member *m, struct uth_tls *before);

/* Marks the block, which vp has just entered, as cached: when vp enters it again, it writes the thread pointer and
 * looks at nothing. Not where the member has a kernel thread of its own. */
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

/* As ps_member_call, where the program has a sanitizer. */
void ps_member_call_traced(struct ps_member *m, struct vp *vp, void (*fn)(struct ps_member *m));

/* Calls a function of the core's in the name of m, which is current. */
static PS_ALWAYS_INLINE void ps_member_call(struct ps_member *m, void (*fn)(struct ps_member *m))
{
    if (san_any())
        ps_member_call_traced(m, ps_vp(), fn);
    else
        fn(m);
}

/* Leaves the member's block for the kernel thread's own storage, unless the member keeps its stack. */
static inline void ps_member_leave_tls(void)
{
    if (!ps_tls_on() || own_stack_is(ps_vp()))
        return;
    ps_go_home(NULL);
    vp_enter_tls(ps_vp(), NULL);
}

/* Marks m, whose body has returned, as told to the core, if the region has tasks and the core was not told before.
 * True: the caller is to tell the core. */
static inline bool ps_member_take_done(const struct ps_team *team, struct ps_member *m)
{
    uint32_t region = team->region;
    return ps_load_seq(&team->notified) && ps_load_seq(&m->done_in) == region &&
           ps_cas_acq_rel(&m->done_in, &region, 0);
}

/* Frees the identity of m. True: the caller is to tell the core. */
static inline bool ps_member_is_done(struct ps_team *team, struct ps_member *m)
{
    ps_store_seq(&m->done_in, team->region);
    return ps_member_take_done(team, m);
}

/* Gives m's identity, which is free, to the core; calls m back where the core wants that. Caller: has run m. */
void ps_member_tell_core(struct ps_team *team, struct ps_member *m);
/* Adds `refs` references. Caller: has one. */
void ps_team_refer(struct ps_team *team, unsigned refs);
/* Ends m, whose body has returned on the stack that m keeps from now on, and the `refs` members that have run there
 * before it. */
PS_NORETURN void ps_team_end_on_own_stack(struct ps_team *team, struct ps_member *m, unsigned refs);
/* Lets the parent, in the name of member 0, run what tasks it finds. May switch. */
void ps_team_assist_oneself(struct ps_team *team);
/* Does the rest of drop_refs (run_member.h) in a region with tasks. May switch. */
uint64_t ps_team_look_and_drop_pending(struct ps_team *team, struct ps_member *last, unsigned refs);

#endif
