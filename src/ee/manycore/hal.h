/* How teams are started, meet in barriers and are joined. One of hal/<name>.c has these functions (hws and hws-paper
 * together with synchroniser.c); it is chosen when the program is linked.
 *
 *   hws        orders are multicast as words of the hardware synchroniser, which also gathers joins and barriers
 *   sw         memory alone: the root orders one core in each other cluster, which hands the order on; counters
 *   hws-paper-implicit, hws-paper, sw-paper   the ways of manycore-nested-2016, section 3, for comparison (paper.h)
 *
 * Member 0 is the parent; `team->spans` has the cores of the other members. The comment of each function says whether
 * the parent, a docked core or a member calls it. team->left and arrivals_left are counters for the software ways;
 * every HAL may use them. */
#ifndef PS_EE_HAL_H
#define PS_EE_HAL_H

#include "pool.h"

/* Called by each core, before it docks or forks. */
void hal_init(void);
/* Called by the parent. hal_mapped: the team has a new mapping. hal_unmapped: the team is about to lose its mapping.
 * ee_team_fini calls hal_unmapped too, even if the team has no mapping. */
void hal_mapped(struct team *team);
void hal_unmapped(struct team *team);
/* Called by the root, before it opens `team` after another of its teams. The team's cores were told of its mapping
 * earlier. Returns false if they must be told again. */
bool hal_turn(struct team *team);
/* Called by the parent: orders members 1 to n - 1 to run. */
void hal_release(struct team *team);
/* Called by a docked core: waits for an order, and returns it. */
struct order hal_dock(void);
/* Called by a docked core before it runs a member, if the order came without ORDER_AGAIN: the team's mapping may be new
 * to the core. */
void hal_told(struct team *team);
/* Orders `core`, whose member is a helper, to assist. Any core may call it, while no other such order is under way to
 * that core. */
void hal_order_assist(unsigned core, struct member *m);
/* The join. hal_arrive is called by a member other than the first when it is done: it counts the member. hal_gather is
 * called by the parent: waits until all members are counted. */
void hal_arrive(struct member *m);
void hal_gather(struct team *team);
/* The barrier. meet, await, release and phase do what ee_barrier_meet and so on do (ee.h). */
enum ee_await hal_barrier_meet(struct team *team, struct member *m, uint32_t phase, bool counted);
enum ee_await hal_barrier_await(struct team *team, struct member *m, uint32_t phase);
void hal_barrier_release(struct team *team, struct member *m);
uint32_t hal_barrier_phase(struct team *team, struct member *m);
/* hal_notify is called by a member: from then on the region has tasks. hal_sees_tasks is called by a member or the
 * parent, and returns whether the region has tasks. If the HAL has a signal of tasks, hal_sees_tasks first takes the
 * signal if it has come. It reads team->notified only if the core has got the signal in this region. So the core may
 * learn of tasks late. */
bool hal_sees_tasks(struct team *team);
void hal_notify(struct team *team);

#endif
