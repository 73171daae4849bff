/* move.h on the virtual platform. Each cluster has an arena of the same size; a piece is a run of its bytes. Pieces are
 * taken by many and given back all together in practice: an arena is empty again when its last piece is given back.
 *
 * Slots of the synchroniser: MOVE_SLOT and the one behind it, which the runtime leaves alone. A mark is a transfer of a
 * word onto itself that signals the core: transfers of a cluster happen in order. */
#include "move.h"

#include "manycore.h"

#include <string.h>

enum { ARENA = 112 << 10, MOVE_SLOT = 13 };

struct arena {
    uint32_t mark[MOVE_CHANNELS], pad[16 - MOVE_CHANNELS];
    char bytes[ARENA];
};
MC_LOCAL static struct arena arena __attribute__((aligned(64)));
MC_LOCAL static volatile uint32_t lock;
MC_LOCAL static uint32_t used, pieces;

static unsigned cluster_of(const void *p) { return ((uintptr_t)p - MC_CLUSTER_BASE) / MC_CLUSTER_STRIDE; }

/* Whether the own cluster's DMA reaches it. */
static int is_own(const void *p)
{
    return ((uintptr_t)p >= MC_OWN && (uintptr_t)p < MC_OWN + MC_CLUSTER_STRIDE) || cluster_of(p) == mc_cluster();
}

/* Four loads are under way one after the other in any case; words only. */
static void copy(void *to, const void *from, uint32_t bytes, uint32_t rows, uint32_t to_stride, uint32_t from_stride)
{
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t *t = (uint32_t *)((char *)to + r * to_stride);
        const uint32_t *f = (const uint32_t *)((const char *)from + r * from_stride);
        for (uint32_t i = 0; i < bytes / 4; i++)
            t[i] = f[i];
    }
}

void move_in(void *near, const void *far, uint32_t bytes, uint32_t rows, uint32_t near_stride, uint32_t far_stride)
{
    if (is_own(near))
        mc_dma_2d(near, far, bytes, rows, near_stride, far_stride, MC_NO_SLOT);
    else
        copy(near, far, bytes, rows, near_stride, far_stride);
}

void move_out(void *far, const void *near, uint32_t bytes, uint32_t rows, uint32_t far_stride, uint32_t near_stride)
{
    if (is_own(near))
        mc_dma_2d(far, near, bytes, rows, far_stride, near_stride, MC_NO_SLOT);
    else
        copy(far, near, bytes, rows, far_stride, near_stride);
}

void move_mark(unsigned channel) { mc_dma(&arena.mark[channel], &arena.mark[channel], 4, MOVE_SLOT + channel); }
void move_wait(unsigned channel) { mc_dma_wait(MOVE_SLOT + channel); }

void *move_take(uint32_t bytes, unsigned remote)
{
    bytes = (bytes + 63) & ~63u;
    for (unsigned k = remote; k < mc_clusters() + remote; k++) {
        unsigned cluster = (mc_cluster() + k) % mc_clusters();
        volatile uint32_t *its_lock = mc_global((void *)&lock, cluster);
        uint32_t *its_used = mc_global(&used, cluster), *its_pieces = mc_global(&pieces, cluster);
        void *piece = NULL;
        mc_lock(its_lock);
        if (bytes <= ARENA - *its_used) {
            piece = ((struct arena *)mc_global(&arena, cluster))->bytes + *its_used;
            *its_used += bytes;
            ++*its_pieces;
        }
        mc_unlock(its_lock);
        if (piece)
            return piece;
    }
    return NULL;
}

void move_give(void *piece)
{
    unsigned cluster = cluster_of(piece);
    volatile uint32_t *its_lock = mc_global((void *)&lock, cluster);
    uint32_t *its_used = mc_global(&used, cluster), *its_pieces = mc_global(&pieces, cluster);
    mc_lock(its_lock);
    if (--*its_pieces == 0)
        *its_used = 0;
    mc_unlock(its_lock);
}

uint32_t move_room(void) { return ARENA; }
uint64_t move_time(void) { return mc_cycles64(); }
uint32_t move_ticks(void) { return mc_cycles(); }
unsigned move_clusters(void) { return mc_clusters(); }
unsigned move_cores(void) { return mc_cores(); }
