/* How teams are started, met and joined: one of hal/<name>.c, chosen when the program is linked.
 *
 *   hws        orders are multicast as words of the hardware synchroniser, joins and barriers gathered by it
 *   sw         memory alone: orders go from the parent to one core in each cluster, which hands them on; counters by
 *              cluster
 *   hws-paper-implicit, hws-paper, sw-paper   the ways of manycore-nested-2016, section 3, to compare the others with
 *              (paper.h)
 *
 * Member 0 is the parent; `team->spans` has the others' cores. A function is for the parent, a docked core or a member
 * as said; team->left and arrivals_left are the software ways', which every HAL has at its hand. */
#ifndef PS_EE_HAL_H
#define PS_EE_HAL_H

#include "pool.h"

/* Each core, before it docks or forks. */
void hal_init(void);
/* Called by the parent: the team has a new mapping, or is about to lose it (at the latest in fini, where it may have
 * none). */
void hal_mapped(struct team *team);
void hal_unmapped(struct team *team);
/* Root: the team, whose mapping its cores have been told of, is the next to be opened, after others of the root's.
 * False: its cores have to be told anew. */
bool hal_turn(struct team *team);
/* Parent: orders members 1 to n - 1 to run. */
void hal_release(struct team *team);
/* Docked: waits for an order. */
struct order hal_dock(void);
/* Docked: the core has been ordered to run a member of the team, with another mapping than the last time, or for the
 * first time since others of the root's teams. */
void hal_told(struct team *team);
/* Orders `core`, which has a helper, to assist. Any caller; no other such order is under way to the core. */
void hal_order_assist(unsigned core, struct member *m);
/* Member but the first: is done. Parent: waits until all are. */
void hal_arrive(struct member *m);
void hal_gather(struct team *team);
/* The barrier: ee.h's meet and await. */
enum ee_await hal_barrier_meet(struct team *team, struct member *m, uint32_t phase, bool counted);
enum ee_await hal_barrier_await(struct team *team, struct member *m, uint32_t phase);
void hal_barrier_release(struct team *team, struct member *m);
uint32_t hal_barrier_phase(struct team *team, struct member *m);
/* hal_notify is called by a member: from then on the region has tasks. hal_sees_tasks is called by a member that waits:
 * whether the region has tasks, as far as can be told without a look at remote memory. */
bool hal_sees_tasks(struct team *team);
void hal_notify(struct team *team);

#endif
