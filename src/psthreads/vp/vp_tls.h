/* Entering and leaving thread-local blocks (uth/tls.h) on a vp, and errno of threads without a block. */
#ifndef PS_VP_TLS_H
#define PS_VP_TLS_H

#include "current.h"
#include "dedicated.h"
#include "run.h"
#include "runtime.h"
#include "tls.h"

/* Makes handlers of the C library's own signals run with the kernel thread's own thread pointer. Called once, when some
 * kernel thread has been started and no block has been entered yet. */
void vp_prepare_tls(void);
/* Lets vp's kernel thread enter block tls (NULL: its own storage), and sets the current vp there. */
void vp_enter_tls(struct vp *vp, struct uth_tls *tls);
/* The inlined case of vp_enter_tls in which it is enough to write the thread pointer. The caller has found that out by
 * vp_tls_is_cached, or by uth_tls_was_in. */
static PS_ALWAYS_INLINE void vp_enter_tls_cached(struct vp *vp, struct uth_tls *tls)
{
    cpu_set_tp_soon(tls->tp);
    vp_run(vp)->tls = tls; /* after the thread pointer: home_storage_free relies on that */
}
/* Returns true if vp, on its present stack, may enter tls by vp_enter_tls_cached (uth_tls_is_cached). */
static PS_ALWAYS_INLINE bool vp_tls_is_cached(const struct vp *vp, const struct uth_tls *tls)
{
    return uth_tls_is_cached(tls, vp, vp_run(vp)->uth->stack);
}
/* Enters tls if vp was the last vp in it, and returns true. Otherwise returns false, and does not enter tls. */
static PS_ALWAYS_INLINE bool vp_enter_tls_again(struct vp *vp, struct uth_tls *tls)
{
    if (!uth_tls_was_in(tls, vp, ps_load_relaxed(&vp_run(vp)->tid)))
        return false;
    vp_enter_tls_cached(vp, tls);
    return true;
}
/* Enters the kernel thread's own storage. Sets the current vp there, since the C library's fork may have cleared it. */
static inline void vp_leave_tls_here(struct vp *vp)
{
    vp_run(vp)->tls = NULL;
    ps_fence_compiler(); /* run.tls is written before the thread pointer: home_storage_free relies on that */
    uth_tls_leave(ps_load_relaxed(&vp_run(vp)->own_tp));
    vp_carry_now(vp);
}
/* Called when `thread`, in its block `tls`, begins to call another thread on its stack, in that thread's block. Until
 * vp_resume_caller, the dedicated kernel thread of `thread` may enter tls to run handlers (thread_signal.h), and a
 * helper may run in tls (recall.h). */
static inline void vp_suspend_caller(struct psthread *thread, struct uth_tls *tls)
{
    ps_store_relaxed(&tls->below, thread);
}
/* Ends what vp_suspend_caller began: self goes on in its own block, whatever block vp is in. Returns the vp.
 * May switch. */
struct vp *vp_resume_caller_slowly(struct vp *vp, struct psthread *self, struct uth_tls *tls);
static PS_ALWAYS_INLINE struct vp *vp_resume_caller(struct vp *vp, struct psthread *self, struct uth_tls *tls)
{
    ps_store_relaxed(&tls->below, NULL);
    ps_fence_compiler(); /* enough here: take_from_caller (thread_signal.c) makes a fence in all kernel threads */
    if (PS_UNLIKELY(!uth_tls_was_in(tls, vp, ps_load_relaxed(&vp_run(vp)->tid))))
        return vp_resume_caller_slowly(vp, self, tls);
    if (vp_run(vp)->tls != tls)
        vp_enter_tls_cached(vp, tls);
    return vp;
}
static inline bool ps_tls_on(void) { return PS_UNLIKELY(ps_load_relaxed(&ps_rt.tls)); }
/* Returns a block for a thread that begins on the running stack. NULL: no memory; one line says so, the first time. */
struct uth_tls *vp_new_tls(struct vp *vp);
/* Returns a block for a thread that begins later. NULL: no memory; nothing is reported. */
struct uth_tls *vp_try_tls(struct vp *vp);
/* Ends the block in which the running thread is, and gives it back. Runs the program's destructors, so it may
 * switch. Returns the vp. */
struct vp *vp_end_tls(struct vp *vp);
/* As vp_end_tls, for a thread that self has called on its stack: self goes on in its own block `next` (NULL: it has
 * none). */
struct vp *vp_end_tls_for(struct vp *vp, struct psthread *self, struct uth_tls *next);

/* From now on `team` keeps the block between regions; NULL: no team does. */
static inline void vp_block_becomes(struct uth_tls *block, struct ps_team *team) { ps_store_seq(&block->team, team); }
/* Returns true if the team that keeps the block rests: it has no open region, or the block's member has returned from
 * its body in this region (done_in). Then no other kernel thread is in the block, nor will be
 * (tests/models/team_rests.pml). Caller: the member's dedicated kernel thread. If vp is not NULL, sets vp's
 * run.stands_as to this member, or to NULL if there is none. So if false is returned, the caller has to set stands_as
 * anew. */
bool ps_team_rests(struct vp *vp, const struct uth_tls *block);
/* Lets ps_local on vp, which carries the thread of this block, answer as the member that keeps the block, if there
 * is one. */
void ps_team_stand(struct vp *vp, const struct uth_tls *block);
/* Waits for threads that may be reading the team to which a block belonged, some microseconds at most. */
void ps_team_await_lookers(void);
/* Called in a forked child, in which no thread looks at a team: sets the count of lookers to 0. */
void ps_team_lookers_reset(void);

/* The errno that vp shares with all threads without a block that run on it. A thread saves and restores it around a
 * call that may switch. */
static inline int vp_errno(const struct vp *vp) { return *vp_run(vp)->own_errno; }
static inline void vp_set_errno(struct vp *vp, int value)
{
    if (PS_LIKELY(!vp_run(vp)->tls))
        *vp_run(vp)->own_errno = value;
}

/* Called when the running thread leaves its block. If it is dedicated, its context leaves the dedicated kernel thread,
 * and goes on in block `next` (ps_go_home_slow). */
static inline void ps_go_home(struct uth_tls *next)
{
    if (vp_is(ps_vp(), VP_DEDICATED))
        ps_go_home_slow(next);
}

#endif
