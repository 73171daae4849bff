/* Descriptors of threads: where they come from, and where they go.
 *
 * They are carved from slabs by the vp that makes the thread and recycled through the list of the vp that reaps it
 * (psthreads-2009 section 2.3). A list that has grown to a batch is put aside whole, and is what the vp takes next when
 * its list is empty. One vp may make what another one reaps: so a batch that was put aside before goes to a shared
 * store, and a vp that has none left takes one from there before it carves. Memory goes back to the system by
 * psthread_finalize only.
 *
 * Callers: the kernel thread that carries vp. Failure: no memory, NULL. Cost: some loads and stores; the store's lock
 * twice for a batch at most. */
#ifndef PS_DESCRIPTOR_H
#define PS_DESCRIPTOR_H

#include "thread.h"
#include "vp.h"

#define PS_DESCRIPTOR_BATCH 64

/* Where vp's list is empty. */
struct psthread *descriptor_from_elsewhere(struct vp *vp);
/* vp's list is a batch. */
void descriptor_put_batch_aside(struct vp *vp);

static inline struct psthread *descriptor_pop(struct vp *vp)
{
    struct psthread *t = vp->free_threads;
    vp->free_threads = t->next_free;
    vp->num_free--;
    return t;
}

static PS_ALWAYS_INLINE struct psthread *descriptor_new(struct vp *vp)
{
    return PS_LIKELY(vp->free_threads != NULL) ? descriptor_pop(vp) : descriptor_from_elsewhere(vp);
}

static PS_ALWAYS_INLINE void descriptor_put(struct vp *vp, struct psthread *t)
{
    ps_store_relaxed(&t->state, PS_FREE);
    t->next_free = vp->free_threads;
    vp->free_threads = t;
    if (PS_UNLIKELY(++vp->num_free == PS_DESCRIPTOR_BATCH))
        descriptor_put_batch_aside(vp);
}

#endif
