/* The stack that a DEDICATED member (dedicated.h) keeps on its kernel thread from region to region.
 *
 * In the first region after it became DEDICATED, the member is given this stack. From then on it begins by a call on
 * this stack, on its dedicated kernel thread, whichever thread begins it. So a region costs one hand-over to the
 * kernel thread, which waits on the same stack between regions. The stack belongs to the block (uth_tls.own_stack),
 * also between regions, and after a larger team has taken the block over.
 *
 * A garbage collector registers each thread once, with the bounds of its stack. Later it scans from the stack
 * pointer in the thread's signal handler to the bottom of that stack. So a member that asks for the bounds
 * (pthread_getattr_np of itself) must stay on its present stack: it becomes DEDICATED, and keeps that stack. The
 * member and every handler on its kernel thread run on it from then on.
 *
 *   NONE    !dedicated                 The member runs on any stack.
 *   NEXT    dedicated, !own_stack      Any stack in this region; in the next one it gets a stack that it keeps.
 *   FIRST   own_stack, !run.on_own     The member runs on the stack that it keeps, above a vp's loop.
 *   LOOP    own_stack, run.on_own      The kernel thread's loop is on that stack, and calls the member.
 *
 * Invariants: only one thread is pinned to the kernel thread at a time. Parents call no members in regions in which a
 * member may ask for bounds (uth_tls_asks). So a stack that a member keeps has no frame of another thread.
 * Cost: the kernel thread's stack; a region costs some transfers of cache lines while the kernel thread spins, else
 * two switches of the kernel's. A region whose parent may call no member costs two user-level switches and two queue
 * entries (0.13 us flat, 0.2 us nested, four members). Transitions, proof, rejected designs:
 * tests/models/own_stack.md; model: own_stack.pml. */
#ifndef PS_OWN_STACK_H
#define PS_OWN_STACK_H

#include "compiler.h"
#include "run.h"
#include "tls.h"

/* Returns true if vp is dedicated, and runs on the stack that its member keeps. */
static inline bool own_stack_is(const struct vp *vp)
{
    return vp_is(vp, VP_DEDICATED) && vp_run(vp)->dedicated_to->own_stack == vp_run(vp)->uth;
}
/* Returns true in state FIRST (the file's head has the states); own_stack_is does in FIRST and in LOOP. */
static inline bool own_stack_begins(const struct vp *vp) { return own_stack_is(vp) && !vp_run(vp)->on_own; }
/* Returns the dedicated vp on which the thread of this block begins; NULL: it begins on any vp. A NULL may be out of
 * date: then the thread moves when it enters the block (ps_dedicate_again). */
static inline struct vp *own_stack_vp(const struct uth_tls *block)
{
    return block ? (struct vp *)ps_load_acquire(&block->dedicated) : NULL;
}
/* Begins t on a stack that t keeps from now on. Caller: vp's kernel thread, on its native stack. Returns when vp
 * switches back from that stack. Without memory for a stack, puts t into another vp's queue. */
void own_stack_begin(struct vp *vp, struct psthread *t);
/* Calls each member that is pinned to vp, until vp is to end, or a thread with a stack of its own is pinned; then goes
 * back to the native stack. Caller: vp's kernel thread, on the stack that the member keeps, in its block. */
PS_NORETURN void own_stack_await_next(struct vp *vp);
/* Gives block's stack to the cache of vp, whose kernel thread has ended. */
void own_stack_give_back(struct uth_tls *block, struct vp *vp);

#endif
