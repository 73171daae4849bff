/* Remembers which regions needed spares, because their members spun or blocked.
 *
 * If members of a region wait for one another by means that the runtime does not see (a loop over a flag, a system
 * call), the watchdog starts spares after some milliseconds (spares.h). The next region of the same place in the
 * program would stall in the same way. So the runtime remembers, for each such place, how many spares ran members. The
 * next region of the place begins with as many: the fork calls spares that stand by (standby.h), each with a grant to
 * take ready work.
 *
 * The number is given up slowly. From time to time a region begins with half of it. If more spares than that half run
 * members in this region, the number stays as it was (or grows), and the time to the next such try doubles. Otherwise
 * the half is the new number, and in the end the number is 0.
 *
 * Does: keeps the numbers of a few places. Two places that share a slot displace each other. Does not: start kernel
 * threads. Callers: a region's parent, at its fork and after its join; a spare that has taken a member. A lock guards
 * the slots. Cost: nothing as long as no place of the process needs spares; a bit of each vp says so (VP_NEEDS).
 * Programs that need this: Eigen 3.4's products, llama.cpp, NAS LU. */
#ifndef PS_NEEDS_H
#define PS_NEEDS_H

#include "compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct ps_team;
struct vp;

/* Called by the parent at the fork of a region of n members, which are ready already. Calls the spares that its place
 * needs. */
void needs_at_fork(struct ps_team *team, unsigned n);
/* Called by a spare, on vp, that has taken a member of team because work starved, or by a grant. Counts the spare. */
void needs_note(struct ps_team *team, struct vp *vp);
/* Called by the parent after the join, if the region began with spares, or if spares have run members of it. Updates
 * how many spares the next region of this place begins with. */
void needs_learn(struct ps_team *team);

/* Returns the bit that a vp which begins is to have in `special`: VP_NEEDS if some place needs spares, else 0. */
unsigned needs_bit(void);

/* Called in a forked child: forgets all places. */
void needs_reset(void);

#endif
