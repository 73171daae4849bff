/* What happens when a signal comes: see process_signal.h. */
#include "process_signal.h"

#include "current.h"
#include "home.h"
#include "idle.h"
#include "scheduler.h"
#include "thread_signal.h"
#include "tls.h"
#include "vp_tls.h"

/* Called in a handler. Changes the mask in the handler's frame, so that its kernel thread blocks signals when the
 * handler returns. Notes the former mask of the frame as the thread's own. If another handler, which this one has
 * interrupted, has noted a mask already, the thread's own mask is the intersection of both. */
static void return_blocked(struct vp *vp, void *frame)
{
    uint64_t mask = os_frame_mask(frame);
    vp_become_blocked(vp, vp_is(vp, VP_SIGNALS_BLOCKED) ? vp_run(vp)->unblocked_mask & mask : mask);
    os_frame_set_mask(frame, OS_ALL_SIGNALS);
}

/* --- as which thread --- */

/* Sends the signal to the process (tid 0) or to kernel thread `tid`. True: sent, and all signals are blocked on the
 * calling kernel thread. False: refused, and the mask is as before. */
static bool sent_on(int tid, int number, const void *info)
{
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    if (tid ? os_signal_to_thread(tid, number, info) : os_signal_again(number, info))
        return true;
    os_set_signal_mask(mask);
    return false;
}

/* Sends the signal on, to the process (tid 0) or to kernel thread `tid`. Then vp's kernel thread, which is the caller,
 * blocks signals, also when the handler has returned. If the handler has interrupted vp's sleep, vp wakes. Returns
 * false if the signal could not be sent. */
static bool passed_on(struct vp *vp, int tid, int number, const void *info, void *frame)
{
    if (!sent_on(tid, number, info))
        return false;
    return_blocked(vp, frame);
    if (tid)
        ps_wake_dedicated(vp);
    else
        idle_wake_this(vp);
    return true;
}

/* Returns whether the signal's handler runs here, on the kernel thread of vp:
 *    a fault; or no thread has a    here
 *    block (ps_tls_on)
 *    a poke                         here, if there is a letter for the block that is current (thread_signal.h)
 *    in a block, or on a root's     here, as that thread: the kernel has chosen
 *    own stack
 *    a dedicated kernel thread,     nowhere yet: deferred for its thread (thread_signal.h), or passed on to the process
 *    outside of its block
 *    at a root's home, to a root    on the root's dedicated kernel thread, if it has one: the signal is sent there
 *    that is elsewhere
 *    where no thread runs           here, if it was sent to this kernel thread. Otherwise nowhere yet: passed on to the
 *                                   process. The kernel chooses again, among the others
 * If the kernel refuses to send a signal on, the handler runs here. */
static bool comes_here(struct vp *vp, int number, void *info, void *frame)
{
    enum os_signal_sent sent = os_signal_sent(number, info);
    void *tp = cpu_get_tp();
    bool outside = tp == vp_run(vp)->own_tp;
    if (sent == OS_SIGNAL_FAULT || !ps_tls_on())
        return true;
    if (sent == OS_SIGNAL_POKE)
        return thread_signal_take(number, info);
    if (vp_is(vp, VP_DEDICATED))
        return !outside || !passed_on(vp,
                                      vp_run(vp)->dedicated_to->adopted && sent == OS_SIGNAL_TO_PROCESS
                                          ? 0
                                          : ps_load_relaxed(&vp_run(vp)->tid),
                                      number, info, frame);
    if (vp_is_roots(vp)) {
        const struct uth_tls *block = home_block(vp);
        const struct vp *own = block ? ps_load_acquire(&block->dedicated) : NULL;
        int tid = own && vp_home(vp)->empty && sent != OS_SIGNAL_TO_PROCESS ? ps_load_relaxed(&vp_run(own)->tid) : 0;
        bool in_root = tp == (block ? block->tp : vp_run(vp)->own_tp);
        /* The handler runs here on the root's own stack, and where the root has no kernel thread for signals. */
        if (in_root && ((vp_run(vp)->uth == vp_run(vp)->own_uth && !vp_switches(vp)) || !tid))
            return true;
        if (tid)
            return !sent_on(tid, number, info);
    }
    return !outside || sent == OS_SIGNAL_TO_THREAD || !passed_on(vp, 0, number, info, frame);
}

/* --- in a handler --- */

bool ps_handler_begins(struct ps_handler *h, int number, void *info, void *frame)
{
    struct vp *vp = vp_in_own_block() ? ps_vp() : NULL;
    *h = (struct ps_handler){.vp = vp};
    if (!vp)
        return os_signal_sent(number, info) != OS_SIGNAL_POKE || thread_signal_take(number, info);
    if (!comes_here(vp, number, info, frame))
        return false;
    h->outer = ps_load_relaxed(&vp_run(vp)->in_handler);
    h->outer_on = vp_run(vp)->handler_on;
    vp_run(vp)->handler_on = vp_run(vp)->uth;
    ps_store_seq(&vp_run(vp)->in_handler, h);
    return true;
}

void ps_handler_ends(const struct ps_handler *h)
{
    struct vp *vp = h->vp;
    if (!vp)
        return;
    if (vp_is(vp, VP_DEDICATED))
        ps_add_seq(&ps_idle.parks, 1); /* the handler may have readied threads, and deadlock.c must see that */
    void *here = (void *)(uintptr_t)h;
    if (ps_cas_seq(&vp_run(vp)->in_handler, &here, h->outer))
        vp_run(vp)->handler_on = h->outer_on;
}
