/* The library's own kernel threads: workers and spares, how they start and end; and the vps of dedicated ones.
 *
 * A worker carries one of the vps 1 .. num_vps - 1, from the first time that another thread wakes this vp (idle.c)
 * until the library stops. A spare carries a guest. The watchdog starts spares, and so does a lone root, for which a
 * spare stands in (lone_root.h). A spare that finds nothing to do stands by, and is called before a new one is started
 * (standby.h). */
#include "life.h"

#include "bind.h"
#include "check.h"
#include "cpu.h"
#include "current.h"
#include "handoff.h"
#include "idle.h"
#include "needs.h"
#include "os.h"
#include "receiver.h"
#include "runtime.h"
#include "standby.h"
#include "tls.h"
#include "upcalls.h"
#include "uth.h"
#include "vp.h"
#include "vp_tls.h"
#include "watch.h"
#include "watchdog.h"

#include <errno.h>
#include <string.h>

/* The size of the kernel thread's own stack. Little runs on it, since the vp's loop has a stack of its own. */
#define WORKER_STACK_BYTES ((size_t)64 * 1024)

/* Gives up the vp of a spare whose kernel thread ends, or was refused. */
static void spare_ended(struct vp *vp)
{
    vp_is_no_more(vp, VP_SPARE);
    ps_store_release(&vp->attached, 0);
    if (!ps_queue_seems_empty(&vp->queue)) /* threads that ran here last have become ready: any vp may take them */
        idle_notify(NULL);
    life_forget_worker();
    standby_ended(); /* the last step, because the thread that stops the library waits for it */
}

/* The main function of the kernel thread of a worker or a spare. arg: its vp. */
void *vp_worker_main(void *arg)
{
    struct vp *vp = arg;
    os_thread_name(vp_is(vp, VP_SPARE) ? "psthreads-spare" : "psthreads-vp");
    uth_overflow_thread_init();
    vp_carry(vp);
    if (uth_adopt(&vp_run(vp)->native) != 0)
        ps_fatal("out of memory: a virtual processor cannot start");
    vp_run(vp)->native.vp = vp;
    vp_run(vp)->uth = &vp_run(vp)->native;
    ps_store_relaxed(&vp_run(vp)->tid, os_thread_id());
    vp_run(vp)->kernel_tp = cpu_get_tp();
    ps_store_relaxed(&vp_run(vp)->own_tp, vp_run(vp)->kernel_tp);
    vp_run(vp)->own_errno = &errno;
    vp_run(vp)->tls = NULL;
    ps_store_release(&vp->attached, vp_is(vp, VP_SPARE) ? PS_ATTACHED_OURS : PS_ATTACHED);
    vp_run(vp)->place = 0; /* this kernel thread is bound to no place; the last carrier of this vp may have been */
    if (vp->worker.by_watchdog)
        vp_begin_blocked(vp, os_signals_deferred());
    if (!ps_tls_on())
        vp_unblock_signals(vp);
    if (vp_is(vp, VP_SPARE)) {
        ps_sub_release(&ps_watchdog.coming, 1);
        PS_WATCHED(spare__begin, PS_WATCH_SPARE_BEGIN, vp_run(vp)->id, 0);
    }
    ps_upcalls.carry(vp);
    vp_end_blocked(vp);
    uth_cache_leave(&vp_run(vp)->stacks);
    uth_tls_drain(&vp_run(vp)->blocks);
    uth_release(&vp_run(vp)->native);
    uth_overflow_thread_fini();
    vp_carry(NULL);
    if (vp_is(vp, VP_SPARE))
        spare_ended(vp);
    else
        ps_store_release(&vp->attached, 0);
    return NULL;
}

uint64_t vp_mask_to_start_with(void)
{
    const struct vp *here = ps_vp();
    if (!here)
        return os_signal_mask();
    bool inside = vp_run(here)->dedicated_to || (vp_is_roots(here) && vp_run(here)->current != &vp_run(here)->root);
    return inside ? here->outer.mask : vp_unblocked_mask(here);
}

/* Starts the kernel thread of vp, a worker or a spare. Returns 0 or an errno value. */
static int start_kernel_thread(struct vp *vp)
{
    vp->worker.by_watchdog = ps_vp() == NULL;
    vp_begin_blocked(vp, vp_mask_to_start_with());
    bind_lift();
    int err = os_thread_start(&vp->worker.kernel_thread, vp_worker_main, vp, WORKER_STACK_BYTES, true);
    bind_lower();
    return err;
}

int vp_start_worker(struct vp *vp)
{
    static _Atomic uint32_t said;
    ps_add_seq(&ps_rt.num_kernel_threads, 1);
    int err = start_kernel_thread(vp);
    if (err) {
        life_forget_worker();
        if (!ps_xchg_acq_rel(&said, 1))
            ps_warn("the system refuses another kernel thread (%s): going on with %u of %u", strerror(err),
                    ps_load_relaxed(&ps_rt.num_kernel_threads) + 1, ps_rt.num_vps);
    } else {
        ps_store_release(&vp->worker.started, PS_WORKER_RUNS);
    }
    return err;
}

/* Starts a new spare. It counts as one at work until it stands by. Returns 0 or an errno value. */
int vp_start_standby(void)
{
    struct vp *vp = life_claim_slot(ps_rt.num_vps, PS_ATTACHED_OURS);
    if (!vp)
        return EAGAIN;
    ps_store_relaxed(&vp_run(vp)->special, VP_SPARE | needs_bit());
    ps_store_relaxed(&vp->handoff, HANDOFF_BUSY);
    ps_add_seq(&ps_rt.num_kernel_threads, 1);
    ps_add_relaxed(&ps_watchdog.coming, 1);
    ps_add_seq(&ps_watchdog.spares, 1);
    standby_begins();
    int err = start_kernel_thread(vp);
    if (err) {
        ps_sub_relaxed(&ps_watchdog.coming, 1);
        ps_sub_seq(&ps_watchdog.spares, 1);
        spare_ended(vp);
        return err;
    }
    os_thread_detach(vp->worker.kernel_thread);
    return 0;
}

int vp_get_spare(void)
{
    int err = standby_call() ? 0 : vp_start_standby();
    if (err)
        return err;
    uint32_t at_work = ps_load_relaxed(&ps_watchdog.spares);
    ps_add_relaxed(&ps_watchdog.spares_ever, 1);
    if (at_work > ps_load_relaxed(&ps_watchdog.spares_most))
        ps_store_relaxed(&ps_watchdog.spares_most, at_work);
    return 0;
}

struct vp *vp_claim_dedicated(struct uth_tls *block)
{
    struct vp *vp = life_claim_slot(ps_rt.num_vps, PS_ATTACHED_OURS);
    if (!vp)
        return NULL;
    vp_run(vp)->tls = NULL;
    vp_run(vp)->current = NULL;
    ps_store_relaxed(&vp_run(vp)->stands_as, NULL);
    vp_run(vp)->place = 0;
    thread_signal_begins(&vp->thread_signal);
    ps_store_relaxed(&vp->handoff, HANDOFF_BUSY);
    ps_store_relaxed(&vp_run(vp)->tid, 0); /* not the number that the slot's last user had */
    ps_store_relaxed(&vp->dedicated.wake, 0);
    ps_store_relaxed(&vp->pinned, NULL);
    ps_store_relaxed(&vp->dedicated.ends, 0);
    ps_store_relaxed(&vp->dedicated.sleeps, 0);
    vp->dedicated.spin_ns = ps_rt.search_ns;
    ps_store_relaxed(&vp->dedicated.leave, 0);
    ps_store_relaxed(&vp->dedicated.may_spin, 0);
    ps_store_relaxed(&vp->dedicated.state, PS_DEDICATED_STARTS);
    ps_add_seq(&ps_rt.num_kernel_threads, 1);
    vp_run(vp)->on_own = false;
    vp_run(vp)->dedicated_to = block;
    ps_store_relaxed(&vp_run(vp)->special, VP_DEDICATED | needs_bit());
    return vp;
}

void vp_dedicated_ended(struct vp *vp)
{
    uth_cache_leave(&vp_run(vp)->stacks);
    uth_tls_drain(&vp_run(vp)->blocks);
    ps_store_relaxed(&vp_run(vp)->special, 0);
    vp_run(vp)->dedicated_to = NULL;
    vp_run(vp)->tls = NULL;
    ps_store_relaxed(&vp_run(vp)->stands_as, NULL);
    life_forget_worker();
    ps_store_release(&vp->attached, 0);
    if (!ps_queue_seems_empty(&vp->queue)) /* threads that were made here are in the queue: any vp may take them now */
        idle_notify(NULL);
}
