/* What a region needed: kernel threads beside the vps, because its members spun or blocked.
 *
 * Where members of a region wait for one another by means that the runtime does not see (a loop over a flag, a system
 * call), the watchdog starts spares after some milliseconds (spares.h). The next region of the same place in the
 * program would stall in the same way. So the place keeps how many spares ran members, and its next region begins with
 * as many: those that stand by are called at the fork (standby.h), each with a grant to take what is ready.
 *
 * The number is given up slowly: at most once in a while a region begins with half of it. If the watchdog has to help
 * again, the number is set back, and the next try comes after twice as long. Else the half stays, and in the end the
 * number is 0.
 *
 * Does: keep the numbers of a few places; two places that share a slot forget each other. Does not: start kernel
 * threads. Callers: a region's parent at its fork and after its join; the spare that has taken a member. A lock guards
 * the slots. Cost for regions that needed nothing: nothing; a bit of their vp's says whether any place of the process
 * needs something (VP_NEEDS). Programs: Eigen 3.4's products, llama.cpp, NAS LU. */
#ifndef PS_NEEDS_H
#define PS_NEEDS_H

#include "compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct ps_team;
struct vp;

/* Calls spares for team's region of n members, which has just been published. */
void needs_at_fork(struct ps_team *team, unsigned n);
/* Notes that vp, a spare, has taken a member of team, because work starved, or by a grant. */
void needs_note(struct ps_team *team, struct vp *vp);
/* Learns from a region of which some members ran on spares; all have ended. Caller: the parent. */
void needs_learn(struct ps_team *team);

/* Returns VP_NEEDS if a vp that begins is to have it, else 0. */
unsigned needs_bit(void);

/* Called in a forked child: no place needs anything. */
void needs_reset(void);

#endif
