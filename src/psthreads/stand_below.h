/* A kernel thread stands for a while on the stack of a thread that it does not run, so that a signal's handler runs
 * there (directed.h, lone_root.h).
 *
 * vp leaves the stack `from`, calls meanwhile(vp) on the other stack, and comes back. False: there is no room, and
 * nothing was done. Port sjlj and port ucontext do not tell where a saved context ends, so there is never room. The
 * caller holds u's context (uth_visit), or knows that what runs on u cannot go on meanwhile. */
#ifndef PS_STAND_BELOW_H
#define PS_STAND_BELOW_H

#include <stdbool.h>

struct uth;
struct vp;

/* Below u's saved context. */
bool stand_below_saved(struct vp *vp, struct uth *from, struct uth *u, void (*meanwhile)(struct vp *vp));
/* In an area of u's stack (src/uth/area.c), above which something goes on. */
bool stand_below_running(struct vp *vp, struct uth *from, struct uth *u, void (*meanwhile)(struct vp *vp));

#endif
