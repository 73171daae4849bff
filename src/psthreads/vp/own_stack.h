/* A stack of its own: a member with a kernel thread P of its own (dedicated.h, DEDICATED) has a stack U there for good.
 *
 * From its next region on the member begins on P, by a call on U, whichever thread begins it. So a region costs one
 * hand-over to P. Between regions P waits on U, in the loop below. The block (uth_tls.own_stack) has U from region to
 * region, and with a larger team.
 *
 * A collector of garbage registers a thread once, with the bounds of its stack, and later looks at all between the
 * stack pointer of the thread's signal handler and the stack's bottom. So a member that asks for the bounds
 * (pthread_getattr_np of itself) must stay on the stack on which it runs: it is promoted, and that stack becomes U. The
 * member, and every handler on P, is on U from then on.
 *
 * States of a block; the member writes own_stack on P, P reads it. Any thread makes it DEDICATED:
 *   NONE    !alone                 The member runs on any stack.
 *   NEXT    alone, !own_stack      In this region it still runs on any stack, perhaps on P. In its next one P gets U
 *                                  and begins the loop on it (own_stack_begin). So it is where the member has asked on
 *                                  a stack that is not only its own.
 *   FIRST   own_stack, !run.on_own The member runs on U, above a vp's loop. That frame has no state, and is not gone
 *                                  back to: when the member has ended, P begins its own loop there
 *                                  (own_stack_await_next), above it.
 *   LOOP    own_stack, run.on_own  P's loop is on U; the member, when it runs, is a call of that loop.
 * NONE -> NEXT by dedicate, NEXT -> FIRST by ps_keep_stack; NEXT -> LOOP, FIRST -> LOOP at the next beginning, at the
 * end. LOOP ends with P, which puts U back (own_stack_give_back). In a forked child there is NONE. Where there is no
 * memory for U the member begins on the stack of another vp's loop, which goes to P.
 *
 * Model: tests/models/own_stack.pml.
 *
 * The member begins as a thread (ps_team_enqueue_late) that is pinned to P: m->thread without a stack
 * (ps_pin_dedicated; dedicated.h has the proof that no wake-up is lost). No other thread pins something to P then. The
 * parent does so at the fork (fork_each in team.c) from the second region on; in the first one a vp does that has
 * claimed the member, and tells the team (PS_FORKS_ALONE).
 * The member has ended, and the last thing that P does for that is to count it out, or to make itself its assistant. A
 * thread with a stack that is pinned to P is one that goes on. This thread is the member, which waits for that itself,
 * in a call of the loop. Or it is a member that the first one had called on U, and that comes back from a kernel thread
 * of its own. P stands on its native stack then, where dedicated_main continues it.
 *
 * A vp that has claimed such a member runs nothing of it and may go on with the next. So the vp needs a reference to
 * the team while the member may end (ps_team_refer).
 *
 * Signals: in the loop P is in the block, on U, and no other enters the block while the member lives. So P hears
 * (thread_signal.h).
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
 * Cost: P's stack. A region, as long as P spins, some transfers of cache lines; else two switches of the kernel's. A
 * region whose parent may call no member: two switches of user level, two entries of a queue (0.13 us flat, 0.2 us
 * nested, four members).
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
    return vp_is(vp, VP_DEDICATED) && vp_run(vp)->dedicated_to->own_stack == vp_run(vp)->uth;
}
/* The same, FIRST. */
static inline bool own_stack_begins(const struct vp *vp) { return own_stack_is(vp) && !vp_run(vp)->on_own; }
/* P, if the thread whose block this is begins there; else NULL. A NULL may be old: then it moves when it enters the
 * block (ps_dedicate_again). */
static inline struct vp *own_stack_vp(const struct uth_tls *block)
{
    return block ? (struct vp *)ps_load_acquire(&block->dedicated) : NULL;
}
/* P, on its native stack: t begins on a stack that it keeps, which it has not had so far. Returns when P comes back
 * from there. */
void own_stack_begin(struct vp *vp, struct psthread *t);
/* P, on U, in the block, runs there whatever is posted, until it ends. */
PS_NORETURN void own_stack_await_next(struct vp *vp);
/* P has ended; block's stack goes to the cache of its vp. */
void own_stack_give_back(struct uth_tls *block, struct vp *vp);

#endif
