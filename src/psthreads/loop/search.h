/* How a vp that has nothing to run finds work: it searches, then parks. */
#ifndef PS_SEARCH_H
#define PS_SEARCH_H

#include "work.h"

struct vp;

/* Returns work for vp, which has nothing to run. Waits until there is some. Returns no work only if vp is to end. */
struct ps_work vp_find_work(struct vp *vp);

/* Opens vp's handoff slot, unless vp has other work, or is a spare, a lone root's vp or a home that stands aside.
 * Called when vp has run members and its loop is about to look for work, before vp subtracts these members from the
 * team's count: so the parent's next region finds the slot open. */
void vp_offer(struct vp *vp);

/* Called when vp is to take no work from other threads for a while: there is no stack for its loop, or vp is a spare
 * without work, a lone root's vp or a home that stands aside. Ends vp's search, closes its handoff slot, and wakes
 * another vp if something is in vp's queue. */
void vp_stand_aside(struct vp *vp);

#endif
