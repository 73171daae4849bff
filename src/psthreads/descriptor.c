/* Descriptors of threads: see descriptor.h. */
#include "descriptor.h"

#include "os.h"
#include "spin.h"

#define SLAB_BYTES ((size_t)256 * 1024)

/* At the head of each slab. Descriptors begin behind it at multiples of 32 bytes: what is looked at of one in a queue
 * (its link, kind, flags, stack) lies in one cache line. */
struct slab {
    _Alignas(32) struct slab *next;
};
_Static_assert(sizeof(struct psthread) % 32 == 0 && offsetof(struct psthread, vp) <= 32, "see there");
static _Atomic(struct slab *) slabs;

/* Batches of free descriptors on their way from vps that reap to vps that make. The first of a batch holds the rest by
 * next_free, and the next batch by arg. Taken once for PS_DESCRIPTOR_BATCH descriptors at most. */
static struct {
    struct ps_spin lock;
    _Atomic(struct psthread *) first; /* written under the lock; a look without it is a hint */
} store;

static void store_put(struct psthread *first)
{
    ps_spin_lock(&store.lock);
    first->arg = ps_load_relaxed(&store.first);
    ps_store_relaxed(&store.first, first);
    ps_spin_unlock(&store.lock);
}

PS_NOINLINE void descriptor_put_batch_aside(struct vp *vp)
{
    if (vp->free_batch)
        store_put(vp->free_batch);
    vp->free_batch = vp->free_threads;
    vp->free_threads = NULL;
    vp->num_free = 0;
}

static bool store_take(struct vp *vp)
{
    if (!ps_load_relaxed(&store.first))
        return false;
    ps_spin_lock(&store.lock);
    struct psthread *first = ps_load_relaxed(&store.first);
    if (first)
        ps_store_relaxed(&store.first, first->arg);
    ps_spin_unlock(&store.lock);
    if (!first)
        return false;
    vp->free_threads = first;
    vp->num_free = PS_DESCRIPTOR_BATCH;
    return true;
}

static struct psthread *descriptor_carve(struct vp *vp)
{
    struct psthread *t;
    if (vp->slab_left < sizeof *t) {
        struct slab *slab = os_map(SLAB_BYTES);
        if (!slab)
            return NULL;
        slab->next = ps_load_relaxed(&slabs);
        while (!ps_cas_release(&slabs, &slab->next, slab))
            continue;
        vp->slab = (char *)slab + sizeof *slab;
        vp->slab_left = SLAB_BYTES - sizeof *slab;
    }
    t = (struct psthread *)(void *)vp->slab;
    vp->slab += sizeof *t;
    vp->slab_left -= sizeof *t;
    return t;
}

PS_NOINLINE struct psthread *descriptor_from_elsewhere(struct vp *vp)
{
    if (vp->free_batch) {
        vp->free_threads = vp->free_batch;
        vp->num_free = PS_DESCRIPTOR_BATCH;
        vp->free_batch = NULL;
    } else if (!store_take(vp)) {
        return descriptor_carve(vp);
    }
    return descriptor_pop(vp);
}

void ps_descriptors_release_all(void)
{
    struct slab *slab = ps_xchg_acq_rel(&slabs, NULL);
    ps_store_relaxed(&store.first, NULL);
    while (slab) {
        struct slab *next = slab->next;
        os_unmap(slab, SLAB_BYTES);
        slab = next;
    }
}

/* The forked child: who held the lock, if somebody did, is not there any more; what the store had is lost rather than
 * trusted. */
void ps_descriptors_after_fork_in_child(void)
{
    ps_spin_init(&store.lock);
    ps_store_relaxed(&store.first, NULL);
}
