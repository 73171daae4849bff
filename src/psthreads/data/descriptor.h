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

#define PS_DESCRIPTOR_BATCH 64

/* The descriptors that a vp has in stock; owner only. */
struct ps_descriptors {
    struct ps_magazine magazine;
    char *slab; /* what is left of the slab from which descriptors are carved */
    size_t slab_left;
};

/* When the magazine is empty: from the depot, or from a slab. */
struct psthread *descriptor_from_elsewhere(struct ps_descriptors *d);
/* When the magazine is full: a batch goes to the depot. */
void descriptor_spill(struct ps_descriptors *d);

static inline struct psthread *descriptor_pop(struct ps_descriptors *d)
{
    return PS_CONTAINER_OF(ps_magazine_pop(&d->magazine), struct psthread, piece);
}

static PS_ALWAYS_INLINE struct psthread *descriptor_new(struct ps_descriptors *d)
{
    return PS_LIKELY(d->magazine.free != NULL) ? descriptor_pop(d) : descriptor_from_elsewhere(d);
}

static PS_ALWAYS_INLINE void descriptor_put(struct ps_descriptors *d, struct psthread *t)
{
    ps_store_relaxed(&t->state, PS_FREE);
    if (ps_magazine_push(&d->magazine, &t->piece, PS_DESCRIPTOR_BATCH))
        descriptor_spill(d);
}

#endif
