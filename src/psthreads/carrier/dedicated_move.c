/* Moves a thread to its dedicated kernel thread, and back. See dedicated.h. */
#include "check.h"
#include "current.h"
#include "dedicated.h"
#include "home.h"
#include "os.h"
#include "receiver.h"
#include "run.h"
#include "runtime.h"
#include "scheduler.h"
#include "sources.h"
#include "switch.h"
#include "team.h"
#include "vp_tls.h"

/* --- the thread's side --- */

/* Called before the running thread leaves this kernel thread. If the kernel thread is a root's, or another thread's
 * dedicated one, sets the signal mask of that root or thread again: a handler that the running thread has left by a
 * jump may have left its own mask there. */
static void leave_own_mask(struct vp *vp)
{
    const struct uth_tls *tls = vp_run(vp)->tls;
    vp_block_signals(vp); /* first, because the thread goes on elsewhere, and may change its mask there */
    if (vp_is_roots(vp) ? tls && tls != vp_run(vp)->own_tls
                        : vp_run(vp)->dedicated_to && tls != vp_run(vp)->dedicated_to)
        os_set_signal_mask(ps_load_seq(&vp_outer(vp)->inner_mask));
}

/* Moves self, the running thread, with its context to the vp `to`, which is dedicated to self. */
void ps_move_dedicated(struct vp *vp, struct psthread *self, struct vp *to)
{
    struct uth *context = vp_run(vp)->uth;
    int error = vp_errno(vp);
    leave_own_mask(vp);
    vp_dedicated(to)->home = context->vp;
    vp_dedicated(to)->came_from = vp;
    self->uth = context;
    context->wait.thread = self; /* debuggers and reports read it */
    context->wait.kind = PS_WAIT_NOTHING;
    context->vp = to;
    ps_pin_dedicated(to, self);
    if (PS_UNLIKELY(vp_run(vp)->dedicated_to != NULL)) {
        vp_leave_dedicated(vp, context, vp_run(vp)->tls);
    } else {
        vp_leave_bound(vp, self);
    }
    context->wait.thread = NULL;
    thread_signal_arrives(ps_vp());
    vp_set_errno(ps_vp(), error);
}

PS_NOINLINE bool ps_dedicate_self(void)
{
    struct vp *vp = ps_vp(), *to;
    struct uth_tls *block = vp ? vp_run(vp)->tls : NULL;
    struct psthread *self = vp ? vp_run(vp)->current : NULL;
    if (!self || !block || vp_run(vp)->held || self->flags & PS_T_NOSTACK)
        return false;
    if (PS_UNLIKELY(uth_tls_current() != (vp == block->home ? NULL : block)))
        return false; /* the caller is in a handler, which came while vp changes from one block to another */
    if (vp_run(vp)->dedicated_to == block || vp == block->home)
        return true;
    if (ps_in_vfork_child() || ps_in_handler() || !(to = ps_dedicate(block)))
        return false;
    ps_move_dedicated(vp, self, to);
    return true;
}

PS_NOINLINE void ps_dedicate_again(struct psthread *self, struct uth_tls *block)
{
    struct vp *vp = ps_vp(), *to = self->flags & PS_T_NOSTACK ? NULL : (struct vp *)ps_load_acquire(&block->dedicated);
    if (!to) {
        vp_enter_tls(vp, block);
        return;
    }
    ps_move_dedicated(vp, self, to);
}

/* The running thread leaves vp, which is dedicated to it. The code below its frames on the same stack goes on, in the
 * block `next` (NULL: in no block). Returns the vp that has to go on with the context. This is the dedicated vp of the
 * thread of `next`, if that thread has one. Else it is the vp to which the context was bound before it came to vp.
 * NULL: any vp may go on. If the thread of `next` is not dedicated, clears `below`. So a thread that dedicates this
 * block later sees that the block's thread is not suspended any more. */
static struct vp *carrier_of_next(struct vp *vp, struct uth_tls *next)
{
    struct vp *home = vp_dedicated(vp)->home;
    if (!next)
        return home;
    struct vp *own = ps_load_seq(&next->dedicated);
    if (!own) {
        ps_store_seq(&next->below, NULL);
        own = ps_load_seq(&next->dedicated);
    }
    if (!own || own == home)
        return home;
    vp_dedicated(own)->home = home;
    vp_dedicated(own)->came_from = vp_dedicated(vp)->came_from;
    return own;
}

struct vp *ps_vp_for_others(const struct vp *vp)
{
    struct vp *to = vp_dedicated(vp)->came_from;
    if (to && ps_load_relaxed(vp_attached(to)) && !vp_run(to)->dedicated_to)
        return to;
    return home_is_aside(ps_vp_at(0)) && ps_rt.num_vps > 1 ? ps_vp_at(1) : ps_vp_at(0);
}

void ps_go_home_slow(struct uth_tls *next)
{
    struct vp *vp = ps_vp();
    if (vp_run(vp)->dedicated_to != vp_run(vp)->tls || vp_run(vp)->tls == next)
        return;
    struct psthread *self = vp_run(vp)->current;
    struct uth *context = vp_run(vp)->uth;
    context->left_by = next ? ps_load_relaxed(&next->below) : NULL;
    struct vp *home = carrier_of_next(vp, next);
    context->vp = home;
    self->uth = context;
    if (home)
        ps_ready(self, PS_FRONT);
    else
        vp_enqueue(ps_vp_for_others(vp), &self->item, PS_FRONT);
    vp_leave_dedicated(vp, context, next);
    /* the context runs again, so vp_left_by must not return the thread that was noted */
    context->left_by = NULL;
    thread_signal_arrives(ps_vp());
}
