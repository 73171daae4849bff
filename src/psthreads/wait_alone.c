/* A thread waits on a kernel thread of its own (promote.h), and its handlers may be left by a jump: see leave.h. */
#include "promote.h"

#include "above.h"
#include "directed.h"
#include "leave.h"
#include "os.h"
#include "quota_park.h"
#include "run.h"
#include "sources.h"

#define UNKNOWN_BYTES ((size_t)64 * 1024) /* of a stack that is not ours, where handlers' frames are */

static void unblock(struct vp_directed *d)
{
    if (PS_UNLIKELY(d->is_unheard)) {
        d->is_unheard = false;
        os_set_signal_mask(d->mask_of_waiter);
    }
}

static void await_readied(void *arg)
{
    struct vp *vp = arg;
    unblock(vp_directed(vp));
    ps_await_pinned(vp);
}

void ps_wait_alone(struct vp *vp, struct psthread *self)
{
    struct ps_jump jump;
    struct vp_directed *d = vp_directed(vp);
    const struct uth *stack = vp_run(vp)->uth;
    uintptr_t here = (uintptr_t)&jump, low = (uintptr_t)stack->stack;
    if (here - low >= stack->stack_bytes)
        low = here - UNKNOWN_BYTES;
    bool leaves = false;
    for (const struct psthread *t = NULL; t != self;) {
        bool left = ps_leave_point(vp, low, await_readied, vp, &jump);
        t = ps_xchg_seq(vp_pinned(vp), NULL);
        if (t == PS_PINNED_REST)
            quota_park_refused(vp); /* a root does not rest */
        if (PS_UNLIKELY(left)) {
            ps_store_seq(&vp_alone(vp)->sleeps, 0);
            leaves = ps_above.leave_wait(vp, self, &jump, t == self);
            d->mask_of_waiter = jump.mask;
            d->is_unheard = true;
        }
    }
    vp_tick(vp);
    if (PS_UNLIKELY(leaves))
        ps_above.leave_wait(vp, self, &jump, true);
    unblock(d);
}
