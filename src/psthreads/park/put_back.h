/* Work that a vp has taken: what goes before it is run, and giving it up.
 *
 * Callers: the kernel thread that carries vp. */
#ifndef PS_PUT_BACK_H
#define PS_PUT_BACK_H

#include "run.h"
#include "work.h"

/* Gives up w, which vp has taken: to the back of its queue, since others in the queue may have a stack. A claimed
 * member becomes a thread. */
void vp_put_back(struct vp *vp, struct ps_work w);
/* Gives up t, which vp has taken but whose context is not saved yet: t goes to the queue of `to`. A thread that is
 * bound to vp was pinned there, and is pinned again. Example: a root's own stack comes back from a dedicated member's
 * kernel thread, which may not have left it yet (dedicated.h). */
void vp_hand_back(struct vp *vp, struct psthread *t, struct vp *to);

#endif
