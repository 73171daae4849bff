/* A parent that is suspended below a member of its region is recalled for a task.
 *
 * A parent runs members that no vp took as calls on its stack, in their blocks, and is suspended below them meanwhile.
 * In a team's first region with tasks, a task may then be ready that only member 0 may run, and member 0 is the parent.
 * The member above the parent may wait for that task, and spin. So member 0 gets a *helper*: an assistant begins as
 * member 0, on a stack of its own, in the block that the parent has left (parent_tls). The member above the parent goes
 * on.
 *
 * Does: finds such regions, starts such a helper there, and keeps the parent from its block meanwhile. Does not:
 * anything in later regions of the team, whose parents call no members, nor where member 0 itself makes the first task.
 *
 * team.first_helper: 0 -> PS_TEAM_FIRST_HELPER (recall_parent) -> 0 (recall_give_back, by the assistant at its end), or
 * -> the parent's thread, which waits (recall_await) -> 0, and the parent is readied. All changes are made with `lock`.
 * One user of the block at a time:
 *   parent  1. clears uth_tls.below   2. reads which vp was the last in the block; if another one: recall_await
 *   recall  1. takes the block away (uth_tls_take_away)   2. fences for all kernel threads   3. reads `below` again;
 *           if the parent is still there: the helper begins
 * If step 3 finds the parent still suspended, the parent's own step 2 finds another vp in the block. Then the parent
 * takes the lock, and sees the helper. The fence lets the parent do with a compiler barrier (vp_resume_caller). A
 * kernel thread that visits the block for a signal does the same (thread_signal.h). Regions are watched in a table,
 * with the lock, so that the watchdog reads no team that has ended. Limit: in a region that finds no room there, of
 * 256, member 0 gets no helper.
 * tests/models/first_helper.pml.
 *
 * Cost: while such a region is open, a look of the watchdog's each 5 ms; nothing later. Not with sanitizers. */
#ifndef PS_RECALL_H
#define PS_RECALL_H

#include <stdbool.h>
#include <stdint.h>

struct ps_team;
struct psthread;
struct uth_tls;
struct vp;

/* recall_watch: team's first region with tasks is open, and another member than the first has made the first task.
 * recall_unwatch: the region ends. */
void recall_watch(struct ps_team *team);
void recall_unwatch(struct ps_team *team);
bool recall_wanted(void);
/* The watchdog's look. */
void recall_look(uint64_t now_ns);
/* Gives member 0 of team a helper, if a task waits for it and its parent is suspended below a member. Caller: a member
 * of the region, or the watchdog, which has the lock. */
void recall_parent(struct ps_team *team);
/* The assistant has left the block. */
void recall_give_back(struct ps_team *team);
/* Self is about to enter its block again, in which another vp was last. Waits while member 0 of a region of self's has
 * a helper. vp is in another block, or in none. Returns the vp. [switches] */
struct vp *recall_await(struct vp *vp, struct psthread *self, struct uth_tls *tls);
/* The running member m of team is about to leave the parent's stack to the parent, which goes on in its block. Waits as
 * recall_await; from then on member 0 gets no helper. [switches] */
void recall_leave(struct ps_team *team, struct psthread *m);
/* In a forked child: nothing is watched. */
void recall_reset(void);

#endif
