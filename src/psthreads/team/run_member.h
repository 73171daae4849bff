/* Runs one member as a call, on the stack of a vp that has claimed it, or of the parent in the join. */
#ifndef PS_RUN_MEMBER_H
#define PS_RUN_MEMBER_H

#include "check.h"
#include "current.h"
#include "dedicated.h"
#include "floats.h"
#include "inherited.h"
#include "own_stack.h"
#include "recall.h"
#include "receiver.h"
#include "scheduler.h"
#include "switch.h"
#include "team.h"
#include "team_member.h"
#include "vp.h"

/* The members of a team that a vp has run, and has not counted out of `left` yet. refs: how many references the vp has
 * to drop. */
struct run {
    unsigned refs;
    struct ps_member *last; /* The member whose body has returned last; NULL: none has. */
};

/* Begins m, whose block is not cached, on vp, and calls its body. False: m begins on another stack instead. May
 * switch. */
bool ps_member_run_body_slowly(struct vp *vp, struct ps_team *team, struct ps_member *m, unsigned extra_flags,
                               struct uth_tls *before, struct run *run);

/* Runs m's body in m's block, and returns the vp. A vp that is not dedicated stays in the block: it enters the next
 * member's block from there. So the thread pointer changes once for each member, and not twice. After the return, a
 * helper may get the block with m's identity, and another vp may enter it. So the caller uses nothing thread-local (the
 * current vp, malloc) until vp has left the block. */
static PS_ALWAYS_INLINE struct vp *ps_member_run_body(struct vp *vp, struct ps_team *team, struct ps_member *m,
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
        if (!ps_member_run_body_slowly(vp, team, m, extra_flags, before, run))
            return vp;
    } else {
        ps_member_become(vp, m, team->parent, extra_flags);
        ps_member_call(m, team->ops->body);
    }
    /* the value of ps_vp(); a call would wait for the new thread pointer, and read one cache line more */
    vp = m->thread.vp;
    PS_ASSERT(vp == ps_vp());
    if (vp_is(vp, VP_DEDICATED) && vp_run(vp)->tls != before) {
        if (own_stack_begins(vp) && vp_run(vp)->tls == m->tls)
            ps_team_end_on_own_stack(team, m, run->refs);
        if (!from_loop)
            recall_leave(team, &m->thread);
        ps_go_home_slow(before);
        vp = ps_vp_now();
    }
    /* no fence is needed here: the claim that follows, or the subtraction from `left`, is a fence */
    ps_store_release(&m->done_in, team->region);
    run->refs++;
    run->last = m;
    return vp;
}

static inline void leave_block(struct vp *vp)
{
    if (vp_run(vp)->tls)
        vp_leave_tls_here(vp);
}

/* suspend_parent: the parent is about to run members as calls, in their blocks, and is suspended below them from now
 * on. resume_parent: the parent goes on in its block; may switch, and returns the vp. */
static inline void suspend_parent(const struct ps_team *team, struct uth_tls *before)
{
    if (before)
        vp_suspend_caller(team->parent, before);
}
static inline struct vp *resume_parent(struct vp *vp, const struct ps_team *team, struct uth_tls *before)
{
    if (before)
        return vp_resume_caller(vp, team->parent, before);
    leave_block(vp);
    return vp;
}

/* Drops the references of members that have returned. If the region has tasks, then runs tasks in the name of `last`
 * (NULL: runs none), and drops the same members' pending references. Returns what remains in `left`. If that is 0 or
 * PS_TEAM_WAITING, the team may be gone. May switch. */
static inline uint64_t drop_refs(struct ps_team *team, struct ps_member *last, unsigned refs)
{
    uint64_t before = ps_sub_seq(&team->left, refs), left = before - refs;
    PS_ASSERT((uint32_t)before >= refs);
    return PS_UNLIKELY(left & PS_TEAM_ALL_PENDING) ? ps_team_look_and_drop_pending(team, last, refs) : left;
}

/* Makes the calling thread the parent again, as it was before the fork. */
static inline void ps_team_become_parent(struct vp *vp, struct ps_team *team)
{
    vp_run(vp)->current = team->parent;
    team->parent->uth = vp_run(vp)->uth;
    team->parent->vp = vp;
    vp_migrate(vp, team->parent);
}

#endif
