/* A kernel thread stands on a thread's stack for a while, so that handlers run there: below the thread's saved context,
 * or in an area at the far end where the thread has called another one (directed.h, lone_root.h).
 *
 * Callers: the kernel thread that carries vp, on the stack `from`, which is run.uth; all signals are blocked, and are
 * again when the call returns. meanwhile(vp) runs there, with the mask *mask, or deaf as vp was; there is a point
 * (leave.h) meanwhile. *mask becomes what the caller is to restore. False: there is no room, and nothing was done. Port
 * sjlj and port ucontext do not tell where a saved context ends, so there is never room. */
#ifndef PS_STAND_BELOW_H
#define PS_STAND_BELOW_H

#include <stdbool.h>
#include <stdint.h>

struct uth;
struct vp;

/* Below u's context, which is visited (uth_visit). If a handler there is left by a jump, the context makes it. */
bool stand_below_saved(struct vp *vp, struct uth *from, struct uth *u, void (*meanwhile)(struct vp *vp),
                       uint64_t *mask);
/* In an area of u's stack, above which something goes on. */
bool stand_below_running(struct vp *vp, struct uth *from, struct uth *u, void (*meanwhile)(struct vp *vp),
                         uint64_t *mask);

#endif
