/* Releases roots from their kernel threads. See home.h. What the root itself does is in homecoming.c. */
#include "home.h"

#include "current.h"
#include "dedicated.h"
#include "idle.h"
#include "os.h"
#include "scheduler.h"
#include "sources.h"
#include "vp_tls.h"
#include "watch.h"

/* Gives the loop of vp, a home, its own storage (vp_home.empty). The loop goes there when it next leaves a block, and
 * does not use the root's block any more. */
static void vacate_storage(struct vp *vp)
{
    struct vp_home *home = vp_home(vp);
    ps_store_seq(&vp_run(vp)->own_tp, home->empty->tp);
    vp_run(vp)->own_errno = (int *)(void *)((char *)home->empty->tp + home->errno_at);
}

void home_vacate_early(struct vp *vp)
{
    if (os_fence_all_ready())
        return;
    vacate_storage(vp);
    ps_store_release(&vp_home(vp)->leaves, true);
}

bool home_storage_free(struct vp *vp)
{
    struct vp_home *home = vp_home(vp);
    struct uth_tls *const volatile *in = &vp_run(vp)->tls;
    if (!home->empty)
        return false;
    if (!ps_load_acquire(&home->leaves)) {
        vacate_storage(vp);
        if (!os_fence_all())
            return false;
        ps_store_release(&home->leaves, true);
    }
    const struct uth_tls *tls = *in;
    return tls ? tls != vp_run(vp)->own_tls : ps_load_acquire(&home->was_out);
}

void home_settle(struct vp *vp)
{
    struct vp_home *home = vp_home(vp);
    if (PS_LIKELY(!ps_load_acquire(&home->leaves)) || ps_load_relaxed(&home->was_out))
        return;
    vp_leave_tls_here(vp);
    ps_store_release(&home->was_out, true);
}

void home_stand_aside(void)
{
    ps_fence_seq();
    if (PS_LIKELY(ps_load_seq(&ps_rt.num_roots) < 2) || !ps_rt.homes_stand_aside)
        return;
    unsigned slots = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (ps_load_seq(vp_attached(vp)) != PS_ATTACHED || !vp_is_roots(vp))
            continue;
        vp_becomes(vp, VP_ASIDE);
        if (ps_load_seq(vp_attached(vp)) != PS_ATTACHED) /* the root has ended, and a spare may use the slot now */
            vp_is_no_more(vp, VP_ASIDE);
    }
}

bool home_stays_aside(struct vp *vp)
{
    if (ps_load_seq(&ps_rt.num_roots) < 2) {
        vp_is_no_more(vp, VP_ASIDE);
        /* Another root has come meanwhile, and may have marked vp before the mark was cleared. */
        if (ps_load_seq(&ps_rt.num_roots) > 1)
            vp_becomes(vp, VP_ASIDE);
    }
    return home_is_aside(vp);
}

/* Puts t back into the pinned slot of vp, its home, and wakes vp. */
static void pin_again(struct vp *vp, struct psthread *t)
{
    ps_store_seq(vp_pinned(vp), t);
    ps_wake_pinned(vp);
}

bool home_release(struct vp *vp)
{
    struct psthread *t = ps_load_relaxed(vp_pinned(vp));
    if (!t || t == PS_PINNED_OFFLINE || !vp_home(vp)->empty || ps_load_relaxed(&vp_home(vp)->stays) ||
        vp_is(vp, VP_LONE) || !ps_cas_seq(vp_pinned(vp), &t, NULL))
        return false;
    struct uth *stack = vp_run(vp)->own_uth;
    if (vp_is(vp, VP_LONE) || t->uth != stack || stack->vp != vp || !home_storage_free(vp)) {
        pin_again(vp, t);
        return false;
    }
    stack->vp = NULL;
    ps_store_relaxed(&ps_rt.roots_leave, true);
    PS_WATCHED(root__leaves, PS_WATCH_ROOT_LEAVES, vp_run(vp)->id, 0);
    vp_enqueue(vp, &t->item, PS_FRONT);
    return true;
}
