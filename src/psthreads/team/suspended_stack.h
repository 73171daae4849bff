/* A kernel thread runs on the stack of a suspended thread for a while, so that signal handlers run there. It runs
 * below the saved context; or, if the thread has called another thread on its stack, in an area at the far end of
 * the stack (thread_signal.h).
 *
 * Caller: the kernel thread that carries vp, on its stack run.uth. All signals are blocked, and are blocked again
 * when the call returns. The functions call meanwhile(vp) on the other stack. They return false, and do nothing, if
 * there is no room. The ucontext port does not tell where a saved context ends, so there is never room. */
#ifndef PS_SUSPENDED_STACK_H
#define PS_SUSPENDED_STACK_H

#include <stdbool.h>

struct uth;
struct vp;

/* Calls meanwhile(vp) below the saved context of u, which the caller visits (uth_visit). */
bool suspended_stack_run_saved(struct vp *vp, struct uth *u, void (*meanwhile)(struct vp *vp));
/* Calls meanwhile(vp) in an area at the far end of u's stack. A thread that u's thread has called uses the rest of this
 * stack. */
bool suspended_stack_run_called(struct vp *vp, struct uth *u, void (*meanwhile)(struct vp *vp));

#endif
