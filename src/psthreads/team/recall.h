/* A parent that is suspended below a member of its region is recalled to run a task.
 *
 * A parent calls members on its own stack, in their blocks, if no vp has taken them. Meanwhile the parent is suspended
 * *below* such a member. In a team's first region with tasks, a task may then become ready that only member 0 may run,
 * and member 0 is the parent. The member above the parent may spin for that task. So member 0 gets a *helper*: an
 * assistant begins as member 0, on a stack of its own, in the block that the parent has left (parent_tls). The member
 * above the parent goes on.
 *
 * Does: finds such regions, starts such a helper, and keeps the parent out of its block meanwhile. Does not act in
 * later regions of the team, whose parents call no members, nor if member 0 itself makes the first task.
 *
 * team.first_helper: 0 -> PS_TEAM_FIRST_HELPER (recall_look, recall_parent) -> 0 (recall_give_back, called by the
 * assistant at its end). A thread that finds a helper stores itself there and waits; the assistant then stores 0 and
 * readies it. That thread is the parent (recall_await), or the member above it (recall_leave). `lock` is held at each
 * change. One user of the block at a time:
 *   parent  1. clears uth_tls.below   2. reads which vp was the last in the block; if another one: recall_await
 *   recall  1. takes the block away (uth_tls_take_away)   2. fences for all kernel threads   3. reads `below` again;
 *           if the parent is still there: the helper begins
 * If step 3 finds the parent still suspended, the parent's step 2 finds another vp in the block. Then the parent takes
 * the lock, sees the helper, and waits for its end. Because of the fence a compiler barrier is enough for the parent
 * (vp_resume_caller). A kernel thread that visits the block for a signal does the same (thread_signal.h). The watched
 * teams are in a table, under the lock, so the watchdog reads no team that was freed. If all its 256 entries are taken,
 * member 0 gets no helper.
 * Model: tests/models/first_helper.pml.
 * Cost: a look of the watchdog each 5 ms while such a region is open. With a thread sanitizer no region is watched. */
#ifndef PS_RECALL_H
#define PS_RECALL_H

#include <stdbool.h>
#include <stdint.h>

struct ps_team;
struct psthread;
struct uth_tls;
struct vp;

/* recall_watch: begins to watch team, whose first region with tasks is open, and whose first task was made by a member
 * other than member 0. recall_unwatch: called when the region ends. recall_wanted: returns true if some team is
 * watched. */
void recall_watch(struct ps_team *team);
void recall_unwatch(struct ps_team *team);
bool recall_wanted(void);
/* Gives member 0 of each watched team a helper, if a task has waited for member 0 for 5 ms and the team's parent is
 * suspended below a member. Caller: the watchdog, once a tick. */
void recall_look(uint64_t now_ns);
/* Gives member 0 of team a helper at once, if team is watched, a task waits for member 0, and the parent is suspended
 * below a member. Caller: a member of the region. */
void recall_parent(struct ps_team *team);
/* Called by member 0's assistant, at its end, after it has left the block. */
void recall_give_back(struct ps_team *team);
/* Self is about to enter its block `tls` again, and another vp was the last in it. Waits while member 0 of a region
 * that self has opened has a helper. vp is in another block, or in none. Returns the vp. May switch. */
struct vp *recall_await(struct vp *vp, struct psthread *self, struct uth_tls *tls);
/* The running member m is about to leave the parent's stack, and the parent goes on there, in its own block. Member 0
 * gets no helper until the parent is suspended again. If it has one, waits for the helper's end. May switch. */
void recall_leave(struct ps_team *team, struct psthread *m);
/* Called when the library starts, in a forked child, and before the watchdog may start again. From now on no team is
 * watched. */
void recall_reset(void);

#endif
