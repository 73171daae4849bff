/* The work search of a vp that has nothing to run: searching, then parking. */
#ifndef PS_SEARCH_H
#define PS_SEARCH_H

#include "work.h"

struct vp;

/* Waits for work, where there is nothing to run; none only when the vp is to end. */
struct ps_work vp_find_work(struct vp *vp);

/* The vp's loop is about to look for work and has none yet: a handoff may come from now on. Before a member is
 * counted out, so that the parent's next region finds the handoff slot open. */
void vp_offer(struct vp *vp);

/* There is no stack for vp's loop: it takes part in nothing until there is one. What was counted on it for goes to
 * others. */
void vp_stand_aside(struct vp *vp);

#endif
