/* The emergency pool: memory for what a program cannot go on without, when malloc has none left.
 *
 * A program that meets the limit of its address space (RLIMIT_AS) can often go on with less: teams shrink, tasks run at
 * once. But a region of one thread, a task or a taskgroup needs a block all the same. malloc may also fail for a thread
 * that has no arena of its own, although other arenas have free memory. The pool is a megabyte in the library's data
 * segment; it costs no memory until it is touched.
 *
 * Does: gives and takes back blocks of any size, in units of a cache line. A block takes the first free place that is
 * long enough. The core and the ABIs use the pool when the C library's functions have failed. Does not: grow, or move
 * blocks. Adjacent blocks that have been given back are one free place.
 * Callers: any thread, on any stack.
 * Shared, under a spin lock: `used` has a bit for each unit. `last` has the bit of each block's last unit set, which
 * gives the block's length. No unit below `lowest` is free. `left` is the number of free units.
 * Fork: blocks that were taken stay taken in the child. A block that another thread is taking at that moment is lost in
 * the child.
 * Failures: NULL if no place is long enough, or if less than `keep` would be left. Cost: a lock and a scan, only when
 * malloc has failed; ort_mem_free: a comparison.
 * Rejected: cells of one size (regions took all of them, and a task needs a twentieth of what a region needs); the C
 * library's other arenas (no interface reaches them). */
#ifndef ORT_EMERGENCY_POOL_H
#define ORT_EMERGENCY_POOL_H

#include <stdbool.h>
#include <stddef.h>

#ifndef ORT_EMERGENCY_BYTES /* a target with little memory defines a smaller size when it is built */
#define ORT_EMERGENCY_BYTES (1024 * 1024)
#endif
#define ORT_EMERGENCY_UNIT 64 /* bytes in a unit, and the alignment of every block */

/* How many bytes must stay free. Tasks leave ORT_EMERGENCY_KEEP_TASK bytes to all other users. The other users leave
 * ORT_EMERGENCY_KEEP bytes to regions, which leave none: regions are fewest, and a program without them cannot go
 * on. */
#define ORT_EMERGENCY_KEEP_TASK (ORT_EMERGENCY_BYTES / 2)
#define ORT_EMERGENCY_KEEP (ORT_EMERGENCY_BYTES / 4)

/* Returns a block of `bytes` bytes, not zeroed. Returns NULL if fewer than `keep` bytes would then be free, or if no
 * free place is long enough. */
void *ort_emergency_pool_take(size_t bytes, size_t keep);
/* If p is a block of the pool, gives it back and returns true. Otherwise returns false. */
bool ort_emergency_pool_give(void *p);
void ort_emergency_pool_after_fork_in_child(void);

/* ort_mem_get, ort_mem_zeroed and ort_mem_aligned return memory of the C library. If the C library has none, they
 * return a block of the emergency pool, as long as ORT_EMERGENCY_KEEP bytes stay free there. NULL: there is no
 * memory. */
void *ort_mem_get(size_t bytes);
void *ort_mem_zeroed(size_t bytes);
void *ort_mem_aligned(size_t align, size_t bytes); /* uses the pool only if align <= ORT_EMERGENCY_UNIT */
void ort_mem_free(void *p);                        /* p is from one of these functions, or from malloc */

#endif
