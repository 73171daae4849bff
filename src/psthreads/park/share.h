/* Processes of one user share the processors of the machine. These functions are what one process does for that.
 *
 * The processes find each other through a file (data/share_table.h). Each publishes how many processors it could use
 * now, reads what the others publish, and computes its own allowance (data/share_policy.h). The allowance is a second
 * limit besides the system's: vps above it are offline (quota_park.h).
 *
 * The watchdog does all of this. It takes a slot in the file when its kernel thread begins. When that kernel thread
 * ends (with the process, at exec, in a crash), the kernel marks the slot as free. A child of fork takes a slot of its
 * own when its watchdog begins.
 *   alone    The process is the only one in the file. The watchdog looks every SHARE_FOREIGN_NS, for programs that do
 *            not share (share_foreign.h). Without these the process has no second limit.
 *   others   The watchdog looks every SHARE_TICK_NS, or every SHARE_REST_NS if the process wants at most one processor.
 * Programs that do not share are one more process in the division, of weight 1.
 *
 * A process wants as many processors as it has vps that run something, and ready threads and members that wait for a
 * vp, but no more than the system allows. The number grows at once. It shrinks when it has been less for SHARE_HOLD_NS.
 * A process that uses next to no processor time wants none. If a process wants fewer processors than it has vps, a root
 * that opens a region says itself that more are wanted (share_open), and wakes all watchdogs. Each process computes its
 * own allowance as if it wanted all its vps. So the others take what it lends, but its next region begins with its full
 * part at once.
 *
 * Cost of a region: nothing while the process lends nothing. share_open is called only when a look at the quota is due
 * (quota_park_remind), and lending makes one due. Cost of a tick with other processes: some microseconds. Failures: if
 * the file is not as expected, the process says so in one line, and runs as without sharing. Limits: roots never go
 * offline, so a process with several roots may run more kernel threads than its part. A cgroup's quota limits what
 * each process wants, not their sum. */
#ifndef PS_SHARE_H
#define PS_SHARE_H

#include "atomic.h"

#include <stdint.h>

#define SHARE_TICK_NS INT64_C(2000000)
#define SHARE_REST_NS INT64_C(10000000)
#define SHARE_HOLD_NS UINT64_C(4000000)

/* Reads PSTHREADS_SHARE. Called when the library starts. */
void share_configure(void);
/* Forgets the slot, because the watchdog that held it has no kernel thread any more. Called when the watchdog has
 * ended, and in a forked child. */
void share_forget(void);

/* Both functions are called by the watchdog. share_look takes a slot if the process has none, publishes what is wanted,
 * and applies the allowance. Returns the time in ns until the next look; OS_FOREVER: this process does not share.
 * share_park sleeps while *word is 0 and no process has announced a change since the last look, for ns at most. */
int64_t share_look(void);
void share_park(_Atomic uint32_t *word, int64_t ns);

/* Gives the slot back. Called by the watchdog's kernel thread when it ends. */
void share_leave(void);

/* Called by a root that opens a region of n members, if a look was due. If the process lends processors that the region
 * could use, says so in the slot. */
void share_open(unsigned n);

#endif
