/* Work that a vp has taken: what goes before it is run, and giving it up.
 *
 * Callers: the kernel thread that carries vp. */
#ifndef PS_TAKEN_H
#define PS_TAKEN_H

#include "run.h"
#include "work.h"

/* A signal for the process goes to any kernel thread that does not block it. Where threads have kernel threads of their
 * own (promote.h), with masks of their own, a worker that carries no thread is none that the program knows. Such a
 * worker is deaf: it blocks all signals, from its search on until code of the program's is about to run on it. The work
 * that it takes may run no code of the program's here. Such work is a member's context that comes home from its own
 * kernel thread and only ends, or a member that goes at once to a kernel thread of its own. Then the vp stays deaf, and
 * looks for its next work as such (vp_at_hand finds nothing). A function that runs the program's code after such work
 * calls vp_hear. */
static inline void vp_hear(struct vp *vp)
{
    if (!vp_run(vp)->is_deaf)
        return;
    vp_run(vp)->is_deaf = false;
    os_set_signal_mask(vp_run(vp)->deaf_mask);
}
/* vp is about to run w: hears, or stays deaf. */
void vp_hear_for(struct vp *vp, struct ps_work w);

/* vp has taken w and gives it up: to the back, since others of the queue may have a stack. A claimed member becomes a
 * thread. */
void vp_put_back(struct vp *vp, struct ps_work w);
/* vp has taken t, but t's context is not saved yet: t goes to the queue of `to`. A thread that is bound to vp was
 * pinned there, and is pinned again. Example: a root's own stack comes back from a promoted member's kernel thread,
 * which may not have left it yet (promote.h). */
void vp_hand_back(struct vp *vp, struct psthread *t, struct vp *to);

#endif
