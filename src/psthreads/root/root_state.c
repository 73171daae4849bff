/* Notes a root's signal mask and processors, and the signal mask of a thread on a dedicated kernel thread. Kernel
 * threads that are started for members of their regions begin with these: see inherited.h. */
#include "current.h"
#include "dedicated.h"
#include "home.h"
#include "inherited.h"
#include "os.h"
#include "parts.h"
#include "run.h"
#include "runtime.h"
#include "scheduler.h"
#include "team.h"
#include "vp_tls.h"

/* Notes that vp's root has this mask now. The root's dedicated kernel thread, if there is one, takes signals with this
 * mask, too, so it is woken (thread_signal.h). If members have another mask, home runs nothing but the root from now on
 * (VP_MASK); otherwise it runs other threads again. */
static void has_mask(struct vp *vp, uint64_t mask)
{
    const struct uth_tls *block = home_block(vp);
    struct vp *own = block ? ps_load_acquire(&block->dedicated) : NULL;
    bool differs = mask != vp_priority(vp)->mask && ps_tls_on();
    if (ps_xchg_seq(&vp_outer(vp)->inner_mask, mask) != mask && own)
        ps_wake_dedicated(own);
    if (differs)
        vp_becomes(vp, VP_MASK);
    else if (vp_is(vp, VP_MASK))
        vp_is_no_more(vp, VP_MASK);
}

void ps_root_changed(void)
{
    struct vp *vp = ps_vp();
    if (!vp || ps_in_vfork_child())
        return;
    if (uth_tls_current()) { /* the running thread is in a block; it has a mask of its own only if it is dedicated */
        /* in a handler the kernel's mask is the handler's */
        if (vp_run(vp)->dedicated_to && vp_run(vp)->dedicated_to == vp_run(vp)->tls && !ps_in_handler())
            ps_store_seq(&vp_outer(vp)->inner_mask, os_signal_mask());
        return;
    }
    if (!vp_is_roots(vp))
        return;
    if (!ps_is_outside(vp, vp_run(vp)->current)) {
        if (!ps_in_handler())
            has_mask(vp, os_signal_mask()); /* the mask of the other members stays as it was */
        return;
    }
    os_affinity_get(&vp_outer(vp)->cpus);
    vp_outer(vp)->own_changed = true;
    vp_run(vp)->per_region_at = 0;
    if (ps_in_handler()) /* the kernel's mask is the handler's now: the next region looks */
        return;
    vp_outer(vp)->mask = os_signal_mask();
    if (!vp_priority(vp)->opened)
        vp_priority(vp)->mask = vp_outer(vp)->mask;
    has_mask(vp, vp_outer(vp)->mask);
}

void ps_root_look(struct vp *vp)
{
    if (!vp_outer(vp)->own_changed || vp_run(vp)->current != &vp_run(vp)->root)
        return;
    uint64_t mask = os_signal_mask();
    vp_outer(vp)->own_changed = false;
    vp_outer(vp)->mask = mask;
    has_mask(vp, mask);
    os_affinity_get(&vp_outer(vp)->cpus);
}
