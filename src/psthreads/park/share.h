/* Processes of one user share the processors: this process's part in it.
 *
 * The processes find each other through a file (data/share_table.h). Each publishes how many processors it could use
 * now, reads what the others publish, and computes its own allowance (data/share_policy.h). The allowance is a second
 * limit beside the system's: vps above it are offline (quota_park.h).
 *
 * All of this is the watchdog's. It takes the process's slot when its kernel thread begins. The kernel frees the slot
 * when that kernel thread ends: with the process, at exec, at a crash. A child of fork takes
 * a slot of its own when its watchdog begins.
 *   alone    the process is the only one: there is no limit, and the watchdog sleeps until another one comes
 *   others   the watchdog looks every SHARE_TICK_NS, or SHARE_REST_NS where at most one processor is wanted
 * What is wanted: vps that run something, and ready threads and members that wait for one. It grows at once, and
 * shrinks when it has been less for SHARE_HOLD_NS. A process that uses no processor time wants none. A root that opens
 * a region while less is wanted than there are vps says so itself (share_open), and wakes all watchdogs.
 * The own allowance is computed as if this process wanted all its vps: what it lends is for the others to take, and a
 * region begins with its full part at once.
 *
 * Cost: nothing where the process is alone, nor for a region that finds nothing lent: share_open is called where a look
 * at the quota is due (quota_park_remind), and lending makes it due. With others: some microseconds a tick.
 * Failures: a file that is not as expected is left alone with one line; the process runs as without.
 * Limits: roots beyond the first are not sent offline. A cgroup's quota limits each process, not their sum. */
#ifndef PS_SHARE_H
#define PS_SHARE_H

#include "atomic.h"

#include <stdint.h>

#define SHARE_TICK_NS INT64_C(2000000)
#define SHARE_REST_NS INT64_C(10000000)
#define SHARE_HOLD_NS UINT64_C(4000000)

/* Reads PSTHREADS_SHARE. Caller: the start of the library. */
void share_configure(void);
/* The watchdog has no kernel thread, so the process has no slot. Callers: its end, and a forked child. */
void share_forget(void);

/* Takes a slot if there is none, publishes, and applies the allowance. Returns the time until the next look;
 * OS_FOREVER: there is no other process. share_park sleeps so long at most, on `word` as long as that is 0, and until a
 * process has changed something since the last look. Caller: the watchdog. */
int64_t share_look(void);
void share_park(_Atomic uint32_t *word, int64_t ns);

/* Gives the slot back. Caller: the watchdog's kernel thread, as it ends. */
void share_leave(void);

/* A region of n members is opened, and a look was due. Caller: a root. */
void share_open(unsigned n);

#endif
