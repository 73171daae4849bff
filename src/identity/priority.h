/* Roots whose kernel thread has another nice value or scheduling policy than the pool.
 *
 * A kernel thread begins with the nice value and policy of the kernel thread that starts it. The pool (workers, spares,
 * the watchdog) begins with those of the program's first thread that uses the library, and keeps them. Another root may
 * differ: a thread that is to run in the background, or in real time. Members of such a root's outermost regions begin
 * with the root's nice value and policy, as kernel threads that it starts would (VP_STARTS). Before the region begins,
 * the root's kernel thread starts a dedicated kernel thread for each member (dedicated.h). These kernel threads stay
 * with the members' blocks, so the members of a later region run on the same ones. What the root sets after its first
 * region does not change them, as with a pool of kernel threads. Members of inner regions have what the pool has.
 *
 * While a root's priority differs from the pool's, no member runs on the root's kernel thread (VP_OTHER_PRIORITY). Such
 * a root starts no kernel threads of the pool, which would begin with its priority: it asks the watchdog to start them
 * (watchdog_ask), and does not wait. A dedicated thread does the same, because it may have set its own processors. So
 * the watchdog must exist before a thread becomes dedicated, and before a thread of the program's, other than the
 * initial one, first changes its own nice value or policy. Where there is no watchdog, the caller starts the kernel
 * threads.
 *
 * Cost: two system calls when a root attaches; one load and a branch a region. */
#ifndef PS_PRIORITY_H
#define PS_PRIORITY_H

#include "parts.h"

#include <stdbool.h>
#include <stdint.h>

struct vp;

/* Called when a root attaches, by its kernel thread. The first root decides what the pool has. */
void priority_attach(struct vp *vp);
/* Called by a kernel thread, which may not be known to the library yet, before it changes its own priority. Starts the
 * library and its watchdog, so that they begin with the present priority. Does nothing on the initial thread, and where
 * the library knows the caller. */
void priority_before_change(void);
/* Called by a kernel thread that has changed its own priority, or may have. */
void priority_changed(void);
/* Called in a forked child: forgets the pool's nice value and policy. */
void priority_reset(void);

#endif
