/* A kernel thread runs on a suspended thread's stack for a while, so that handlers run there: below the saved context,
 * or in an area at the far end where the thread has called another one (thread_signal.h).
 *
 * Callers: the kernel thread that carries vp, on its stack run.uth; all signals are blocked, and are again when the
 * call returns. meanwhile(vp) runs there. False: there is no room, and nothing was done. Port ucontext does not tell
 * where a saved context ends, so there is never room. */
#ifndef PS_SUSPENDED_STACK_H
#define PS_SUSPENDED_STACK_H

#include <stdbool.h>

struct uth;
struct vp;

/* Below u's context, which is visited (uth_visit). */
bool suspended_stack_run_saved(struct vp *vp, struct uth *u, void (*meanwhile)(struct vp *vp));
/* In an area of u's stack, above which something goes on. */
bool suspended_stack_run_called(struct vp *vp, struct uth *u, void (*meanwhile)(struct vp *vp));

#endif
