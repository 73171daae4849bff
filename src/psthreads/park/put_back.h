/* A vp gives up work that it has taken and cannot run now. */
#ifndef PS_PUT_BACK_H
#define PS_PUT_BACK_H

#include "run.h"
#include "work.h"

/* Gives up w, which vp has taken. A thread goes to the back of vp's queue, since other threads in the queue may have
 * stacks already, and should run first; a thread that is bound to vp goes into vp's pinned slot. A claimed member
 * becomes a ready thread. A request to go offline is refused. */
void vp_put_back(struct vp *vp, struct ps_work w);
/* Gives up t, which vp has taken and cannot run, in general because t's context is not saved yet. t goes to the back of
 * the queue of `to`. If t is bound to vp, it goes back into vp's pinned slot, from which vp took it. Example: a root's
 * own stack comes back from a dedicated member's kernel thread, which may not have left the stack yet (dedicated.h). */
void vp_hand_back(struct vp *vp, struct psthread *t, struct vp *to);

#endif
