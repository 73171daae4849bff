/* Free descriptors of threads, and the memory from which they are carved. See descriptor.h. */
#include "descriptor.h"

#include "os.h"

#define SLAB_BYTES ((size_t)256 * 1024)

/* The head of each slab, 32 bytes long. The descriptors follow it, so each of them begins at a multiple of 32 bytes.
 * This keeps the fields that are read while a thread is in a queue (link, kind, flags, uth) in one cache line. */
struct slab {
    _Alignas(32) struct slab *next;
};
_Static_assert(sizeof(struct psthread) % 32 == 0 && offsetof(struct psthread, vp) <= 32, "see there");
static _Atomic(struct slab *) slabs;

static struct ps_depot shared;

static struct psthread *descriptor_carve(struct ps_descriptors *d)
{
    struct psthread *t;
    if (d->slab_left < sizeof *t) {
        struct slab *slab = os_map(SLAB_BYTES);
        if (!slab)
            return NULL;
        slab->next = ps_load_relaxed(&slabs);
        while (!ps_cas_release(&slabs, &slab->next, slab))
            continue;
        d->slab = (char *)slab + sizeof *slab;
        d->slab_left = SLAB_BYTES - sizeof *slab;
    }
    t = (struct psthread *)(void *)d->slab;
    d->slab += sizeof *t;
    d->slab_left -= sizeof *t;
    return t;
}

PS_NOINLINE struct psthread *descriptor_from_elsewhere(struct ps_descriptors *d)
{
    if (ps_magazine_refill(&d->magazine, &shared, PS_DESCRIPTOR_BATCH))
        return descriptor_pop(d);
    return descriptor_carve(d);
}

PS_NOINLINE void descriptor_spill(struct ps_descriptors *d)
{
    ps_magazine_spill(&d->magazine, &shared, PS_DESCRIPTOR_BATCH);
}

void ps_descriptors_release_all(void)
{
    struct slab *slab = ps_xchg_acq_rel(&slabs, NULL);
    ps_depot_forget(&shared);
    while (slab) {
        struct slab *next = slab->next;
        os_unmap(slab, SLAB_BYTES);
        slab = next;
    }
}

void ps_descriptors_after_fork_in_child(void) { ps_depot_forget(&shared); }
