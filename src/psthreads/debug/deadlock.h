/* Sees that nothing can go on, and says so once. See deadlock.c. */
#ifndef PS_DEADLOCK_H
#define PS_DEADLOCK_H

#include "compiler.h"

struct vp;

/* vp has parked, found nothing, and is about to sleep. Returns for how many ns it may sleep before it looks again;
 * negative: for ever. */
int64_t deadlock_look(struct vp *vp, unsigned looks);

/* Ends the process by exit(0), from a kernel thread of its own: no thread is left that could do anything. */
void ps_end_process(void);

#endif
