/* Parents and children: how children are counted, and which thread frees which descriptor.
 *
 * Counting. `created` is the number of children that the parent has made; only the parent writes it. Each child that
 * ends subtracts 1 from `children`. waitall adds `created` to `children`. So `children` is never positive before a
 * waitall. After a waitall the last child brings it to exactly 0; that child readies the parent. If the sum is 0 at
 * once, the parent goes on without blocking. Each child costs one atomic. A parent that ends with children alive adds
 * created + PS_CHILDREN_HELD, and subtracts PS_CHILDREN_HELD when its descriptor is to be freed. The thread that brings
 * the sum to 0 frees the descriptor.
 * `created` has 32 bits. So the parent now and then adds the number of children that have ended to `children`, and
 * subtracts it from `created` (fold_children). `children` stays 0 or less, so no child finds a 1 there. created +
 * children is always the number of children that have not ended. Only the parent's creations increase this number, so
 * the parent may take a number that it has read as an upper bound.
 *
 * Zombies. A child that ends pushes itself on the parent's list (compare-and-swap), then subtracts itself from
 * `children` (release). Only the parent removes zombies, as long as it has not ended. The parent may find (acquire)
 * that no child is alive except those that it runs itself, as calls on its own stack. Then every push is over and
 * visible, and no push can begin before the parent makes another child. So the parent needs no compare-and-swap
 * (children_alone_with). It reads the count first, then the list. The other order would lose a child: the parent reads
 * t, the first of the list; a child pushes itself and subtracts itself; the parent finds no child alive, and stores t's
 * successor as the first.
 *
 * Callers: the kernel thread that carries vp. */
#ifndef PS_CHILDREN_H
#define PS_CHILDREN_H

#include "descriptor.h"
#include "run.h"

/* Frees t, which has ended and which no thread will join any more. If children of t are alive, its last child frees it
 * instead. Zombies of t that were joined are freed with it, and so are their zombies, at any depth. */
void children_give_up_whole(struct vp *vp, struct psthread *t);
static PS_ALWAYS_INLINE void children_give_up(struct vp *vp, struct psthread *t)
{
    if (PS_UNLIKELY(t->created != 0 || ps_load_relaxed(&t->zombies) || t->flags & (PS_T_REUSED | PS_T_ROOT)))
        children_give_up_whole(vp, t);
    else
        descriptor_put(&vp_run(vp)->descriptors, t);
}

/* What children_sweep does with zombies that were not joined: they stay zombies, are freed, or become orphans
 * (thread.c). */
enum children_unjoined { PS_UNJOINED_KEEP, PS_UNJOINED_FREE, PS_UNJOINED_ORPHAN };
/* Frees the zombies of t that were joined. `unjoined` says what happens to the others. */
void children_sweep(struct vp *vp, struct psthread *t, enum children_unjoined unjoined);
/* Called when the parent has made enough children since its last sweep. Folds its counters and sweeps its zombies.
 * Returns false if too many children are alive to make another. */
bool children_look_after(struct vp *vp, struct psthread *parent);
/* Blocks until every child of self has ended. Their zombies stay in self's list. */
void children_wait(struct psthread *self);
/* As children_wait, and frees the zombies: no thread will join them. */
void children_wait_and_sweep(struct psthread *self);

/* Called by the last child of p that ends. Readies p, which waits in children_wait; or frees p, if p has ended. */
void children_last_child_ended(struct vp *vp, struct psthread *p);
/* Subtracts one child of p, which has ended, from p's count. */
static inline void children_child_ended(struct vp *vp, struct psthread *p)
{
    if (PS_UNLIKELY(ps_sub_acq_rel(&p->children, 1) == 1))
        children_last_child_ended(vp, p);
}

/* Returns true if exactly `of_ours` children of p are alive, namely those that the caller runs as calls. Called by p
 * only. */
static inline bool children_alone_with(struct psthread *p, uint32_t of_ours)
{
    return ps_load_acquire(&p->children) + (int64_t)p->created == of_ours;
}

/* Adds t to its parent's list of zombies. t has ended, and no thread waits for it. t stays in the list until it is
 * joined. */
static inline void children_add_zombie(struct psthread *parent, struct psthread *t)
{
    t->next_zombie = ps_load_relaxed(&parent->zombies);
    while (!ps_cas_release(&parent->zombies, &t->next_zombie, t))
        continue;
}

#endif
