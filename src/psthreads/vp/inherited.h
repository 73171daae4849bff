/* The signal mask and the processors with which the dedicated kernel threads of members begin. The mask is that of the
 * thread that opens the region (inherited.c); the processors are the root's. So a root notes both whenever it changes
 * them, and a thread on a dedicated kernel thread (dedicated.h) notes its signal mask (root_state.c). */
#ifndef PS_INHERITED_H
#define PS_INHERITED_H

#include "os.h"
#include "parts.h"
#include <stdbool.h>
#include <stdint.h>

struct psthread;
struct uth_tls;
struct vp;

/* Gives `to` the mask and processors with which its kernel thread is to begin. `to` is the vp of the dedicated
 * kernel thread of block's thread; that kernel thread is about to be started. */
void ps_inherit_kernel_state(struct vp *to, const struct uth_tls *block);
/* Returns the signal mask with which members begin in a region that `opener` opens or has opened. */
uint64_t ps_mask_of_members(const struct psthread *opener);

/* The running thread has changed its signal mask or its processors. A dedicated thread, or a root in a region: notes
 * the mask, with which members of inner regions begin. A root outside of regions: its next region reads both from the
 * kernel. (The caller may be a signal handler, which has another mask.) */
void ps_root_changed(void);
/* Returns true if t is vp's root, outside of regions. In a forked child the thread that forked counts as such a root,
 * even if it is a member of the region of the fork: the child does not have this region. */
bool ps_is_outside(const struct vp *vp, const struct psthread *t);
/* Called when the root of vp opens an outermost region. Notes its mask and processors if they have changed since the
 * last region. */
void ps_root_look(struct vp *vp);

#endif
