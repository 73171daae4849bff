/* Openers of regions whose kernel thread has another nice value or scheduling policy than the pool.
 *
 * A kernel thread begins with the nice value and policy of the kernel thread that starts it. The pool (workers, spares,
 * the watchdog) begins with those of the program's first thread that uses the library, and keeps them. Another root may
 * differ: a thread that is to run in the background, or in real time. Members of such a root's outermost regions begin
 * with the root's, as kernel threads would (VP_STARTS). The root's kernel thread starts a dedicated kernel thread for
 * each member before the region begins (dedicated.h). They stay with the members' blocks, so the members of a later
 * region are the same kernel threads. What the root sets after its first region does not change them, as with a pool of
 * kernel threads. Members of inner regions have what the pool has.
 *
 * A root that differs, since it has attached or later, is dedicated to itself (VP_OTHER_PRIORITY): no member runs on
 * its kernel thread. Such a root starts no kernel threads of the pool: it asks the watchdog (watchdog_ask), and does
 * not wait. Nor does a dedicated thread, which may have set its own processors. So the watchdog is started before a
 * thread becomes dedicated, and before a thread of the program's, other than the initial one, first changes its own
 * nice value or policy. Where there is no watchdog, the caller starts the kernel threads.
 *
 * Cost: two system calls when a root attaches; one load and a branch a region. */
#ifndef PS_PRIORITY_H
#define PS_PRIORITY_H

#include "parts.h"

#include <stdbool.h>
#include <stdint.h>

struct vp;

/* A root attaches; the first root decides what the pool has. Caller: its kernel thread. */
void priority_attach(struct vp *vp);
/* Called when the calling kernel thread, which is none of the library's threads yet, is about to change its own
 * priority. */
void priority_before_change(void);
/* The calling kernel thread has changed its own. */
void priority_changed(void);
/* In a forked child. */
void priority_reset(void);

#endif
