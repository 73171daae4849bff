/* Thread-local blocks (uth/tls.h) and errno of what runs on a vp. */
#ifndef PS_VP_TLS_H
#define PS_VP_TLS_H

#include "current.h"
#include "dedicated.h"
#include "run.h"
#include "runtime.h"
#include "tls.h"

/* Called once, after some kernel thread has been started, and before the first block is entered. */
void vp_prepare_tls(void);
/* Lets vp enter a block, NULL: its kernel thread's own storage; sets the current vp anew there. */
void vp_enter_tls(struct vp *vp, struct uth_tls *tls);
/* The inlined case where writing the thread pointer is enough. The caller knows that by one of the next two functions,
 * or as vp_resume_caller does. */
static PS_ALWAYS_INLINE void vp_enter_tls_cached(struct vp *vp, struct uth_tls *tls)
{
    cpu_set_tp_soon(tls->tp);
    vp_run(vp)->tls = tls; /* behind the thread pointer: home.h */
}
/* On the stack where vp is (uth_tls_is_cached). */
static PS_ALWAYS_INLINE bool vp_tls_is_cached(const struct vp *vp, const struct uth_tls *tls)
{
    return uth_tls_is_cached(tls, vp, vp_run(vp)->uth->stack);
}
/* Enters tls if no other vp has been in it since this vp was. False: it is not entered. */
static PS_ALWAYS_INLINE bool vp_enter_tls_again(struct vp *vp, struct uth_tls *tls)
{
    if (!uth_tls_was_in(tls, vp, ps_load_relaxed(&vp_run(vp)->tid)))
        return false;
    vp_enter_tls_cached(vp, tls);
    return true;
}
/* Does the same for the kernel thread's own storage, where the C library's fork may have cleared the current vp. */
static inline void vp_leave_tls_here(struct vp *vp)
{
    vp_run(vp)->tls = NULL;
    ps_fence_compiler(); /* home.h: the label first, then which storage */
    uth_tls_leave(ps_load_relaxed(&vp_run(vp)->own_tp));
    vp_carry_now(vp);
}
/* Called when the thread of block `tls` begins to call another thread on its stack, in another block:
 * thread_signal.h. */
static inline void vp_suspend_caller(struct psthread *thread, struct uth_tls *tls)
{
    ps_store_relaxed(&tls->below, thread);
}
/* Ends that: self goes on in its own block, whatever block vp is in. Returns the vp. [switches] */
struct vp *vp_resume_caller_slowly(struct vp *vp, struct psthread *self, struct uth_tls *tls);
static PS_ALWAYS_INLINE struct vp *vp_resume_caller(struct vp *vp, struct psthread *self, struct uth_tls *tls)
{
    ps_store_relaxed(&tls->below, NULL);
    ps_fence_compiler(); /* take_from_caller (thread_signal.c) fences for both */
    if (PS_UNLIKELY(!uth_tls_was_in(tls, vp, ps_load_relaxed(&vp_run(vp)->tid))))
        return vp_resume_caller_slowly(vp, self, tls);
    if (vp_run(vp)->tls != tls)
        vp_enter_tls_cached(vp, tls);
    return vp;
}
static inline bool ps_tls_on(void) { return PS_UNLIKELY(ps_load_relaxed(&ps_rt.tls)); }
/* Returns a block for a thread that begins on the uth that runs now. NULL: no memory for one, which is said once. */
struct uth_tls *vp_new_tls(struct vp *vp);
/* Returns a block for a thread that is to begin some time. NULL: no memory; nothing is said. */
struct uth_tls *vp_try_tls(struct vp *vp);
/* Ends and gives back the block that the running thread is in. Runs the program's destructors, may switch; returns the
 * vp. */
struct vp *vp_end_tls(struct vp *vp);
/* As vp_end_tls; self, which has called the running thread on its stack, goes on in its block `next` (NULL: it has
 * none). */
struct vp *vp_end_tls_for(struct vp *vp, struct psthread *self, struct uth_tls *next);

/* `team` keeps the block between regions from now on; NULL: no team does. */
static inline void vp_block_becomes(struct uth_tls *block, struct ps_team *team) { ps_store_seq(&block->team, team); }
/* Whether the team that keeps the block rests: no region of it is open, or the member's body has returned in this one
 * (done_in). Caller: the member's dedicated kernel thread. True: no other kernel thread is in the block, nor will be
 * (tests/models/team_rests.pml), and vp answers as the member from now on. False: vp may answer as another thread, and
 * the caller sets that. vp NULL: only looks. */
bool ps_team_rests(struct vp *vp, const struct uth_tls *block);
/* Lets vp, which carries the thread of this block, answer as the member that keeps the block, if there is one. */
void ps_team_stand(struct vp *vp, const struct uth_tls *block);
/* Waits, some microseconds at most, for lookers that may be reading the team to which a block belonged. */
void ps_team_await_lookers(void);
/* In a forked child: no thread looks. */
void ps_team_lookers_reset(void);

/* The errno that a thread without a block of its own shares with all that run on vp. A caller keeps it over what may
 * switch. */
static inline int vp_errno(const struct vp *vp) { return *vp_run(vp)->own_errno; }
static inline void vp_set_errno(struct vp *vp, int value)
{
    if (PS_LIKELY(!vp_run(vp)->tls))
        *vp_run(vp)->own_errno = value;
}

/* Called when the running thread leaves its block, in which it may have been dedicated: ps_go_home_slow. */
static inline void ps_go_home(struct uth_tls *next)
{
    if (vp_is(ps_vp(), VP_DEDICATED))
        ps_go_home_slow(next);
}

#endif
