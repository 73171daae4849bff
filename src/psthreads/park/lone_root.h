/* Lone roots: roots whose kernel threads run no other thread (VP_LONE).
 *
 * A lone root waits on its own stack, in a futex. It runs no members as calls there, and is never released. The
 * reasons:
 *   VP_OTHER_PRIORITY, VP_STARTS   The root, or its members, have another priority than the workers (priority.h).
 *   VP_MASK                        The root has another signal mask than its members (root_state.c). On another kernel
 *                                  thread the root would have the members' mask, and members that ran on the root's
 *                                  kernel thread would have the root's.
 *   VP_COUNTED                     The program asks what the kernel counts for the root's kernel thread (its processor
 *                                  time).
 * A spare stands in for such a root, so that its regions have as many kernel threads as those of other roots. */
#ifndef PS_LONE_ROOT_H
#define PS_LONE_ROOT_H

#include "work.h"
#include <stdbool.h>

struct vp;

/* Called when the program asks what the kernel counts for the kernel thread with thread pointer tp. If that is a root's
 * kernel thread, threads have blocks, and other vps can run what is in the root's queue, the root becomes lone. If it
 * is the calling kernel thread, and no root's yet, a root that begins on it later is lone from the start. */
void ps_root_counted(const void *tp);
/* Called when a root attaches. Returns true if the root is to be lone from the start, because ps_root_counted was
 * called on its kernel thread before. */
bool lone_root_expected(void);
/* Called by a lone root's vp. Waits until something is in its pinned slot, and takes and returns that. */
struct ps_work lone_root_await(struct vp *vp);
/* Returns how many lone roots there are. */
unsigned lone_root_count(void);
/* Called when a lone root is about to wait. If work is ready, no vp searches or is parked, and fewer spares are at work
 * than there are lone roots: calls or starts a spare, so that the work does not wait for the watchdog's next look. */
void lone_root_call_stand_in(void);

#endif
