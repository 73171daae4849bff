/* The stack that a DEDICATED member (dedicated.h) keeps on its kernel thread from region to region.
 *
 * From its next region on the member begins on its dedicated kernel thread, by a call on that stack, whichever thread
 * begins it. So a region costs one hand-over to the kernel thread, which waits on the same stack between regions. The
 * stack belongs to the block (uth_tls.own_stack): also between regions, and after a larger team has taken the block
 * over.
 *
 * A collector of garbage registers a thread once, with the bounds of its stack, and later looks at all between the
 * stack pointer of the thread's signal handler and the stack's bottom. So a member that asks for the bounds
 * (pthread_getattr_np of itself) must stay on the stack on which it runs: it is dedicated, and keeps that stack. The
 * member, and every handler on its kernel thread, is on it from then on.
 *
 *   NONE    !dedicated                 The member runs on any stack.
 *   NEXT    dedicated, !own_stack      Any stack in this region; in the next one it gets a stack that it keeps.
 *   FIRST   own_stack, !run.on_own     The member runs on the stack that it keeps, above a vp's loop.
 *   LOOP    own_stack, run.on_own      The kernel thread's loop is on that stack, and calls the member.
 *
 * Invariants: Only one thread is pinned to the kernel thread at a time. The stack has no frames of others that are
 * needed later, so parents call no members where one may ask (uth_tls_asks). Cost: the kernel thread's stack. A region
 * costs some transfers of cache lines while the kernel thread spins, else two switches of the kernel's. A region whose
 * parent may call no member costs two switches of user level and two entries of a queue (0.13 us flat, 0.2 us nested,
 * four members). Transitions, proof and rejected designs: tests/models/own_stack.md; model: own_stack.pml. */
#ifndef PS_OWN_STACK_H
#define PS_OWN_STACK_H

#include "compiler.h"
#include "run.h"
#include "tls.h"

/* Whether vp's kernel thread is dedicated, and on the stack that its member keeps. */
static inline bool own_stack_is(const struct vp *vp)
{
    return vp_is(vp, VP_DEDICATED) && vp_run(vp)->dedicated_to->own_stack == vp_run(vp)->uth;
}
/* Whether that is so, in state FIRST. */
static inline bool own_stack_begins(const struct vp *vp) { return own_stack_is(vp) && !vp_run(vp)->on_own; }
/* The dedicated vp on which the thread of this block begins, or NULL. A NULL may be out of date: then the thread moves
 * when it enters the block (ps_dedicate_again). */
static inline struct vp *own_stack_vp(const struct uth_tls *block)
{
    return block ? (struct vp *)ps_load_acquire(&block->dedicated) : NULL;
}
/* vp, on its native stack: begins t on a stack that t keeps from now on. Returns when vp comes back from that stack. */
void own_stack_begin(struct vp *vp, struct psthread *t);
/* Runs what is posted for vp, on that stack, in the block, until vp ends. */
PS_NORETURN void own_stack_await_next(struct vp *vp);
/* Gives block's stack to the cache of vp, which has ended. */
void own_stack_give_back(struct uth_tls *block, struct vp *vp);

#endif
