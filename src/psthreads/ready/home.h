/* A root leaves its kernel thread, and comes home.
 *
 * A root is a thread on a stack that the library did not make. The root's own kernel thread, and the vp that this
 * kernel thread carries, are the root's *home*. While the root waits, its home also runs members of its regions. If
 * such a member computes, spins or blocks, it would keep a ready root waiting. Then the root is *released*: any vp may
 * go on with it, in the root's own storage.
 *
 * Storage. Each root has a block R (vp_home.block), which adopts its kernel thread's own storage (uth_tls_adopt). The
 * root runs in R wherever it is. Home's loop runs in R, too, at first. Before the first release the loop gets a storage
 * E of its own (vp_home.empty, run.own_tp) for good. From then on R belongs to the root alone.
 *
 * States of a root's context (uth.vp says which vp may resume it):
 *   AT HOME   uth.vp == home. When ready, it is in home's pinned slot, until home runs it or it is released.
 *   AWAY      uth.vp == NULL. When ready, it is in a queue like any thread, and any vp runs it, home too.
 *             Or uth.vp is the vp of the root's dedicated kernel thread (dedicated.h, thread_signal.h).
 * AT HOME -> AWAY: home_release. AWAY -> AT HOME: home_come, which the root itself calls, as a rule at the end of its
 * outermost region.
 *
 * Invariant: R has one user at a time. Home does not use R while it is in the block of a member, or in E. While a root
 * is away, it is still known by home's number. A root that sets its mask or its alternate stack while away, or asks for
 * other state that the kernel keeps for a thread, gets a dedicated kernel thread. Mask, alternate stack and processors
 * go there with it, and back home. Limits: other state that it sets there stays behind. A root without a block R
 * (PSTHREADS_TLS=never, some ports, sanitizers) and a lone root (lone_root.h) stay at home. More:
 * tests/models/root_release.md and .pml. */
#ifndef PS_HOME_H
#define PS_HOME_H

#include "atomic.h"
#include "parts.h"
#include "run.h"
#include "runtime.h"
#include "tls.h"

#include <signal.h>
#include <stdbool.h>

/* Returns the block (R above) of the root whose home vp is. NULL: vp is not a root's home, or threads have no
 * blocks. */
static inline struct uth_tls *home_block(const struct vp *vp)
{
    struct uth_tls *own = vp_run(vp)->own_tls;
    return own && own->adopted ? own : NULL;
}
/* Returns the home of `root`. If `root` is a member, returns the home of the root to whose regions the member
 * belongs. */
static inline struct vp *home_of(const struct psthread *root)
{
    while (root->flags & PS_T_MEMBER && root != ps_rt.forked_root)
        root = root->parent;
    if (PS_UNLIKELY(root == ps_rt.forked_root))
        return ps_rt.forked_home;
    struct vp_run *run = PS_CONTAINER_OF((struct psthread *)(uintptr_t)root, struct vp_run, root);
    /* root->vp is NULL in a forked child only (fork.c) */
    return root->vp ? vp_home((struct vp *)(void *)run)->at : ps_vp_at(0);
}

/* Resets the fields of a release: vp's root has not been released yet. Another root may have used the slot before, in
 * this process or in the parent process. */
void home_never_left(struct vp *vp);
/* Gives vp's root its block (R above), if threads have blocks and this root has none. Caller: the root, at home,
 * outside of regions. */
void home_begin(struct vp *vp);
/* If the system refuses membarrier, no other thread could make the fence that a release needs. So this function lets
 * home's loop use its own storage (E above) from now on, before any release. Caller: the root, at home. */
void home_vacate_early(struct vp *vp);
/* Makes the storage for home's loop (E above), so that the root may be released from now on. Called at home by the
 * root. */
void home_prepare(struct vp *vp);
/* Called at home by a root that ends: from now on the root is not released. So after each wait it goes on at home. */
void home_stay(struct vp *vp);
/* Called at home by a root that ends. Gives up the root's block (R above) and the loop's storage (E above). */
void home_end(struct vp *vp);

/* Releases vp's root, which is pinned to vp and kept waiting: from now on any vp may run it. False: nothing is pinned,
 * or the root may not leave now. Any kernel thread may call. */
bool home_release(struct vp *vp);
/* Returns true if home no longer uses the root's block (R above); then another vp may enter the block. Lets home's loop
 * use its own storage (E above) from now on, if it does not yet. The answer holds until home goes on with the root. */
bool home_storage_free(struct vp *vp);
/* Called by vp's loop, which has found no work. Moves the loop into its own storage (E above), if it is to use that and
 * is not there yet. */
void home_settle(struct vp *vp);
/* Brings the running thread home: self, a root on its own stack. [switches] */
void home_come(struct psthread *self);
/* If the running thread is a root that is away and outside of regions, brings it home. [switches] */
void home_come_outside(void);

/* Called when the running thread has set its alternate stack. If the thread is a root, notes that stack. */
void home_note(void);
/* Called by vp, the dedicated vp of a root that is away, when the root is about to run there. Gives vp's kernel thread
 * the root's signal mask, alternate stack and processors. */
void home_equip(struct vp *vp);

/* Returns the block (R above) of the root whose home the calling kernel thread is. NULL: it is no root's home. */
struct uth_tls *home_block_here(void);
/* If the caller is a root that is away, returns the number of its home's kernel thread. Otherwise, and in a child
 * between vfork and exec, returns 0. */
int home_number(void);

/* If there are several roots, lets the homes of all of them stand aside. Such a home runs only what is in its own
 * queue, what is pinned to it, and its own root's entries in places' queues. Caller: a new root that has been counted,
 * whose vp is in the table, and that has made no thread and opened no region. The function marks the vps of all roots.
 * Two roots may come at once: then at least one of them sees and marks both vps. Has no effect unless a layer above
 * opens regions (homes_stand_aside). */
void home_stand_aside(void);
/* Called by a home that stands aside. Returns true if there still are several roots. If not, vp stands aside no
 * longer. */
bool home_stays_aside(struct vp *vp);
static inline bool home_is_aside(const struct vp *vp) { return vp_is(vp, VP_ASIDE); }

#endif
