/* Descriptors of threads: how a vp gets one, and where it puts a free one.
 *
 * The vp that makes a thread takes a free descriptor from its magazine (magazine.h). If the magazine is empty, the vp
 * refills it from the depot that all vps share. If the depot is empty too, the vp carves a descriptor from its slab, a
 * large piece of memory. The vp that reaps a thread puts the descriptor into its own magazine (psthreads-2009 section
 * 2.3). The two vps need not be the same. Only psthread_finalize gives the slabs back to the system.
 *
 * Callers: the kernel thread that carries the vp to which `d` belongs.
 * Cost: some loads and stores; more if the magazine is empty or full. */
#ifndef PS_DESCRIPTOR_H
#define PS_DESCRIPTOR_H

#include "thread.h"

#define PS_DESCRIPTOR_BATCH 64

/* A vp's free descriptors. Only the kernel thread that carries the vp reads or writes them. */
struct ps_descriptors {
    struct ps_magazine magazine;
    /* The slab's first byte that is not carved yet, and the number of bytes from there to the slab's end. */
    char *slab;
    size_t slab_left;
};

/* Called when the magazine is empty. Fills it with descriptors from the depot that all vps share, and returns one; if
 * the depot is empty, carves a descriptor from a slab. Returns NULL if the system has no memory. */
struct psthread *descriptor_from_elsewhere(struct ps_descriptors *d);
/* Called when the magazine is full. Moves PS_DESCRIPTOR_BATCH descriptors to the depot. */
void descriptor_spill(struct ps_descriptors *d);

static inline struct psthread *descriptor_pop(struct ps_descriptors *d)
{
    return PS_CONTAINER_OF(ps_magazine_pop(&d->magazine), struct psthread, piece);
}

/* Returns a descriptor for a new thread, or NULL if the system has no memory. */
static PS_ALWAYS_INLINE struct psthread *descriptor_new(struct ps_descriptors *d)
{
    return PS_LIKELY(d->magazine.free != NULL) ? descriptor_pop(d) : descriptor_from_elsewhere(d);
}

/* Puts the descriptor of a thread that was reaped, or was never submitted, into the magazine. */
static PS_ALWAYS_INLINE void descriptor_put(struct ps_descriptors *d, struct psthread *t)
{
    ps_store_relaxed(&t->state, PS_FREE);
    if (ps_magazine_push(&d->magazine, &t->piece, PS_DESCRIPTOR_BATCH))
        descriptor_spill(d);
}

#endif
