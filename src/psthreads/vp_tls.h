/* Thread-local blocks (uth/tls.h) and errno of what runs on a vp. */
#ifndef PS_VP_TLS_H
#define PS_VP_TLS_H

#include "current.h"
#include "promote.h"
#include "runtime.h"
#include "tls.h"
#include "vp.h"

/* vp enters a block, or with NULL its kernel thread's own; the current vp is written anew there. */
void vp_enter_tls(struct vp *vp, struct uth_tls *tls);
/* The same, inlined where tls is a block that the vp has been in last. */
static inline void vp_enter_tls_here(struct vp *vp, struct uth_tls *tls)
{
    if (PS_LIKELY(tls && uth_tls_enter_again(tls, vp, ps_load_relaxed(&vp->tid))))
        vp->tls = tls;
    else
        vp_enter_tls(vp, tls);
}
static inline bool ps_tls_on(void) { return PS_UNLIKELY(ps_load_relaxed(&ps_rt.tls)); }
/* A block for a thread that begins on the uth that runs now; NULL where there is no memory for one: said once. */
struct uth_tls *vp_new_tls(struct vp *vp);
/* One for a thread that is to begin some time; NULL: none, and nobody is told. */
struct uth_tls *vp_try_tls(struct vp *vp);
/* Ends and gives back the block that the running thread is in. Runs the program's destructors, may switch; returns
 * the vp. */
struct vp *vp_end_tls(struct vp *vp);

/* The errno that a thread without a block of its own shares with all that run on vp: to be kept over what may
 * switch. */
static inline int vp_errno(const struct vp *vp) { return *vp->own_errno; }
static inline void vp_set_errno(struct vp *vp, int value)
{
    if (PS_LIKELY(!vp->tls))
        *vp->own_errno = value;
}

/* The running thread leaves its block, in which it may have been promoted: ps_go_home_slow. */
static inline void ps_go_home(struct uth_tls *next)
{
    if (PS_UNLIKELY(ps_vp()->alone_for != NULL))
        ps_go_home_slow(next);
}

#endif
