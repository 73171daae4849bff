/* What the fork and the join of a region (fork_join.c) leave to other files of the team. */
#ifndef PS_FORK_JOIN_H
#define PS_FORK_JOIN_H

#include <stdbool.h>

struct ps_team;
struct vp;

/* The fork, where members are bound, or have kernel threads of their own. Where all have the same place the entry goes
 * into that one's queue. */
void ps_team_fork_each(struct vp *vp, struct ps_team *team, unsigned n, bool outermost);
/* The parent has no members to run any more. room: it may run such as calls on its stack. Returns when all have ended.
 * May switch. */
void ps_team_wait_for_members(struct ps_team *team, bool room);

#endif
