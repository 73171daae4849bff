/* The switches that no fast path uses: see switch.h. */
#include "switch.h"

#include "check.h"
#include "os.h"
#include "put_back.h"
#include "receiver.h"
#include "upcalls.h"
#include "visit.h"
#include "waiters.h"

PS_NOINLINE struct uth *vp_bury_left(struct vp *vp, struct uth *left)
{
    struct uth *here = vp_run(vp)->uth;
    uth_put(&vp_run(vp)->stacks, left);
    vp_set_errno(vp, here->error);
    return here;
}

PS_NOINLINE struct uth *vp_swap_told(struct vp *vp, struct uth *from, struct uth *to)
{
    if (!uth_claim(to))
        uth_await_visitor(to);
    if (ps_tls_on())
        vp_enter_tls(vp, to->tls);
    vp_run(vp)->uth = to;
    vp = uth_switch_claimed(from, to, vp, false);
    vp_arrived(vp, from);
    vp_set_errno(vp, from->error);
    return from;
}

PS_NOINLINE struct uth *vp_swap_claimed(struct vp *vp, struct uth *from, struct uth *to)
{
    uth_await_visitor(to);
    if (ps_tls_on())
        vp_enter_tls(vp, to->tls);
    vp_run(vp)->uth = to;
    return vp_swapped(cpu_switch(&from->ctx, &to->ctx, vp));
}

void vp_run_dedicated(struct vp *vp, struct psthread *t)
{
    t->uth->tls = vp_run(vp)->dedicated_to;
    if (PS_UNLIKELY(t->uth->tls->adopted))
        home_equip(vp);
    vp_run(vp)->tls = NULL; /* vp enters the block anew: another vp may have been in it meanwhile */
    vp->thread_signal.blocked =
        vp_is(vp, VP_SIGNALS_BLOCKED); /* signals stay blocked until vp is on t's stack (thread_signal_arrives) */
    vp_is_no_more(vp, VP_SIGNALS_BLOCKED);
    vp_resume(vp, &vp_run(vp)->native, t, false);
    vp_run(vp)->current = NULL;
}

/* As vp_leave, but enters the kernel thread's own storage first, before the switch: signals that come from then on
 * are deferred (thread_signal.h). */
void vp_leave_dedicated(struct vp *vp, struct uth *context, struct uth_tls *tls)
{
    vp_run(vp)->current = NULL;
    vp_run(vp)->left_uth = context;
    vp_run(vp)->left_dies = false;
    vp_run(vp)->uth = &vp_run(vp)->native;
    context->tls = tls;
    vp_enter_tls(vp, NULL);
    vp = uth_switch(context, &vp_run(vp)->native, vp, false);
    vp_arrived(vp, context);
}

bool vp_start_loop(struct vp *vp, struct uth *from, bool dying)
{
    struct uth *fresh = uth_get(&vp_run(vp)->stacks);
    if (!fresh || uth_start(fresh, ps_upcalls.loop, fresh) != 0) {
        if (fresh)
            uth_put(&vp_run(vp)->stacks, fresh);
        return false;
    }
    fresh->tls = NULL;
    vp_run(vp)->current = NULL;
    vp_block_signals(vp);
    vp_leave(vp, from, fresh, dying);
    return true;
}

void vp_abandon(struct vp *vp)
{
    struct uth *self = vp_run(vp)->uth;
    self->flags |= UTH_SPOILED;
    vp_run(vp)->first_work = PS_NO_WORK;
    while (!vp_start_loop(vp, self, true))
        os_yield();
    __builtin_unreachable();
}

PS_NOINLINE void vp_switch_to_fresh(struct vp *vp, struct psthread *self, struct ps_work w)
{
    struct uth *from = self->uth;
    static _Atomic uint32_t said;
    for (vp_run(vp)->first_work = w; !vp_start_loop(vp, from, false); vp_run(vp)->first_work = w) {
        /* There is no memory for a stack. If w has not begun, it waits until a thread that already has a stack can
         * run. */
        if (!ps_load_relaxed(&said) && !ps_xchg_acq_rel(&said, 1))
            ps_warn("no memory for another stack of %zu KiB (%s): waiting until one is free (said once)",
                    vp_run(vp)->stacks.stack_bytes / 1024, os_memory_limit(vp_run(vp)->stacks.stack_bytes));
        os_yield();
        vp_leave_waiters(vp);
        bool has_stack = ps_work_thread(w) && ps_work_thread(w)->uth;
        /* If w has a context, it was not saved in time. Perhaps the vp that still runs w has taken self out of a queue,
         * and waits for self's context as vp waits for w's: so w goes back. */
        if (has_stack)
            vp_put_back(vp, w);
        struct ps_work other = vp_take_own(vp);
        struct psthread *t = ps_work_thread(other);
        if (has_stack)
            w = other;
        if (!t || !t->uth || (t != self && !uth_saved_soon(t->uth))) {
            if (!has_stack)
                vp_put_back(vp, other);
            continue;
        }
        vp_run(vp)->first_work = PS_NO_WORK;
        if (!has_stack)
            vp_put_back(vp, w);
        if (t != self)
            vp_resume(vp, from, t, false);
        return;
    }
}

void vp_leave_bound(struct vp *vp, struct psthread *self)
{
    vp_leave_waiters(vp);
    struct ps_work w = vp_take_own(vp);
    vp_give_way(vp, self, w, true);
    /* on a root's stack, which self may run on as a call, vp_left_by must not return self later */
    self->uth->left_by = NULL;
}
