/* What a board without an operating system provides: its cores in clusters, each cluster's memory, a clock.
 *
 * A board is a folder beside this file with a header "board_port.h" and a linker script. The header defines, inline:
 *   board_clusters(), board_cores()        number of clusters; cores of each
 *   board_cluster(), board_core()          the calling core's cluster, and its number there
 *   board_memory(c, &first, &bytes)        the part of cluster c's memory that is free for blocks; zero
 *   board_main_memory(&first, &bytes)      the same of the memory that all clusters share
 *   board_global(p, c)                     the address, for any core, of what is at p in cluster c's BOARD_LOCAL data
 *   board_global_base(c), BOARD_CLUSTER_BYTES   first address of cluster c's memory for any core; its size
 *   board_cluster_of(p)                    the cluster that has p in its memory; 0 if none has
 *   BOARD_LOCAL                            of a variable: each cluster has a copy, and &variable is the caller's
 *   BOARD_LOCAL_ZEROS                      the same of a variable without an initial value, which is zero at the start
 *   board_region(name)                     names what the core does from here on, for the board's trace
 *   BOARD_CLUSTERS_MAX, BOARD_CORES_MAX    at most 64 and 16
 *   board_now_ns()                         nanoseconds since some moment, the same for all cores
 *   board_in_order()                       whether memory is sequentially consistent without fences; if not, the
 *                                          deques of tasks never become unfenced (lockfree/deque.h)
 * Any core may call them. The board's own start gives every core a stack and thread-local storage. On core 0 of cluster
 * 0 it calls the constructors and then main, on all others mc_main_others() (src/ee/manycore). */
#ifndef PS_OS_BOARD_H
#define PS_OS_BOARD_H

#include "board_port.h"
#include "compiler.h"

/* Returns a block of the caller's cluster's memory, or of main memory if that of the cluster is full; NULL if both are
 * full. Thread-safe. A block's address is a multiple of BOARD_BLOCK_UNIT. */
#define BOARD_BLOCK_UNIT 16u
void *board_block(size_t bytes);
void *board_block_only(unsigned cluster, size_t bytes); /* only of that cluster's memory; NULL if it is full */
void *board_block_aligned(size_t align, size_t bytes);
void board_block_free(void *p);
/* malloc and its relatives over board_block, under names with a prefix: the runtime's rooms are compiled to call
 * these. */
void *board_malloc(size_t bytes);
void board_free(void *p);
void *board_aligned_alloc(size_t align, size_t bytes);
int board_posix_memalign(void **out, size_t align, size_t bytes);
void *board_calloc(size_t n, size_t each);
void *board_realloc(void *p, size_t bytes);
/* Returns how many bytes cluster c's blocks have now; *most gets the highest number so far. */
size_t board_block_bytes(unsigned cluster, size_t *most);

#endif
