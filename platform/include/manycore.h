// The platform, as a program without any runtime sees it. For C and C++, RV32IMAFC; link with board/crt0.S,
// board/board.c and board/manycore.ld.
//
// Latencies are in cycles with the default parameters, alone on the platform; docs/manycore.md says how they come
// about. Every function may be
// called by every core. Wrong use (a core or cluster that does not exist, a misaligned transfer) ends the program with
// one line and exit status 70.
#ifndef MANYCORE_H
#define MANYCORE_H

#include <stddef.h>
#include <stdint.h>

// Where a variable stands. Without an attribute: constants in L2, everything else in cluster 0's TCDM.
#define MC_TCDM(cluster) __attribute__((section(".tcdm" #cluster))) // cluster 0 to 3
#define MC_LOCAL __attribute__((section(".local")))       // a copy in each cluster; &variable means the own cluster's
#define MC_LOCAL_ZEROS __attribute__((section(".zeros"))) // MC_LOCAL for what begins with zeros
#define MC_L2 __attribute__((section(".l2")))
#define MC_MAIN __attribute__((section(".main")))

#define MC_CLUSTER_BASE 0x10000000u
#define MC_CLUSTER_STRIDE 0x00400000u
#define MC_OWN 0x08000000u
#define MC_REG(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define MC_HWS(offset) MC_REG(MC_OWN + 0x200000u + (offset))
#define MC_DMA(offset) MC_REG(MC_OWN + 0x300000u + (offset))

#define MC_CSR_READ(number)                                             \
    __extension__({                                                     \
        uint32_t mc_value;                                              \
        __asm__ volatile("csrr %0, %1" : "=r"(mc_value) : "i"(number)); \
        mc_value;                                                       \
    })

// --- number and place of the core (1 cycle each)
static inline unsigned mc_cluster(void) { return MC_CSR_READ(0xfc0); }
static inline unsigned mc_core(void) { return MC_CSR_READ(0xfc1); } // in its cluster
static inline unsigned mc_id(void) { return MC_CSR_READ(0xf14); }   // among all
static inline unsigned mc_clusters(void) { return MC_REG(0x30000004); }
static inline unsigned mc_cores(void) { return MC_REG(0x30000008); }     // of a cluster
static inline uint32_t mc_tcdm_size(void) { return MC_REG(0x3000000c); } // bytes, as the next two
static inline uint32_t mc_l2_size(void) { return MC_REG(0x30000010); }
static inline uint32_t mc_memory_size(void) { return MC_REG(0x30000014); }
// The first byte of a cluster's TCDM, at the address that all cores know it by.
static inline void *mc_tcdm(unsigned cluster)
{
    return (void *)(uintptr_t)(MC_CLUSTER_BASE + cluster * MC_CLUSTER_STRIDE);
}
// The address by which other clusters know what stands at `own` in this cluster's copy of MC_LOCAL variables.
static inline void *mc_global(void *own, unsigned cluster)
{
    return (char *)mc_tcdm(cluster) + ((uintptr_t)own - MC_OWN);
}

// --- time: cycles since the start, instructions of this core (1 cycle; 64 bits: 3 and more)
static inline uint32_t mc_cycles(void) { return MC_CSR_READ(0xc00); }
static inline uint32_t mc_instructions(void) { return MC_CSR_READ(0xc02); }
static inline uint64_t mc_cycles64(void)
{
    uint32_t high, low;
    do {
        high = MC_CSR_READ(0xc80);
        low = MC_CSR_READ(0xc00);
    } while (high != MC_CSR_READ(0xc80));
    return (uint64_t)high << 32 | low;
}

// --- regions in the trace: `name` must live on (a literal); 0 ends the region (1 cycle)
static inline void mc_region(const char *name) { __asm__ volatile("csrw 0x7c1, %0" ::"r"(name)); }

// --- statistics of regions of the program, which have numbers from 0 to 63 (a call: 1 cycle, and 1 for the number).
// Where a region is begun, --stats and --stats-json have the regions instead of the whole run. A region counts what all
// cores and the whole platform do, from begin to end, whichever cores call these two. Begun again, it goes on counting.
// Regions may overlap; one that is open at the program's end ends there. Faults: another number, the end of a region
// that is not open, the begin of an open one.
static inline void mc_stats_begin(unsigned region)
{
    __asm__ volatile("csrw 0x7c2, %0" ::"r"(region << 2 | 1) : "memory");
}
static inline void mc_stats_end(unsigned region)
{
    __asm__ volatile("csrw 0x7c2, %0" ::"r"(region << 2 | 2) : "memory");
}
// Forgets what the region has counted; if it is open, it counts on from here.
static inline void mc_stats_reset(unsigned region)
{
    __asm__ volatile("csrw 0x7c2, %0" ::"r"(region << 2 | 3) : "memory");
}

// --- test-and-set: returns what stood in the TCDM word and sets it to 1, in one access (own cluster 2 cycles, another
// one 26 and more). A store of 0 to `word` releases. Acquires: later accesses of this core come later, since a core has
// one access at a time.
static inline uint32_t mc_test_and_set(volatile uint32_t *word)
{
    uint32_t old = *(volatile uint32_t *)((uintptr_t)word + 0x100000u);
    __asm__ volatile("" ::: "memory");
    return old;
}
static inline void mc_lock(volatile uint32_t *word)
{
    while (mc_test_and_set(word)) {
    }
}
static inline void mc_unlock(volatile uint32_t *word)
{
    __asm__ volatile("" ::: "memory");
    *word = 0;
}

// --- hardware synchroniser. Slots 0 to 15. A core that waits sleeps.
// Sleeps until any signal or word is pending; takes none.
static inline void mc_wfe(void) { __asm__ volatile("wfi" ::: "memory"); }
// Signals the cores of the own cluster in the mask: 1 cycle; a sleeper's next instruction comes 3 cycles after the
// store.
static inline void mc_hws_signal(uint32_t cores, unsigned slot)
{
    __asm__ volatile("" ::: "memory");
    MC_HWS(0x000 + slot * 4) = cores;
}
// The clusters that the core's next multicasts go to; 0: the own one. Stays until it is set anew.
static inline void mc_hws_clusters(uint64_t clusters)
{
    MC_HWS(0x284) = (uint32_t)clusters;
    MC_HWS(0x288) = (uint32_t)(clusters >> 32);
}
// Signals the same cores in each cluster of the mask; 9 cycles and 1 more a hop.
static inline void mc_hws_multicast(uint64_t clusters, uint32_t cores, unsigned slot)
{
    mc_hws_clusters(clusters);
    __asm__ volatile("" ::: "memory");
    MC_HWS(0x040 + slot * 4) = cores;
}
// Waits for a signal in the slot and takes it.
static inline void mc_hws_wait(unsigned slot)
{
    (void)MC_HWS(0x0c0 + slot * 4);
    __asm__ volatile("" ::: "memory");
}
// The cores that the next words go to (in mc_hws_clusters()).
static inline void mc_hws_targets(uint32_t cores) { MC_HWS(0x280) = cores; }
// Sends a word to each; four unread ones fit into a slot, a fifth is an error.
static inline void mc_hws_send(unsigned slot, uint32_t word)
{
    __asm__ volatile("" ::: "memory");
    MC_HWS(0x080 + slot * 4) = word;
}
// Waits for a word in the slot and takes it.
static inline uint32_t mc_hws_receive(unsigned slot)
{
    uint32_t word = MC_HWS(0x100 + slot * 4);
    __asm__ volatile("" ::: "memory");
    return word;
}
// Sleeps until a signal (bit slot) or word (bit 16 + slot) of the mask is pending; returns which, takes none.
static inline uint32_t mc_hws_wait_any(uint32_t mask)
{
    MC_HWS(0x294) = mask;
    return MC_HWS(0x290);
}
static inline uint32_t mc_hws_pending(void) { return MC_HWS(0x28c); }
// Gather: what the own cluster's slot waits for, and what follows.
#define MC_NOTIFY_CORE(core) (core) // signals one core of this cluster
#define MC_NOTIFY_ALL 0x100u        // signals every core of the masks, also in the clusters: a barrier
#define MC_NOTIFY_PARENT(cluster) (0x200u | (uint32_t)(cluster) << 16) // arrives in the same slot of another cluster
static inline void mc_hws_gather(unsigned slot, uint32_t cores, uint64_t clusters, uint32_t notify)
{
    MC_HWS(0x1c0 + slot * 4) = (uint32_t)clusters;
    MC_HWS(0x200 + slot * 4) = (uint32_t)(clusters >> 32);
    MC_HWS(0x240 + slot * 4) = notify;
    MC_HWS(0x180 + slot * 4) = cores;
}
// Arrives; does not wait. To arrive again before the gather is complete is an error.
static inline void mc_hws_arrive(unsigned slot)
{
    __asm__ volatile("" ::: "memory");
    MC_HWS(0x140 + slot * 4) = 0;
}
// Arrives and waits for the slot's signal: a barrier where the gather notifies all.
static inline void mc_hws_barrier(unsigned slot)
{
    mc_hws_arrive(slot);
    mc_hws_wait(slot);
}

// --- DMA: between the own cluster's TCDM and any memory. Multiples of 4 bytes. Transfers of a cluster happen in order;
// 16 may be queued, the store that starts a 17th waits. The slot (0 to 15) of the calling core is signalled at the end;
// MC_NO_SLOT: none.
#define MC_NO_SLOT 32u
static inline void mc_dma_2d(void *to, const void *from, uint32_t bytes, uint32_t rows, uint32_t to_stride,
                             uint32_t from_stride, unsigned slot)
{
    MC_DMA(0x00) = (uint32_t)(uintptr_t)from;
    MC_DMA(0x04) = (uint32_t)(uintptr_t)to;
    MC_DMA(0x08) = bytes;
    MC_DMA(0x0c) = rows;
    MC_DMA(0x10) = from_stride;
    MC_DMA(0x14) = to_stride;
    __asm__ volatile("" ::: "memory");
    MC_DMA(0x18) = slot;
}
static inline void mc_dma(void *to, const void *from, uint32_t bytes, unsigned slot)
{
    mc_dma_2d(to, from, bytes, 1, 0, 0, slot);
}
static inline uint32_t mc_dma_completed(void) { return MC_DMA(0x20); } // transfers of this cluster so far
static inline void mc_dma_wait(unsigned slot) { mc_hws_wait(slot); }

#endif
