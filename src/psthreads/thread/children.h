/* Parents and children: how they are counted, and which thread frees which descriptor.
 *
 * Counting children. The parent keeps `created` to itself; a child that ends subtracts 1 from `children`; waitall adds
 * `created`. So `children` is never positive before a waitall, and afterwards reaches exactly 0 with the last child:
 * that child (or the parent, if the sum is 0 at once) goes on. One atomic per child. A parent that ends with children
 * alive adds created + PS_CHILDREN_HELD, and takes PS_CHILDREN_HELD back when its descriptor is to be freed. The thread
 * that brings the sum to 0 frees the descriptor.
 * `created` has 32 bits. So the parent now and then adds as many to `children` as have ended since, and takes them off
 * `created` (fold_children). `children` is 0 or less then: the last child still finds no 1 there. created + children is
 * always the number of children that have not ended. Only the parent's creations make this number grow, so a number
 * that the parent has read is an upper bound.
 *
 * Zombies. A child that ends pushes itself (compare-and-swap), then counts itself down (release). The parent takes out.
 * The parent may find (acquire) that no child is alive but those that it is ending itself, by calls on its own stack.
 * Then every push is over and seen, and no push can begin before the parent makes another child. So the parent needs no
 * compare-and-swap (children_alone_with). The parent looks at the count first, then at the list. The other order loses
 * a child: the parent reads the list's first, t; a child pushes itself and counts itself down; the parent finds no
 * child alive and stores what stands behind t.
 *
 * Callers: the kernel thread that carries vp. */
#ifndef PS_CHILDREN_H
#define PS_CHILDREN_H

#include "descriptor.h"
#include "run.h"

/* Frees t, which has ended and for which no thread will ask, or leaves that to its last child. Zombies of t's that were
 * joined go with it, and theirs, in any depth. */
void children_give_up_whole(struct vp *vp, struct psthread *t);
static PS_ALWAYS_INLINE void children_give_up(struct vp *vp, struct psthread *t)
{
    if (PS_UNLIKELY(t->created != 0 || ps_load_relaxed(&t->zombies) || t->flags & (PS_T_REUSED | PS_T_ROOT)))
        children_give_up_whole(vp, t);
    else
        descriptor_put(&vp_run(vp)->descriptors, t);
}

/* What becomes of the zombies that were not joined: they stay zombies, are freed, or become orphans. */
enum children_unjoined { PS_UNJOINED_KEEP, PS_UNJOINED_FREE, PS_UNJOINED_ORPHAN };
/* Frees the zombies of t that were joined, and those that were not as told. */
void children_sweep(struct vp *vp, struct psthread *t, enum children_unjoined unjoined);
/* Called when the parent has made so many children that it has to look after those made before. False: too many are
 * alive. */
bool children_look_after(struct vp *vp, struct psthread *parent);
/* Blocks until every child of self has ended; their zombies stay. */
void children_wait(struct psthread *self);
/* The same; no thread will ask for them. */
void children_wait_and_sweep(struct psthread *self);

/* A child of p, the last one, has ended. */
void children_last_child_ended(struct vp *vp, struct psthread *p);
/* A child of p has ended. */
static inline void children_child_ended(struct vp *vp, struct psthread *p)
{
    if (PS_UNLIKELY(ps_sub_acq_rel(&p->children, 1) == 1))
        children_last_child_ended(vp, p);
}

/* Whether no more of p's children are alive than `of_ours`, which are in the caller's hand. Caller: p. */
static inline bool children_alone_with(struct psthread *p, uint32_t of_ours)
{
    return ps_load_acquire(&p->children) + (int64_t)p->created == of_ours;
}

/* Adds t, which has ended and which no thread waits for, to its parent's list, where it stays until it is joined. */
static inline void children_add_zombie(struct psthread *parent, struct psthread *t)
{
    t->next_zombie = ps_load_relaxed(&parent->zombies);
    while (!ps_cas_release(&parent->zombies, &t->next_zombie, t))
        continue;
}

#endif
