/* Parents and children: see children.h. */
#include "children.h"

#include "current.h"
#include "race.h"
#include "scheduler.h"

/* Called for z, a zombie that its parent gives up. Returns true if z has been joined: then the caller may free z.
 * Otherwise z becomes an orphan: the thread that joins it will free it. */
static bool zombie_is_done_with(struct psthread *z)
{
    uintptr_t ended = PS_JOIN_ENDED;
    return !ps_cas_acq_rel(&z->join, &ended, PS_JOIN_ORPHANED);
}

PS_NOINLINE void children_give_up_whole(struct vp *vp, struct psthread *t)
{
    /* The descriptors still to be freed form a list through next_zombie: recursion could overflow the stack. */
    t->next_zombie = NULL;
    for (struct psthread *todo = t; todo;) {
        t = todo;
        todo = t->next_zombie;
        if (t->created) { /* children of t may be alive: the hold was added when t ended */
            if (ps_sub_acq_rel(&t->children, PS_CHILDREN_HELD) != PS_CHILDREN_HELD)
                continue;
            t->created = 0;
        }
        /* All children of t have ended, and this list has all zombies of t. No other thread adds to it any more. */
        struct psthread *z = ps_load_relaxed(&t->zombies), *next;
        ps_store_relaxed(&t->zombies, NULL);
        for (; z; z = next) {
            next = z->next_zombie;
            if (!zombie_is_done_with(z))
                continue;
            z->next_zombie = todo;
            todo = z;
        }
        if (!(t->flags & (PS_T_REUSED | PS_T_ROOT)))
            descriptor_put(&vp_run(vp)->descriptors, t);
    }
}

/* A parent sweeps its zombies when it has made as many children as the last sweep left zombies, and PS_SWEEP_EACH more.
 * So all sweeps together look at no more than two zombies for each creation. A thread that joins a zombie need not tell
 * the parent, whose descriptor may be freed already. `created` must not overflow between two sweeps. So two limits
 * hold, which a program hardly reaches before its memory ends: SWEEP_LAST_MOST bounds the zombies counted towards the
 * next sweep, CHILDREN_MAX the children alive at once. */
#define SWEEP_LAST_MOST (UINT32_MAX / 4)
#define CHILDREN_MAX (UINT32_MAX / 2)

void children_sweep(struct vp *vp, struct psthread *t, enum children_unjoined unjoined)
{
    uint32_t kept = 0;
    struct psthread *z = ps_xchg_acq_rel(&t->zombies, NULL), *first = NULL, *last = NULL;
    while (z) {
        struct psthread *next = z->next_zombie;
        if (unjoined == PS_UNJOINED_FREE || ps_load_acquire(&z->join) == PS_JOIN_JOINED ||
            (unjoined == PS_UNJOINED_ORPHAN && zombie_is_done_with(z))) {
            children_give_up(vp, z);
        } else if (unjoined == PS_UNJOINED_KEEP) {
            kept++;
            if (last)
                last->next_zombie = z;
            else
                first = z;
            last = z;
        }
        z = next;
    }
    if (last) { /* the zombies that stay go back into the list, in one step */
        last->next_zombie = ps_load_relaxed(&t->zombies);
        while (!ps_cas_release(&t->zombies, &last->next_zombie, first))
            continue;
    }
    t->sweep_in = (kept < SWEEP_LAST_MOST ? kept : SWEEP_LAST_MOST) + PS_SWEEP_EACH;
}

/* Subtracts t's children that have ended from `created`, and adds them to `children`. The sum of both stays the
 * same. */
static void fold_children(struct psthread *t)
{
    int64_t ended = -ps_load_relaxed(&t->children);
    if (ended <= 0)
        return;
    t->created -= (uint32_t)ended;
    ps_add_acq_rel(&t->children, ended);
}

PS_NOINLINE bool children_look_after(struct vp *vp, struct psthread *parent)
{
    fold_children(parent);
    children_sweep(vp, parent, PS_UNJOINED_KEEP);
    return parent->created < CHILDREN_MAX;
}

void children_wait(struct psthread *self)
{
    int64_t created = (int64_t)self->created;
    self->created = 0;
    if (ps_add_acq_rel(&self->children, created) + created != 0)
        ps_block(self, PS_WAIT_CHILDREN, self);
}

void children_wait_and_sweep(struct psthread *self)
{
    children_wait(self);
    ps_race_acquire(self);
    if (ps_load_relaxed(&self->zombies))
        children_sweep(ps_vp(), self, PS_UNJOINED_FREE);
}

PS_NOINLINE void children_last_child_ended(struct vp *vp, struct psthread *p)
{
    if (ps_load_relaxed(&p->state) == PS_ENDED) { /* p has taken its hold back already, so this thread frees p */
        p->created = 0;
        children_give_up(vp, p);
    } else {
        ps_ready(p, PS_FRONT);
    }
}
