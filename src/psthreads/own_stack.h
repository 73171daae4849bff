/* A stack of its own: a member that has asked for the bounds of its stack keeps that stack for good.
 *
 * A collector of garbage registers a thread once, with the bounds of its stack, and later looks at all between the
 * stack pointer of the thread's signal handler and the stack's bottom. So the thread must stay on that stack: in each
 * later region, and between regions, where it handles signals as well.
 *
 * A member that asks (pthread_getattr_np of itself) is promoted (promote.h), and its kernel thread P keeps the stack U
 * on which the member runs. At the end of the region P does not leave U: it waits there, in the loop below, for the
 * member's next region, and calls the member there. So the member, and every handler on P, is on U from then on. The
 * block (uth_tls.own_stack, keeps_stack) has it from region to region, and with a larger team.
 *
 * States of a block with a kernel thread P of its own; the member writes them on P, P reads them. Others read
 * keeps_stack when they have claimed the member. They come behind the region in which it was written, by the team's
 * `left` and the claim:
 *   NONE    !keeps_stack           The member runs on any stack, as in promote.h.
 *   NEXT    keeps_stack, !own_stack
 *                                  It has asked on a stack that is not only its own. The member has one from its next
 *                                  region on: P gets one and begins the loop on it (own_stack_begin).
 *   FIRST   own_stack, !run.on_own The member runs on U, above a vp's loop. That frame has no state, and is not gone
 *                                  back to: when the member has ended, P begins its own loop there
 *                                  (own_stack_await_next), above it.
 *   LOOP    own_stack, run.on_own  P's loop is on U; the member, when it runs, is a call of that loop.
 * NONE -> NEXT or FIRST by ps_keep_stack; NEXT -> LOOP, FIRST -> LOOP at the next beginning, at the end. LOOP ends with
 * P, which puts U back (own_stack_give_back). In a forked child there is NONE.
 *
 * Model: tests/models/own_stack.pml.
 *
 * The member begins as a thread (ps_team_enqueue_late) that is pinned to P: m->thread without a stack, by pinned and
 * ps_wake_alone, for which promote.h has the proof that no wake-up is lost. No other thread pins something to P then.
 * The member has ended, and the last thing that P does for that is to count it out, or to make itself its assistant. A
 * thread with a stack that is pinned to P is one that goes on. This thread is the member, which waits for that itself,
 * in a call of the loop. Or it is a member that the first one had called on U, and that comes back from a kernel thread
 * of its own. P stands on its native stack then, where alone_main continues it.
 *
 * A vp that has claimed such a member runs nothing of it and may go on with the next. So the vp needs a reference to
 * the team while the member may end (ps_team_refer).
 *
 * Signals: in the loop P is in the block, on U, and no other enters the block while the member lives. So P hears
 * (directed.h).
 *
 * On whose stack a member asks for the first time. U must not have frames of others in it that are needed later. A
 * member that a vp's loop runs, or that is a thread, is such; one that its parent runs as a call on its own stack is
 * not. So parents call no members where one may ask (uth_tls_asks): the parent waits, and a loop runs the members on a
 * fresh stack.
 *   NOT    no member can ask: parents call members
 *   MAYBE  some object in the process wants pthread_getattr_np, or a thread that is no member has called it: parents
 *          call no members in the first 1000 regions of a team
 *   ASKS   a member has asked: parents call no members any more
 * So the member that is the first of all to ask, and stands on its parent's stack, keeps that only to the end of its
 * region (NEXT). Such a member has found the function by dlsym, or has loaded the object in that region, or its team
 * has had 1000 regions. Objects that want the function are loaded for other reasons than that members ask (Rust's, TBB,
 * librsvg): such a program is to be slower for a while only.
 *
 * Cost: a promoted member's region, two switches of the kernel's; its stack. A region whose parent may call no member:
 * two switches of user level, two entries of a queue (0.13 us flat, 0.2 us nested, four members).
 * Rejected: to answer with the bounds of another stack at once, and move there later: a collector may look at once. To
 * go on with the parent on another stack: it may have told its bounds as well. */
#ifndef PS_OWN_STACK_H
#define PS_OWN_STACK_H

#include "compiler.h"
#include "run.h"
#include "tls.h"

/* vp is P, on U. */
static inline bool own_stack_is(const struct vp *vp)
{
    return vp_is(vp, VP_ALONE) && vp_run(vp)->alone_for->own_stack == vp_run(vp)->uth;
}
/* The same, FIRST. */
static inline bool own_stack_begins(const struct vp *vp) { return own_stack_is(vp) && !vp_run(vp)->on_own; }
/* P, if the thread whose block this is begins there; else NULL. Between regions, or by the member's
 * claimer. */
static inline struct vp *own_stack_vp(const struct uth_tls *block)
{
    return block && block->keeps_stack ? (struct vp *)ps_load_acquire(&block->alone) : NULL;
}
/* P, on its native stack: t begins on a stack that it keeps, which it has not had so far. Returns when P comes back
 * from there. */
void own_stack_begin(struct vp *vp, struct psthread *t);
/* P, on U, in the block, runs there whatever is posted, until it ends. */
PS_NORETURN void own_stack_await_next(struct vp *vp);
/* P has ended; block's stack goes to the cache of its vp. */
void own_stack_give_back(struct uth_tls *block, struct vp *vp);

#endif
