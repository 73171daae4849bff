/* Memory for a region or a task where the system has none left.
 *
 * A program that meets the limit of its address space (RLIMIT_AS) may go on with less: teams shrink, tasks run at once. But a region of one thread and a
 * task that must exist need a block all the same, and the C library may have none for a thread without an arena of its own, though there is memory
 * in others. These few cells lie in the library's data; untouched, they cost no memory.
 *
 * Does: give and take back cells of ORT_RESERVE_CELL bytes, aligned to a cache line. Does not: grow, or try the C library first (the caller has).
 * Callers: any thread. Shared: `taken`, a bit a cell; set with acquire by who takes, cleared with release by who gives back.
 * Failures: NULL, where all are taken or `most` cells are. Cost: a read-modify-write each way. */
#ifndef ORT_RESERVE_H
#define ORT_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

#define ORT_RESERVE_CELL 4096
#define ORT_RESERVE_CELLS 64

/* A cell with at least `bytes`, unless `most` are taken already; its contents are anything. */
void *ort_reserve_take(size_t bytes, unsigned most);
/* True: p was a cell, and is free again. False: it is not ours. */
bool ort_reserve_give(void *p);

#endif
