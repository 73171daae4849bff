/* The signal mask and the processors of kernel threads that are started for threads of regions. The mask is that of the
 * opener of the region (inherited.c), the processors are the root's. So a root, and a thread on a dedicated kernel
 * thread (dedicated.h), write down what they have whenever it changes (root_state.c). */
#ifndef PS_INHERITED_H
#define PS_INHERITED_H

#include "os.h"
#include "parts.h"
#include <stdbool.h>
#include <stdint.h>

struct psthread;
struct uth_tls;
struct vp;

/* Gives `to`, the vp of block's kernel thread that is about to be started, the mask and processors to begin with. */
void ps_inherit_kernel_state(struct vp *to, const struct uth_tls *block);
/* Returns the mask that members begin with in a region which `opener` opens, or has opened. */
uint64_t ps_mask_of_members(const struct psthread *opener);

/* The running thread has changed its signal mask or processors. A root passes them on outside of regions: its next
 * region asks the kernel, since this may be called in a signal handler, which has another mask. A dedicated thread, or
 * a root in a region, passes its mask on to members of inner regions. */
void ps_root_changed(void);
/* Whether t is vp's root outside of regions. In a forked child also true of the member that the root was at the fork,
 * since that region is not there. */
bool ps_is_outside(const struct vp *vp, const struct psthread *t);
/* A root opens an outermost region. */
void ps_root_look(struct vp *vp);

#endif
