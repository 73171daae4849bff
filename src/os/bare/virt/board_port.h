/* The board of QEMU's `virt` machine (RV32, up to 16 harts): one cluster, one core for each hart, one memory for all.
 * See ../board.h and start.S.
 *
 * The cluster's memory for blocks is a part of the only memory. All cores share all addresses, so board_global(p, c) is
 * p. */
#ifndef PS_OS_BOARD_PORT_H
#define PS_OS_BOARD_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOARD_CLUSTERS_MAX 2 /* there is one cluster; but GCC warns of arrays of one as uninitialised */
#define BOARD_CORES_MAX 16
#define BOARD_LOCAL
#define BOARD_LOCAL_ZEROS
#define BOARD_CLUSTER_BYTES 0x80000000u

#define VIRT_MEMORY 0x80000000u
#define VIRT_CLINT 0x02000000u /* a word for each hart's software interrupt; at + 0xbff8 the clock of 10 MHz */
#define VIRT_CLUSTER_SHARE 8   /* one eighth of the free memory is the cluster's */

extern char __end[];              /* virt.ld: end of the program with its stacks */
extern unsigned virt_harts;       /* boot.c: from the device tree */
extern uintptr_t virt_memory_end; /* boot.c: from the device tree */

static inline unsigned board_clusters(void) { return 1; }
static inline unsigned board_cores(void) { return virt_harts; }
static inline unsigned board_cluster(void) { return 0; }
static inline unsigned board_core(void)
{
    unsigned hart;
    __asm__ volatile("csrr %0, mhartid" : "=r"(hart));
    return hart;
}
static inline void *board_global_base(unsigned cluster)
{
    (void)cluster;
    return (void *)(uintptr_t)VIRT_MEMORY; // NOLINT(performance-no-int-to-ptr)
}
static inline void *board_global(void *p, unsigned cluster)
{
    (void)cluster;
    return p;
}
static inline unsigned board_cluster_of(const void *p)
{
    (void)p;
    return 0;
}

static inline size_t virt_cluster_bytes(void)
{
    return (virt_memory_end - (uintptr_t)__end) / VIRT_CLUSTER_SHARE & ~(size_t)15;
}
static inline void board_memory(unsigned cluster, char **first, size_t *bytes)
{
    (void)cluster;
    *first = __end;
    *bytes = virt_cluster_bytes();
}
static inline void board_main_memory(char **first, size_t *bytes)
{
    *first = __end + virt_cluster_bytes();
    *bytes = virt_memory_end - (uintptr_t)*first;
}

static inline uint64_t board_now_ns(void)
{
    const volatile uint32_t *clock = (const volatile uint32_t *)(uintptr_t)(VIRT_CLINT + 0xbff8);
    uint32_t high, low;
    do {
        high = clock[1];
        low = clock[0];
    } while (high != clock[1]);
    return ((uint64_t)high << 32 | low) * 100;
}
/* false: harts have store buffers. */
static inline bool board_in_order(void) { return false; }

#endif
