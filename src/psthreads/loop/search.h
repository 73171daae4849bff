/* The work search of a vp that has nothing to run: searching, then parking. */
#ifndef PS_SEARCH_H
#define PS_SEARCH_H

#include "work.h"

struct vp;

/* Finds work for vp, which has nothing to run, and waits for it. None only when the vp is to end. */
struct ps_work vp_find_work(struct vp *vp);

/* Opens vp's handoff slot, if vp has nothing of its own to run: its loop is about to look for work. Called before a
 * member is counted out, so that the parent's next region finds the slot open. */
void vp_offer(struct vp *vp);

/* vp takes part in nothing for now, because there is no stack for its loop, or nothing for it to do. Its handoff slot
 * is closed, and what is in its queue is told to others. */
void vp_stand_aside(struct vp *vp);

#endif
