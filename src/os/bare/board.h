/* What a board without an operating system gives: its cores in clusters, the memory of each, and how a core sleeps.
 *
 * A board is a folder beside this file with a header "board_port.h" and a linker script. The header gives, inline:
 *   board_clusters(), board_cores()        clusters; cores of each
 *   board_cluster(), board_core()          the calling core's cluster, and its number there
 *   board_memory(c, &first, &bytes)        what cluster c's memory has left for blocks beside data and stacks
 *   board_main_memory(&first, &bytes)      the same of the memory that all share
 *   board_global(p, c)                     where others find what stands at p in cluster c's copy of BOARD_LOCAL data
 *   board_global_base(c), BOARD_CLUSTER_BYTES   the addresses of cluster c's memory
 *   board_cluster_of(p)                    the cluster whose memory p is in; 0 where it is in none's
 *   BOARD_LOCAL                            of a variable: each cluster has a copy, whose own one is &variable
 *   board_region(name)                     what the core is at from here on, for the board's trace
 *   BOARD_CLUSTERS_MAX, BOARD_CORES_MAX    at most 64 and 16
 *   board_now_ns()                         nanoseconds since some moment, the same for all cores
 *   board_in_order()                       whether memory is sequentially consistent of itself; if not, a
 *                                          deque of tasks has one more fence in each operation
 * Any core may call them. The board's own start gives every core a stack and thread-local storage, calls the
 * constructors on core 0 of cluster 0 and then main there, and mc_main_others() (src/ee/manycore) on all others. */
#ifndef PS_OS_BOARD_H
#define PS_OS_BOARD_H

#include "board_port.h"
#include "compiler.h"

/* Blocks of a cluster's own memory, or of main memory where that is full; NULL: main memory is full, too. Thread-safe.
 * Blocks begin at multiples of the unit. */
#define BOARD_BLOCK_UNIT 16u
void *board_block(size_t bytes);
void *board_block_only(unsigned cluster, size_t bytes); /* of that cluster's memory or none */
void *board_block_aligned(size_t align, size_t bytes);
void board_block_free(void *p);
/* The same functions under the names of the C library's: the runtime's rooms are built to call them instead. */
void *board_malloc(size_t bytes);
void board_free(void *p);
void *board_aligned_alloc(size_t align, size_t bytes);
int board_posix_memalign(void **out, size_t align, size_t bytes);
void *board_calloc(size_t n, size_t each);
void *board_realloc(void *p, size_t bytes);
/* Bytes of blocks in cluster c now, and at most so far. */
size_t board_block_bytes(unsigned cluster, size_t *most);

#endif
