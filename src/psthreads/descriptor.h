/* Descriptors of threads: where they come from, and where they go.
 *
 * The vp that makes a thread carves the descriptor from a slab; the vp that reaps it recycles the descriptor through
 * its magazine (psthreads-2009 section 2.3; magazine.h). One vp may make what another one reaps. Memory goes back to
 * the system by psthread_finalize only.
 *
 * Callers: the kernel thread that carries vp. Failure: no memory, NULL. Cost: some loads and stores. */
#ifndef PS_DESCRIPTOR_H
#define PS_DESCRIPTOR_H

#include "thread.h"
#include "vp.h"

#define PS_DESCRIPTOR_BATCH 64

/* Where vp's magazine is empty. */
struct psthread *descriptor_from_elsewhere(struct vp *vp);
/* Where it is full. */
void descriptor_spill(struct vp *vp);

static inline struct psthread *descriptor_pop(struct vp *vp)
{
    return PS_CONTAINER_OF(ps_magazine_pop(&vp->threads), struct psthread, piece);
}

static PS_ALWAYS_INLINE struct psthread *descriptor_new(struct vp *vp)
{
    return PS_LIKELY(vp->threads.free != NULL) ? descriptor_pop(vp) : descriptor_from_elsewhere(vp);
}

static PS_ALWAYS_INLINE void descriptor_put(struct vp *vp, struct psthread *t)
{
    ps_store_relaxed(&t->state, PS_FREE);
    if (ps_magazine_push(&vp->threads, &t->piece, PS_DESCRIPTOR_BATCH))
        descriptor_spill(vp);
}

#endif
