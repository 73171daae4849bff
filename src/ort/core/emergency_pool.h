/* Memory for what a program cannot go on without, where the system has none left.
 *
 * A program that meets the limit of its address space (RLIMIT_AS) may go on with less: teams shrink, tasks run at once.
 * But a region of one thread, a task or a taskgroup needs a block all the same. The C library may have no memory for a
 * thread without an arena of its own, though other arenas have some. This megabyte lies in the library's data;
 * untouched, it costs no memory.
 *
 * Does: gives and takes back blocks of any size, in units of a cache line and aligned to one. A block takes the first
 * place that is long enough. The pool stands behind malloc and calloc for the core and the ABIs. Does not: grow, or
 * move anything together: blocks that lie side by side are one place again when they are free.
 * Callers: any thread, on any stack.
 * Shared, under a spin lock: `used`, a bit a unit. `last`, set for the last unit of each block, which tells its length.
 * `lowest`: no unit below it is free. `left`: the number of free units.
 * Fork: what was taken stays taken in the child; a block in the middle of being taken is lost there.
 * Failures: NULL, where no place is long enough or less than `keep` would be left. Cost: a lock and a scan, only where
 * malloc has failed; free: a comparison.
 * Rejected: cells of one size (regions took them all; a task is a twentieth of one), the C library's own other arenas
 * (no interface). */
#ifndef ORT_EMERGENCY_POOL_H
#define ORT_EMERGENCY_POOL_H

#include <stdbool.h>
#include <stddef.h>

#ifndef ORT_EMERGENCY_BYTES /* a target with little memory says when it is built how much of it this may be */
#define ORT_EMERGENCY_BYTES (1024 * 1024)
#endif
#define ORT_EMERGENCY_UNIT 64 /* bytes */

/* Tasks leave so much to others, and all others leave so much to regions: regions are fewest, and nothing can run in
 * their place. */
#define ORT_EMERGENCY_KEEP_TASK (ORT_EMERGENCY_BYTES / 2)
#define ORT_EMERGENCY_KEEP (ORT_EMERGENCY_BYTES / 4)

/* A block, if `keep` bytes are left after it; its contents are anything. */
void *ort_emergency_pool_take(size_t bytes, size_t keep);
/* True: p was a block, and is free again. False: it is not ours. */
bool ort_emergency_pool_give(void *p);
void ort_emergency_pool_after_fork_in_child(void);

/* Memory from the C library, or from the emergency pool where the C library has none (down to ORT_EMERGENCY_KEEP);
 * NULL: nor has the pool. */
void *ort_mem_get(size_t bytes);
void *ort_mem_zeroed(size_t bytes);
void *ort_mem_aligned(size_t align, size_t bytes); /* from the emergency pool with align up to ORT_EMERGENCY_UNIT */
void ort_mem_free(void *p);                        /* what one of these gave, or malloc */

#endif
