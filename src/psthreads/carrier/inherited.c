/* Computes the signal mask and the processors with which a kernel thread for a thread of a region begins. See
 * inherited.h. */
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

/* Returns the vp of the root to whose regions the block's thread belongs. This is known if that thread runs now, or is
 * a root. Else returns the caller's vp if it is a root's, or vp 0. */
static const struct vp *root_of(const struct vp *here, const struct uth_tls *block)
{
    const struct psthread *t = here && vp_run(here)->tls == block ? vp_run(here)->current : NULL;
    /* A member that runs as a call on a root's stack has PS_T_ROOT, too. */
    while (t && (t->flags & (PS_T_ROOT | PS_T_MEMBER)) != PS_T_ROOT)
        t = t->parent;
    if (block->adopted)
        return block->home;
    if (t && t->flags & PS_T_ROOT)
        return home_of(t);
    /* A caller that is a root starts the kernel threads of its members, as it opens a region. */
    return here && vp_is_roots(here) ? here : ps_vp_at(0);
}

/* Returns the vp of the dedicated kernel thread of block's thread. NULL: the thread has none, or it has set nothing
 * there yet. */
static const struct vp *own_vp(const struct uth_tls *block)
{
    const struct vp *own = block ? ps_load_acquire(&block->dedicated) : NULL;
    /* A dedicated kernel thread that is still starting has set nothing. */
    bool begins = own && vp_run(own)->dedicated_to && ps_load_acquire(&vp_dedicated(own)->state) == PS_DEDICATED_STARTS;
    return begins ? NULL : own;
}

/* Returns the vp whose inner_mask is the signal mask with which the block's thread begins. A thread of an inner region
 * gets the mask of the innermost dedicated thread that has opened this region or one around it. It gets the mask of a
 * root, if that root has opened an inner region as the first member of another region. A root that is away gets the
 * mask of its home. Returns NULL if none of this holds. */
static const struct vp *inner_opener(const struct vp *here, const struct uth_tls *block)
{
    const struct psthread *self = here && vp_run(here)->tls == block ? vp_run(here)->current : NULL, *t = self;
    if (block->adopted) /* the block is a root's, which is away */
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

/* Returns the signal mask with which the block's kernel thread begins. If `opener` has opened an inner region, this is
 * the opener's present mask. Else it is the mask that is kept with the block of a team's member, or the root's mask
 * outside of regions. */
static uint64_t mask_that_begins(const struct uth_tls *block, const struct vp *root, const struct vp *opener)
{
    if (opener)
        return ps_load_seq(&vp_outer(opener)->inner_mask);
    return ps_load_seq(&block->team) ? block->mask : vp_outer(root)->mask;
}

/* Members of a root's outermost region begin with the mask that the root has outside of the region, since the root may
 * have changed its mask as the region's first member. Members of an inner region begin with the mask that its opener
 * has now. */
void ps_inherit_kernel_state(struct vp *to, const struct uth_tls *block)
{
    const struct vp *here = ps_vp(), *root = root_of(here, block);
    vp_outer(to)->mask = mask_that_begins(block, root, inner_opener(here, block));
    vp_outer(to)->cpus = vp_outer(root)->cpus;
}

bool ps_is_outside(const struct vp *vp, const struct psthread *t)
{
    /* t is NULL in a handler that has interrupted the vp's loop while the root waits in a region. */
    if (!t || t == &vp_run(vp)->root || t != vp_forked(vp)->as)
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
        if (vp_is_roots(t->vp) && ps_is_outside(t->vp, t)) /* a member is outside of regions only in a forked child */
            return ps_load_seq(&vp_outer(t->vp)->inner_mask);
        if (own)
            return ps_load_seq(&vp_outer(own)->inner_mask);
        if (m->tls)
            return m->tls->mask;
        opener = t->parent;
        /* `opener` is a root here, and the region that it opens is an inner one. */
        if (m->id == 0 && (opener->flags & (PS_T_ROOT | PS_T_MEMBER)) == PS_T_ROOT)
            return ps_load_seq(&vp_outer(home_of(opener))->inner_mask);
    }
    return vp_outer(opener->flags & PS_T_ROOT ? home_of(opener) : ps_vp_at(0))->mask;
}
