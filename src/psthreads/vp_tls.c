/* Thread-local blocks of what runs on a vp: see vp_tls.h. */
#include "vp_tls.h"

#include "check.h"
#include "current.h"
#include "promote.h"

/* In a block that vp left last `ee_here` is still vp; in the kernel thread's own the C library's fork may have cleared
 * it. */
static inline void enter_tls(struct vp *vp, struct uth_tls *tls)
{
    vp->tls = tls;
    if (!tls) {
        uth_tls_leave(vp->own_tp);
        vp_carry(vp);
    } else if (PS_UNLIKELY(!uth_tls_enter_again(tls, vp, ps_load_relaxed(&vp->tid)))) {
        uth_tls_enter(tls, vp, ps_load_relaxed(&vp->tid));
        vp_carry(vp);
    }
}

PS_NOINLINE void vp_enter_tls(struct vp *vp, struct uth_tls *tls)
{
    if (tls == vp->tls)
        return;
    enter_tls(vp, tls);
}

static struct uth_tls *while_held(struct vp *vp, struct uth_tls *(*get)(void))
{
    vp->held = true;
    __asm__ volatile("" ::: "memory"); /* read by a handler on this kernel thread */
    struct uth_tls *tls = get();
    __asm__ volatile("" ::: "memory");
    vp->held = false;
    return tls;
}

struct uth_tls *vp_try_tls(struct vp *vp) { return while_held(vp, uth_tls_try_get); }

struct uth_tls *vp_new_tls(struct vp *vp)
{
    static _Atomic uint32_t said;
    struct uth_tls *tls = while_held(vp, uth_tls_get);
    if (tls)
        uth_tls_set_stack(tls, vp->uth->stack, vp->uth->stack_bytes);
    else if (!ps_xchg_acq_rel(&said, 1))
        ps_warn("no memory for a thread's own thread-local storage: it uses its kernel thread's, and regions have one "
                "thread from now on");
    return tls;
}

struct vp *vp_end_tls(struct vp *vp)
{
    struct uth_tls *tls = vp->tls;
    if (!tls)
        return vp;
    uth_tls_end(tls);
    ps_go_home(NULL);
    vp = ps_vp();
    vp_enter_tls(vp, NULL);
    ps_retire_alone(tls);
    vp->held = true; /* as above: it may start a kernel thread, and wait for its end */
    __asm__ volatile("" ::: "memory");
    uth_tls_put(tls);
    __asm__ volatile("" ::: "memory");
    vp->held = false;
    return vp;
}
