/* Detects that no thread can go on, and reports it once. See deadlock.c. */
#ifndef PS_DEADLOCK_H
#define PS_DEADLOCK_H

#include "compiler.h"

struct vp;

/* Called by vp, which has parked, has found nothing and is about to sleep. looks: how often it has looked since it
 * parked. Returns for how many ns it may sleep before it looks again; negative: for ever. */
int64_t deadlock_look(struct vp *vp, unsigned looks);

/* Ends the process by exit(0), on a kernel thread made for this; if the system refuses it, on the calling one. Called
 * when no thread is left that could do anything. */
void ps_end_process(void);

#endif
