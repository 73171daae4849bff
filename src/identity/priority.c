/* Roots whose priority differs from the pool's: see priority.h. */
#include "priority.h"

#include "atomic.h"
#include "current.h"
#include "dedicated.h"
#include "life.h"
#include "os.h"
#include "run.h"
#include "runtime.h"
#include "watchdog.h"

#include <unistd.h>

/* The pool's scheduling; known: it has been set. Guarded by `lock`. */
static struct os_scheduling pool;
static bool known;
static _Atomic uint32_t lock;

/* Returns whether the calling kernel thread has another scheduling than the pool. In the first call, and with
 * `redefine`, the pool's scheduling becomes that of the caller. */
static bool differs_from_pool(bool redefine)
{
    struct os_scheduling own;
    if (!os_scheduling(&own))
        return false;
    while (ps_xchg_acquire(&lock, 1))
        os_yield();
    if (!known || redefine)
        pool = own;
    known = true;
    bool differs = own.policy != pool.policy || own.nice != pool.nice || own.priority != pool.priority;
    ps_store_release(&lock, 0);
    return differs;
}

void priority_reset(void)
{
    known = false;
    ps_store_relaxed(&lock, 0);
}

/* Sets or clears VP_OTHER_PRIORITY of vp, as `differs` says; VP_STARTS likewise, until vp's root has opened its first
 * region. */
static void set_other_priority(struct vp *vp, bool differs)
{
    unsigned starts = vp_priority(vp)->opened ? vp_is(vp, VP_STARTS) : differs;
    unsigned now = (starts ? VP_STARTS : 0) | (differs ? VP_OTHER_PRIORITY : 0);
    vp_becomes(vp, now);
    vp_is_no_more(vp, (VP_OTHER_PRIORITY | VP_STARTS) & ~now);
}

void priority_attach(struct vp *vp) { set_other_priority(vp, differs_from_pool(false)); }

void priority_before_change(void)
{
    if (os_thread_id() == (int)getpid() || ps_vp()) /* the first test holds also in a child between vfork and exec */
        return;
    ps_start();
    differs_from_pool(false);
    watchdog_be_there();
}

/* While no kernel thread of the pool exists and there is no other root, a root outside of regions redefines the pool's
 * scheduling: the pool will begin with what this root has now. */
void priority_changed(void)
{
    struct vp *vp = ps_vp();
    if (!vp || ps_in_vfork_child() || !vp_is_roots(vp))
        return;
    set_other_priority(vp, differs_from_pool(vp_run(vp)->current == &vp_run(vp)->root &&
                                             ps_load_relaxed(&ps_rt.num_kernel_threads) == 0 && !life_other_roots(vp)));
}
