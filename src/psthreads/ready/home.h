/* A root leaves its kernel thread, and comes home.
 *
 * A root is a thread on a stack that the library did not make. Its kernel thread is its *home*. Home also runs members
 * of the root's regions while the root waits. A member that computes, spins or blocks there would keep a ready root
 * waiting. So such a root is *released*: any vp may go on with it, in the root's own storage, as with a member.
 *
 * Storage. Each root has a block R (vp_home.block), which adopts its kernel thread's own storage (uth_tls_adopt). The
 * root runs in R wherever it is. Home's loop, which runs between threads, has the same storage at first. Before the
 * first release it gets one of its own: run.own_tp becomes that of E (vp_home.empty), once and for good. From then on R
 * is the root's alone.
 *
 * States of a root's context (uth.vp says whose it is):
 *   AT HOME   uth.vp == home; ready: in home's pinned slot, which home alone takes from
 *   AWAY      uth.vp == NULL; ready: in a queue, as any thread; it runs on any vp, home among these.
 *             Or uth.vp == P, its own kernel thread (dedicated.h). The root has needed P while away, or P took its
 *             block while a member stood above it (thread_signal.h).
 * AT HOME -> AWAY  home_release: the caller takes the root out of the pinned slot by exchange, so that nobody else has
 *                  it. If home's storage is free (below) it clears uth.vp and enqueues the root; else it pins it again.
 * AWAY -> AT HOME  home_come, by the root itself: at the end of its outermost region, and where its kernel thread ends.
 *                  It binds its context to home, pins it there, and its carrier goes on with something else.
 *
 * One user of R at a time. Home's storage is free if home is in the block of a member, or in E. Home writes run.tls and
 * then reads run.own_tp, when it leaves a block (vp_leave_tls_here); it changes the thread pointer and then writes
 * run.tls, when it enters one. The releaser writes run.own_tp, fences for all kernel threads (os_fence_all), then reads
 * run.tls. So if it reads a block there, home goes to E from that block. If it reads none, home may have read the old
 * run.own_tp, and nothing is released until home goes to E from its loop (home_settle). The carrier enters R when the
 * context is saved (uth.running), as for any thread.
 *
 * Home is free when the root comes: with several roots a home runs what belongs to its own root's regions alone
 * (home_is_aside), and all of that has ended at the end of the outermost region. Threads of psthread_create run on any
 * home; a root that ends waits for that which runs on its home. Home wakes up as for any pinned thread (idle.h). Home
 * may be the vp that goes on with the root. Then it still is unpinned, and comes home in the same way.
 *
 * What the kernel keeps by kernel thread. While away the root is known by home's number: calls by number, and what is
 * told by name, go there (calls/state.c). A root that sets its mask or its alternate stack, or asks for what else the
 * kernel keeps for a thread, gets a kernel thread of its own, as a member does. Mask and alternate stack are noted as
 * the root sets them, and go with it: to that kernel thread (home_equip), and home. So do processors, which are home's.
 * Limits: what else it sets there stays behind. A signal that the root blocks stays pending at home where it has come
 * there. A clock that is asked for away goes on from home's, and back at home without what was used away. A root that
 * has asked for it is carried alone: at once where it runs at home, else from the next region on. Without blocks
 * (PSTHREADS_TLS=never, ports without them, sanitizers) a root stays at home, and waits until its holder leaves. So
 * does one that is carried alone (lone_root.h): nothing else holds its home.
 *
 * tests/models/root_release.pml. Papers: none of them moves a root.
 * Rejected: to interrupt what runs at home, and to move that (it may stand in any code, with any lock). To go home
 * before the region's end, where the kernel's state is asked for: the holder may spin for the root. */
#ifndef PS_HOME_H
#define PS_HOME_H

#include "atomic.h"
#include "parts.h"
#include "run.h"
#include "runtime.h"
#include "tls.h"

#include <signal.h>
#include <stdbool.h>

/* R; NULL: vp is no root's, or there are no blocks. */
static inline struct uth_tls *home_block(const struct vp *vp)
{
    struct uth_tls *own = vp_run(vp)->own_tls;
    return own && own->adopted ? own : NULL;
}
/* The home of the root that t is, or in whose regions it is a member. */
static inline struct vp *home_of(const struct psthread *root)
{
    while (root->flags & PS_T_MEMBER && root != ps_rt.forked_root)
        root = root->parent;
    if (PS_UNLIKELY(root == ps_rt.forked_root))
        return ps_rt.forked_home;
    struct vp_run *run = PS_CONTAINER_OF((struct psthread *)(uintptr_t)root, struct vp_run, root);
    return root->vp ? vp_home((struct vp *)(void *)run)->at : ps_vp_at(0); /* without: a forked child's (fork.c) */
}

/* vp's root has not been released so far, whatever is left in the slot of another root's, here or in the parent
 * process. */
void home_never_left(struct vp *vp);
/* vp's root gets R, where blocks are on and it has none. Caller: the root, at home, outside of regions. */
void home_begin(struct vp *vp);
/* It may be released from now on: E is made. Caller: the root, at home, as it opens a region. */
void home_prepare(struct vp *vp);
/* The root ends: wherever it waits from now on, it goes on at home. Caller: the root, at home. */
void home_stay(struct vp *vp);
/* The root ends, or its kernel thread is that of another thread from now on. Caller: the root, at home. */
void home_end(struct vp *vp);

/* vp's root, which is pinned and is kept waiting, may be run by any vp from now on. False: there is nothing pinned, or
 * it may not leave now. Any kernel thread. */
bool home_release(struct vp *vp);
/* No thread but the root is in R, nor will be, as long as the root's context is saved and claimed by the caller. */
bool home_storage_free(struct vp *vp);
/* Vp's loop, which has found no work: it goes to E where it is to be there. */
void home_settle(struct vp *vp);
/* Self, the running thread, stands on a root's stack and is the root. It is at home when this returns. [switches] */
void home_come(struct psthread *self);
/* The same for the running thread, if it is a root outside of regions and away. */
void home_come_outside(void);

/* The running thread, if it is a root, has set its alternate stack. */
void home_note(void);
/* P, the own kernel thread of a root that is away, is about to run the root: it gets what the root has. */
void home_equip(struct vp *vp);

/* R of the root whose kernel thread calls, at home; NULL: there is none. */
struct uth_tls *home_block_here(void);
/* The caller is a root that is away, not in a child of vfork's: the number of its home's kernel thread; else 0. */
int home_number(void);

/* Homes stand aside with several roots: what stands in a home's own queue, and what is pinned to it, is all that it
 * runs. A root that comes is counted, has its slot, and then looks at all roots' slots if it is not the only one; so of
 * two that come at once one sees the other. It has made nothing before. Called by the root. */
void home_stand_aside(void);
/* Whether vp, which stands aside, still is one of several. Caller: vp. */
bool home_stays_aside(struct vp *vp);
static inline bool home_is_aside(const struct vp *vp) { return vp_is(vp, VP_ASIDE); }

#endif
