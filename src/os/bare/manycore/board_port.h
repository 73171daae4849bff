/* The board of the virtual manycore (platform, docs/manycore.md). See ../board.h. */
#ifndef PS_OS_BOARD_PORT_H
#define PS_OS_BOARD_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <manycore.h>

#define BOARD_CLUSTERS_MAX 64
#define BOARD_CORES_MAX 16
#define BOARD_LOCAL MC_LOCAL
#define BOARD_LOCAL_ZEROS MC_LOCAL_ZEROS
#define BOARD_CLUSTER_BYTES MC_CLUSTER_STRIDE

/* From manycore.ld: the end of the program's data in each TCDM, and the size of a core's stack. */
extern char __tcdm0_end[], __tcdm1_end[], __tcdm2_end[], __tcdm3_end[], __local_end[], __main_end[], __stack_size[];

static inline unsigned board_clusters(void) { return mc_clusters(); }
static inline unsigned board_cores(void) { return mc_cores(); }
static inline unsigned board_cluster(void) { return mc_cluster(); }
static inline unsigned board_core(void) { return mc_core(); }
static inline void *board_global_base(unsigned cluster) { return mc_tcdm(cluster); }
static inline void *board_global(void *p, unsigned cluster) { return mc_global(p, cluster); }

static inline void board_region(const char *name) { mc_region(name); }

static inline unsigned board_cluster_of(const void *p)
{
    uintptr_t at = (uintptr_t)p;
    if (at - MC_OWN < MC_CLUSTER_STRIDE)
        return mc_cluster();
    unsigned cluster = (unsigned)((at - MC_CLUSTER_BASE) / MC_CLUSTER_STRIDE);
    return cluster < BOARD_CLUSTERS_MAX && at >= MC_CLUSTER_BASE ? cluster : 0;
}

static inline uint64_t board_now_ns(void) { return mc_cycles64(); } /* one cycle is one nanosecond */
static inline bool board_in_order(void) { return true; }

static inline void board_memory(unsigned cluster, char **first, size_t *bytes)
{
    char *const ends[] = {__tcdm0_end, __tcdm1_end, __tcdm2_end, __tcdm3_end};
    char *base = mc_tcdm(cluster);
    *first = cluster < 4 ? ends[cluster] : base + ((uintptr_t)__local_end - MC_OWN);
    char *limit = base + mc_tcdm_size() - mc_cores() * (uintptr_t)__stack_size;
    *bytes = limit > *first ? (size_t)(limit - *first) : 0;
}

static inline void board_main_memory(char **first, size_t *bytes)
{
    *first = __main_end;
    *bytes = (size_t)(0x80000000u + mc_memory_size() - 65536 - (uintptr_t)__main_end); /* the arguments are above */
}

#endif
