/* Moves roots that share a processor to different ones.
 *
 * A root runs on its own kernel thread. A parent that runs all its members itself, because no vp takes them, never
 * sleeps. Two such roots may be on one processor while another program has the next one. The system counts that as
 * balanced and leaves them there. The roots may wait for each other in spin loops of the program (the ranks of a
 * thread-MPI between regions). Then each message takes a whole time slice. Kernel threads that sleep at each
 * region's end do not have this problem, since the system chooses a processor at each wake-up. Here a root moves
 * itself instead.
 *
 * Does: a root that opens an outermost region notes its processor and the time, now and then. It looks for a
 * *meeting*: another root opened a region lately on the same processor, and this root had to wait for the processor.
 * After three meetings in a row it moves to a processor of its mask without such a root. To move, it sets its mask to
 * that one processor, and back.
 * Does not: narrow the mask for longer; move a root that is bound to a place; move if all processors have such roots.
 *
 * Caller: ps_per_region_work, on the root's own kernel thread, at most once in PS_PER_REGION_NS (4 us), and only after
 * the first guest was made.
 * Shared fields of a vp: cpu, seen_at. The vp's own root writes them, other roots read, all relaxed. A stale value
 * costs a needless move, at most one in 20 ms. Its own fields: look_at, waits, meetings.
 * Failures: if the mask cannot be read or set, the root stays.
 * Limit: if another thread sets the root's mask between the two system calls of a move, that mask is lost.
 * Cost: a read of the cycle counter; each 2 ms a walk over the roots, with a system call after a meeting.
 * Rejected: sched_yield at the region's end (the next root spins for a slice all the same); shorter slices (they end
 * with the system's clock ticks, every 4 ms). */
#ifndef PS_ROOT_SPREAD_H
#define PS_ROOT_SPREAD_H

#include "os.h"
#include "parts.h"

struct vp;

/* Called by the root of vp when it opens an outermost region; `now` is cpu_cycles(). Notes on which processor the root
 * runs. If a look is due, looks for a meeting (see above); after several in a row, moves the root's kernel thread to
 * another processor. Does nothing if places are on, or if the running thread is not on a root's own stack. */
void ps_root_spread_look(struct vp *vp, uint64_t now);

/* Returns the first processor of mask, counted up from `cpu` and around, that is neither `cpu` nor in taken; -1:
 * there is none. */
int ps_root_spread_pick(const struct os_cpuset *mask, const struct os_cpuset *taken, unsigned cpu);

#endif
