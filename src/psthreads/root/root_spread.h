/* Roots that share a processor are moved to different ones.
 *
 * A root runs on its own kernel thread. A parent that runs all its members itself, because no vp takes them, never
 * sleeps. Two such roots may stand on one processor while another program has the next one; the system counts that as
 * balanced and leaves them there. The roots may wait for each other in the program's own spin loops (the ranks of a
 * thread-MPI between regions). Then each message takes a whole time slice. Kernel threads that sleep at each region's
 * end do not have this problem: the system places them anew at each wake-up. A root moves itself instead.
 *
 * Does: a root that opens an outermost region notes, now and then, its processor and the time. A look finds a *meeting*
 * if another root that opened a region lately was on the same processor, and the root had to wait for that processor.
 * After three meetings in a row the root moves to a processor of its mask without such a root. Does not: narrow the
 * mask (it is set to one processor and back, which moves the kernel thread); move what is bound to a place; do anything
 * if all processors have such roots.
 *
 * Caller: ps_per_region_work, on the root's own kernel thread, once in PS_PER_REGION_NS (4 us) at most, and only after
 * the first guest was made.
 * Shared fields of a vp: cpu, seen_at. The vp's own root writes, other roots read, all relaxed. A stale value costs a
 * needless move, at most one in 20 ms. Its own: look_at, waits, meetings.
 * Failures: if the mask cannot be read or set, the root stays where it is. Limit: a mask that another thread sets for
 * the root, between the two system calls of a move, is lost. Cost: a read of the cycle counter; each 2 ms a walk over
 * the roots, with a system call if one is met. Rejected: sched_yield at the region's end (the root that waits next
 * spins for a slice all the same); shorter slices (they end with the system's clock ticks, every 4 ms). */
#ifndef PS_ROOT_SPREAD_H
#define PS_ROOT_SPREAD_H

#include "os.h"
#include "parts.h"

struct vp;

/* now: cpu_cycles. */
void ps_root_spread_look(struct vp *vp, uint64_t now);

/* Returns the first processor of mask after `cpu`, going round, that is neither `cpu` nor in taken; -1: none. */
int ps_root_spread_pick(const struct os_cpuset *mask, const struct os_cpuset *taken, unsigned cpu);

#endif
