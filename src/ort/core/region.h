/* Functions between the modules of src/ort/region. */
#ifndef PS_ORT_TEAM_H
#define PS_ORT_TEAM_H

#include "ort.h"

/* Returns a zeroed block for n_max members, with its constant fields set; NULL: no memory. */
struct ort_team *ort_team_alloc(unsigned n_max);
/* Returns the block for t's next region, t->hot. If t has none, or one with too few members for *n, makes a larger
 * block first. If memory is short, lowers *n; without memory even for one member it aborts with one line. */
struct ort_team *ort_team_block(struct ort_thread *t, unsigned *n);
/* Adds a new region's members to group->busy: up to n, as far as `limit` allows. Returns how many members the region
 * gets. The result includes the parent, which is counted already. Called only while a thread limit is set. */
unsigned ort_group_limited(struct ort_group *group, unsigned limit, unsigned n);
/* Prints a line that a region gets fewer members than it wants, and why. Only the first call in a process prints. */
void ort_team_shrunk(unsigned wanted, unsigned got, const char *why);
/* Frees t->hot, and with members apart t's other block. No region of either is open. */
void ort_hot_free(struct ort_thread *t);
/* Called when something that t's regions depend on has changed: t's next region then does not count as like the last
 * one (team.c, "Alike"). */
static inline void ort_hot_forget(struct ort_thread *t)
{
    if (t->hot == NULL)
        return;
    t->hot->within = 0;
#if ORT_MEMBERS_APART
    if (t->hot->other != NULL)
        t->hot->other->within = 0;
#endif
}
/* Only with members apart. ort_shape_turn is called before a region that is not like the last one; it wants `wanted`
 * members and this proc_bind. If t has a second block, and t->hot had another shape last, the second block becomes hot.
 * If t has one block, and this shape returns after another one, t gets a second block (region_again.c). ort_shape_is
 * notes in the block how many members its region wanted. */
#if ORT_MEMBERS_APART
void ort_shape_turn(struct ort_thread *t, unsigned wanted, int8_t bind);
#else
static inline void ort_shape_turn(PS_UNUSED struct ort_thread *t, PS_UNUSED unsigned wanted, PS_UNUSED int8_t bind) {}
#endif
static inline void ort_shape_is(PS_UNUSED struct ort_team *team, PS_UNUSED unsigned wanted)
{
#if ORT_MEMBERS_APART
    team->wanted = (uint16_t)(wanted < UINT16_MAX ? wanted : UINT16_MAX);
#endif
}
/* Only with members apart: moves storage of the members of `team` to the smaller block. present true: the storage that
 * the last region used. present false: the storage that members have kept in other clusters. No region of either is
 * open. */
void ort_members_part(struct ort_team *smaller, struct ort_team *team, bool present);
/* The functions by which the entities run members (team.c). */
extern const struct ee_team_ops ort_team_ops;
/* Returns a team of one for an initial thread, in a contention group of its own. The caller sets its ICVs. If there is
 * no memory, aborts with a line that names `what`. */
struct ort_team *ort_team_initial(const char *what);
/* Makes the caller the initial thread of a team from ort_team_initial: the caller becomes member 0, and its implicit
 * task begins. Returns this thread. */
struct ort_thread *ort_thread_begin_initial(struct ort_team *team);
/* Returns the size of a block for n_max members. */
size_t ort_members_bytes(unsigned n_max);
/* ort_members_get fills in the members of a zeroed block, and gets their implicit tasks; false: no memory. With members
 * apart it does so for member 0 only, and the others follow when the entities place them. ort_members_give gives the
 * implicit tasks (with members apart: all storage) back, before the block is freed. */
bool ort_members_get(struct ort_team *team);
void ort_members_give(struct ort_team *team);
/* Calls `visit` for each member of the block; with members apart, for each storage that a member has. */
void ort_members_visit(struct ort_team *team, void (*visit)(struct ort_thread *t));
/* Tells the entities which members the block has (ee_team_init). Called before the block's first region of several
 * members. With members apart, called again after an ee_team_fini. */
void ort_members_entities(struct ort_team *team, const struct ee_team_ops *ops);
/* Moves the members to a larger block: their native threads (ee_team_succeed), and what the core and the entry points
 * keep for them. No region of either block is open. With members apart it does nothing. */
void ort_members_succeed(struct ort_team *larger, struct ort_team *team);
/* Called by member 0, which has changed a value that regions inside of the open one inherit. Such a region, and the
 * team's next one, are then not taken for alike. */
void ort_team_reshaped(struct ort_team *team);
/* Called by a member before anything else: sets up the member's state and its implicit task, tells a tool, and enters
 * the loop of a combined construct. */
void ort_member_begin(struct ort_thread *m);
/* Resets the member's own state for a new region: it is in no loop, and tasks that it pushes are descendants of its
 * implicit task. */
static inline void ort_member_begin_own(struct ort_thread *m)
{
    if (!ort_absent(ort_loop_or_none(m))) {
        struct ort_loop *loop = ort_loop(m);
        loop->ws = NULL;
        loop->has_chunk = false;
    }
    struct ort_task_member *tasks = ort_tasks_or_none(m);
    if (!ort_absent(tasks))
        tasks->base = ps_deque_bottom_owner(&tasks->deque);
}
/* Begins member m of a region that is like the team's last one. If the implicit task is in the state in which a region
 * begins, the team is not read. Otherwise calls ort_member_begin. */
static inline void ort_member_begin_again(struct ort_thread *m)
{
    const struct ort_task *t = &ort_implicit(m)->task;
    if (PS_UNLIKELY(m->task != t || t->flags != ORT_TASK_IMPLICIT || t->count.own != 0)) {
        ort_member_begin(m);
        return;
    }
    ort_member_begin_own(m);
}
/* Only with members apart: functions of ee_team_ops (region_again.c). */
void ort_member_again(struct ee_member *member, void (*fn)(void *), void *data);
void ort_region_ended(struct ee_member *first);
void ort_region_otherwise(struct ee_team *t, void (*fn)(void *), void *data);
/* Only with members apart: sets the team's counters of constructs to the values that the last region's members have
 * reached. Called before a region is opened, except on the short way of region_again.c. */
static inline void ort_region_counts(PS_UNUSED struct ort_team *team)
{
#if ORT_MEMBERS_APART
    if (!team->plain)
        return; /* the last region set the counters at its end (end_region) */
    team->ws_base = ort_member(team, 0)->ws_seq;
    team->single_base = ps_load_relaxed(&team->single);
#endif
}
/* Only with members apart. Called by the parent at a region's end: decides whether the next region may be opened by
 * ort_parallel_again, and notes this in again_bind. */
static inline void ort_region_lasts(struct ort_team *team)
{
#if ORT_MEMBERS_APART
    bool lasts = team->n > 1 && team->plain && !team->cancellable && !team->counted && ee_team_lasts(&team->ee);
    uint8_t bind = team->asked_bind == ORT_BIND_UNSET ? 0 : (uint8_t)team->asked_bind;
    team->again_bind = lasts ? bind : ORT_AGAIN_NOT;
    ort_member(team, 0)->anew = true;
#else
    (void)team;
#endif
}
/* Called by a member that leaves the region. ort_member_drops frees the ICVs that belong to its implicit task alone.
 * ort_member_ends is all that a member does at its end if no tool is attached. [ort_member_ends switches] */
static inline void ort_member_drops(struct ort_thread *m)
{
    if (PS_UNLIKELY(m->task->flags & ORT_TASK_OWN_ICV))
        ort_icv_drop(m->task->icv, m->task);
}
static inline void ort_member_ends(struct ort_thread *m)
{
    ort_loop_abandon(m);
    ort_task_member_end(m);
    ort_member_drops(m);
}

#endif
