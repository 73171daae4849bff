/* A root leaves its kernel thread, and comes home.
 *
 * A root is a thread on a stack that the library did not make. Its kernel thread is its *home*. Home also runs members
 * of the root's regions while the root waits. A member that computes, spins or blocks there would keep a ready root
 * waiting. So such a root is *released*: any vp may go on with it, in the root's own storage, as with a member.
 *
 * Storage. Each root has a block R (vp_home.block), which adopts its kernel thread's own storage (uth_tls_adopt). The
 * root runs in R wherever it is. Home's loop runs in R at first. Before the first release it gets a storage E
 * (vp_home.empty) of its own, once and for good (run.own_tp). From then on R is the root's only.
 *
 * States of a root's context (uth.vp says whose it is):
 *   AT HOME   uth.vp == home; ready: in home's pinned slot, which only home takes from
 *   AWAY      uth.vp == NULL; ready: in a queue, as any thread; it runs on any vp, home among these.
 *             Or uth.vp is its dedicated kernel thread's (dedicated.h, thread_signal.h).
 * AT HOME -> AWAY  home_release; AWAY -> AT HOME  home_come, by the root itself: at the end of its outermost region,
 * and where its kernel thread ends.
 *
 * Invariant: one user of R at a time. Home's storage is free if home is in the block of a member, or in E. While away
 * the root is known by home's number. A root that sets its mask or its alternate stack, or asks for what else the
 * kernel keeps for a thread, gets a dedicated kernel thread. Mask, alternate stack and processors go with it and home.
 * Limits: other state that it sets there stays behind. Without blocks (PSTHREADS_TLS=never, ports without them,
 * sanitizers) a root stays at home, and so does a lone root (lone_root.h). Papers: none of them moves a root.
 * Transitions, orderings, limits, rejected: tests/models/root_release.md and .pml. */
#ifndef PS_HOME_H
#define PS_HOME_H

#include "atomic.h"
#include "parts.h"
#include "run.h"
#include "runtime.h"
#include "tls.h"

#include <signal.h>
#include <stdbool.h>

/* Returns R; NULL: vp is no root's, or there are no blocks. */
static inline struct uth_tls *home_block(const struct vp *vp)
{
    struct uth_tls *own = vp_run(vp)->own_tls;
    return own && own->adopted ? own : NULL;
}
/* Returns the home of `root`. Of a member: the home of the root in whose regions it is. */
static inline struct vp *home_of(const struct psthread *root)
{
    while (root->flags & PS_T_MEMBER && root != ps_rt.forked_root)
        root = root->parent;
    if (PS_UNLIKELY(root == ps_rt.forked_root))
        return ps_rt.forked_home;
    struct vp_run *run = PS_CONTAINER_OF((struct psthread *)(uintptr_t)root, struct vp_run, root);
    return root->vp ? vp_home((struct vp *)(void *)run)->at : ps_vp_at(0); /* without: a forked child's (fork.c) */
}

/* Resets what the slot says of releases: vp's root has not been released yet, but another root may have used the slot,
 * here or in the parent process. */
void home_never_left(struct vp *vp);
/* Gives vp's root R, where blocks are on and it has none. Caller: the root, at home, outside of regions. */
void home_begin(struct vp *vp);
/* Lets home be in E from now on, where the system refuses membarrier: a releaser could not make the fence that it
 * needs. Caller: the root, at home. */
void home_vacate_early(struct vp *vp);
/* Makes E, so that the root may be released from now on. Caller: the root, at home, as it opens a region. */
void home_prepare(struct vp *vp);
/* Called by a root that ends, at home: wherever it waits from now on, it goes on at home. */
void home_stay(struct vp *vp);
/* Called by a root at home that ends, or whose kernel thread is that of another thread from now on. */
void home_end(struct vp *vp);

/* Releases vp's root, which is pinned and kept waiting: any vp may run it from now on. False: nothing is pinned, or the
 * root may not leave now. Any kernel thread. */
bool home_release(struct vp *vp);
/* Whether no thread but the root is in R. It stays so as long as the root's context is saved and claimed by the
 * caller. */
bool home_storage_free(struct vp *vp);
/* Lets vp's loop, which has found no work, go to E where it is to be there. */
void home_settle(struct vp *vp);
/* Brings self home: the running thread, a root on its own stack. [switches] */
void home_come(struct psthread *self);
/* Brings the running thread home, if it is a root outside of regions and away. */
void home_come_outside(void);

/* Notes that the running thread, if it is a root, has set its alternate stack. */
void home_note(void);
/* Gives the dedicated kernel thread of a root that is away, and is about to run there, what the root has. */
void home_equip(struct vp *vp);

/* Returns R of the root whose kernel thread calls, at home; NULL: there is none. */
struct uth_tls *home_block_here(void);
/* Returns the number of the home's kernel thread if the caller is a root that is away, and not in a child of vfork's;
 * else 0. */
int home_number(void);

/* Lets the homes of all roots stand aside where there are several. Such a home runs only what is in its own queue, what
 * is pinned to it, and its own root's entries in places' queues.
 * The caller is a new root, which is counted, and whose vp is in the table; it has made no thread and opened no region.
 * It marks the vps of all roots, so of two roots that come at once one sees the other. Only under a layer that opens
 * regions (homes_stand_aside). */
void home_stand_aside(void);
/* Whether vp, which stands aside, still is one of several. Caller: vp. */
bool home_stays_aside(struct vp *vp);
static inline bool home_is_aside(const struct vp *vp) { return vp_is(vp, VP_ASIDE); }

#endif
