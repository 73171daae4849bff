/* Work that a vp has taken: what goes before it is run, and giving it up.
 *
 * Callers: the kernel thread that carries vp. */
#ifndef PS_PUT_BACK_H
#define PS_PUT_BACK_H

#include "run.h"
#include "work.h"

/* vp has taken w and gives it up: to the back, since others of the queue may have a stack. A claimed member becomes a
 * thread. */
void vp_put_back(struct vp *vp, struct ps_work w);
/* vp has taken t, but t's context is not saved yet: t goes to the queue of `to`. A thread that is bound to vp was
 * pinned there, and is pinned again. Example: a root's own stack comes back from a dedicated member's kernel thread,
 * which may not have left it yet (dedicated.h). */
void vp_hand_back(struct vp *vp, struct psthread *t, struct vp *to);

#endif
