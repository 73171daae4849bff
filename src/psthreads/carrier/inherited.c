/* What kernel threads begin with that are started for threads of regions: see inherited.h. */
#include "inherited.h"

#include "current.h"
#include "dedicated.h"
#include "home.h"
#include "os.h"
#include "receiver.h"
#include "run.h"
#include "runtime.h"
#include "scheduler.h"
#include "team.h"

/* Returns the vp of the root in whose regions the block's thread runs. That is known of the running thread; else the
 * caller's vp is taken, if it is a root's, or vp 0. */
static const struct vp *root_of(const struct vp *here, const struct uth_tls *block)
{
    const struct psthread *t = here && vp_run(here)->tls == block ? vp_run(here)->current : NULL;
    while (t && (t->flags & (PS_T_ROOT | PS_T_MEMBER)) != PS_T_ROOT) /* a member may be on a root's stack */
        t = t->parent;
    if (block->adopted)
        return block->home;
    if (t && t->flags & PS_T_ROOT)
        return home_of(t);
    return here && vp_is_roots(here) ? here : ps_vp_at(0); /* a root that opens a region starts its members' */
}

/* Returns the vp of the kernel thread that block's thread has for itself. NULL: none that could have set anything. */
static const struct vp *own_vp(const struct uth_tls *block)
{
    const struct vp *own = block ? ps_load_acquire(&block->dedicated) : NULL;
    /* a vp that begins to be dedicated only for another thread's sake has set nothing yet */
    bool begins = own && vp_run(own)->dedicated_to && ps_load_acquire(&vp_dedicated(own)->state) == PS_DEDICATED_STARTS;
    return begins ? NULL : own;
}

/* Returns the vp of the thread that gives an inner region its mask: a dedicated thread that has opened the region, or
 * one around it; or a root that has opened an inner region as the first member of another. NULL: a root has opened the
 * outermost region. */
static const struct vp *inner_opener(const struct vp *here, const struct uth_tls *block)
{
    const struct psthread *self = here && vp_run(here)->tls == block ? vp_run(here)->current : NULL, *t = self;
    if (block->adopted) /* a root that is away */
        return block->home;
    for (; t && t->flags & PS_T_MEMBER; t = t->parent) {
        const struct ps_member *m = PS_CONTAINER_OF(t, struct ps_member, thread);
        const struct vp *own = m->tls != block ? own_vp(m->tls) : NULL;
        if (own)
            return own;
        if (t != self && m->id == 0 && (t->parent->flags & (PS_T_ROOT | PS_T_MEMBER)) == PS_T_ROOT)
            return home_of(t->parent);
    }
    return NULL;
}

static uint64_t mask_that_begins(const struct uth_tls *block, const struct vp *root, const struct vp *opener)
{
    if (opener)
        return ps_load_seq(&vp_outer(opener)->inner_mask);
    return ps_load_seq(&block->team) ? block->mask : vp_outer(root)->mask;
}

/* A root's outermost region gets the mask that the root has outside of it, for the root may have changed its mask as
 * the region's first thread. An inner region gets the mask that its opener has by now. */
void ps_inherit_kernel_state(struct vp *to, const struct uth_tls *block)
{
    const struct vp *here = ps_vp(), *root = root_of(here, block);
    vp_outer(to)->mask = mask_that_begins(block, root, inner_opener(here, block));
    vp_outer(to)->cpus = vp_outer(root)->cpus;
}

bool ps_is_outside(const struct vp *vp, const struct psthread *t)
{
    if (!t || t == &vp_run(vp)->root ||
        t != vp_forked(vp)->as) /* none: a handler in the loop, as the root that waits */
        return t == &vp_run(vp)->root;
    return !(t->flags & PS_T_MEMBER) ||
           PS_CONTAINER_OF(t, struct ps_member, thread)->team->region == vp_forked(vp)->region;
}

uint64_t ps_mask_of_members(const struct psthread *opener)
{
    const struct vp *here = ps_vp();
    if (opener == &vp_run(here)->root && vp_run(here)->current == opener && !ps_in_handler())
        return vp_unblocked_mask(here);
    for (const struct psthread *t = opener; t->flags & PS_T_MEMBER; t = t->parent) {
        const struct ps_member *m = PS_CONTAINER_OF(t, struct ps_member, thread);
        const struct vp *own = own_vp(m->tls);
        if (vp_is_roots(t->vp) && ps_is_outside(t->vp, t)) /* in a forked child */
            return ps_load_seq(&vp_outer(t->vp)->inner_mask);
        if (own)
            return ps_load_seq(&vp_outer(own)->inner_mask);
        if (m->tls)
            return m->tls->mask;
        opener = t->parent;
        if (m->id == 0 && (opener->flags & (PS_T_ROOT | PS_T_MEMBER)) == PS_T_ROOT) /* a root, in a region */
            return ps_load_seq(&vp_outer(home_of(opener))->inner_mask);
    }
    return vp_outer(opener->flags & PS_T_ROOT ? home_of(opener) : ps_vp_at(0))->mask;
}
