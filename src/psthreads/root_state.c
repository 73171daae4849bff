/* What a root has, or a thread on a kernel thread of its own, is written down for threads of its regions: see
 * inherited.h. */
#include "current.h"
#include "inherited.h"
#include "lone_root.h"
#include "os.h"
#include "promote.h"
#include "run.h"
#include "runtime.h"
#include "starter.h"
#include "stray.h"
#include "team.h"

/* A root has this mask, outside of regions. */
static void pass_on_outside(struct vp *vp, uint64_t mask)
{
    uint64_t before = vp_outer(vp)->mask;
    vp_outer(vp)->mask = mask;
    ps_store_seq(&vp_outer(vp)->inner_mask, mask);
    if (mask & ~before)
        stray_expect();
    vp_outer(vp)->own_changed = true;
    vp_run(vp)->rechecked_at = 0;
}

/* A root has this mask as a region's first member; the other members' stays as it was. */
static void keep_inside(struct vp *vp, uint64_t mask)
{
    ps_store_seq(&vp_outer(vp)->inner_mask, mask);
    lone_root_has_mask(vp, mask);
    if (mask & ~vp_outer(vp)->mask)
        stray_expect();
}

void ps_root_changed(void)
{
    struct vp *vp = ps_vp();
    if (!vp || ps_in_vfork_child())
        return;
    if (uth_tls_current()) { /* not promoted: refused, or in a signal handler */
        if (vp_run(vp)->alone_for && vp_run(vp)->alone_for == vp_run(vp)->tls && os_called_by_program())
            ps_store_seq(&vp_outer(vp)->inner_mask, os_signal_mask()); /* in a handler it is that one's */
        return;
    }
    if (!vp_is_roots(vp))
        return;
    if (vp_run(vp)->current != &vp_run(vp)->root && !vp_run(vp)->tls) { /* in a block: it is own_tls */
        if (os_called_by_program())
            keep_inside(vp, os_signal_mask());
        return;
    }
    os_affinity_get(&vp_outer(vp)->cpus);
    os_thread_own_name(vp_outer(vp)->name);
    pass_on_outside(vp, os_signal_mask());
}

void ps_own_mask_becomes(struct vp *vp, uint64_t mask)
{
    bool is_root = vp_is_roots(vp) && !uth_tls_current();
    if (is_root && (vp_run(vp)->current == &vp_run(vp)->root || vp_run(vp)->tls)) { /* as ps_root_changed */
        pass_on_outside(vp, mask);
        return;
    }
    if (is_root)
        keep_inside(vp, mask);
    else
        ps_store_seq(&vp_outer(vp)->inner_mask, mask);
}

void ps_root_look(struct vp *vp)
{
    bool lone = PS_UNLIKELY(ps_load_relaxed(&vp_run(vp)->lone) & PS_LONE_MASK);
    if ((!vp_outer(vp)->own_changed && !lone) || vp_run(vp)->current != &vp_run(vp)->root)
        return;
    uint64_t mask = os_signal_mask();
    lone_root_has_mask(vp, mask);
    if (!vp_outer(vp)->own_changed)
        return;
    vp_outer(vp)->own_changed = false;
    vp_outer(vp)->mask = mask;
    ps_store_seq(&vp_outer(vp)->inner_mask, mask);
    os_affinity_get(&vp_outer(vp)->cpus);
}

static bool is_kernel_thread(const struct vp *vp, const void *tp, int tid)
{
    return tp ? vp_run(vp)->own_tp == tp : ps_load_relaxed(&vp_run(vp)->tid) == tid;
}

static void root_changes(struct vp *root, const struct vp *here)
{
    if (ps_load_relaxed(&vp_outer(root)->changed) || ps_in_vfork_child())
        return;
    if (here && !starter_is_changed(here) && os_called_by_program())
        starter_prepare();
    ps_store_relaxed(&vp_outer(root)->changed, true);
}

void ps_root_changes(const void *tp, int tid)
{
    struct vp *here = ps_vp();
    if ((!tp && !tid) || (here && is_kernel_thread(here, tp, tid))) {
        if (here && vp_is_roots(here) && !ps_is_outside(here, vp_run(here)->current))
            root_changes(here, here);
        return;
    }
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (ps_load_acquire(vp_attached(vp)) && vp_is_roots(vp) && is_kernel_thread(vp, tp, tid))
            root_changes(vp, here);
    }
}
