/* Functions between the modules of src/ort/region. */
#ifndef PS_ORT_TEAM_H
#define PS_ORT_TEAM_H

#include "ort.h"

/* Returns a zeroed block for n_max members, with its constant fields set; NULL: no memory. */
struct ort_team *ort_team_alloc(unsigned n_max);
/* Returns t->hot, after it has been replaced by a larger block if it has too few members for *n. Lowers *n if there is
 * not enough memory. */
struct ort_team *ort_team_block(struct ort_thread *t, unsigned *n);
/* Counts a new region's members as busy: up to n, as far as `limit` allows. Returns how many members the region gets,
 * with the parent, which is counted already. Called only while a thread limit is set. */
unsigned ort_group_limited(struct ort_group *group, unsigned limit, unsigned n);
/* Prints one line, once in a process: a region gets fewer members than it wants, and why. */
void ort_team_shrunk(unsigned wanted, unsigned got, const char *why);
/* Frees t's hot blocks. No region of theirs is open. */
void ort_hot_free(struct ort_thread *t);
/* t's next region must not be taken for one like the last (team.c, "Alike"). */
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
/* Only with members apart. ort_shape_turn makes that one of t's two blocks the hot one which fits a region that wants
 * `wanted` members (region_again.c). ort_shape_is notes how many members the block's region has wanted. */
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
/* Only with members apart: moves storage of the members of `team` to the smaller block. present true: the storages of
 * the last region. false: those that members have kept in other clusters. No region is open. */
void ort_members_part(struct ort_team *smaller, struct ort_team *team, bool present);
/* The functions by which the entities run members (team.c). */
extern const struct ee_team_ops ort_team_ops;
/* Returns a team of one for an initial thread, in a contention group of its own. The caller sets its ICVs. Without
 * memory aborts, with a line that names `what`. */
struct ort_team *ort_team_initial(const char *what);
/* Makes the calling kernel thread the initial thread of that team. Returns the thread. */
struct ort_thread *ort_thread_begin_initial(struct ort_team *team);
/* Returns the size of a block for n_max members. */
size_t ort_members_bytes(unsigned n_max);
/* ort_members_get fills in the members of a zeroed block, and gets their implicit tasks; false: no memory.
 * ort_members_give gives the implicit tasks back, before the block is freed. */
bool ort_members_get(struct ort_team *team);
void ort_members_give(struct ort_team *team);
/* Calls `visit` for each storage of each member. */
void ort_members_visit(struct ort_team *team, void (*visit)(struct ort_thread *t));
/* Tells the entities of the block's members (ee_team_init). Called once for a block. */
void ort_members_entities(struct ort_team *team, const struct ee_team_ops *ops);
/* Moves the members to a larger block: their threads (ee_team_succeed), and what is kept for them. No region of either
 * is open. */
void ort_members_succeed(struct ort_team *larger, struct ort_team *team);
/* Called by member 0, which has changed a value that regions inside of the open one inherit. */
void ort_team_reshaped(struct ort_team *team);
/* Called by a member before anything else: it enters the region. */
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
/* As ort_member_begin, for a region like the team's last one. Reads the team only if the member's implicit task is not
 * as a region begins with it. */
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
/* Only with members apart: sets the team's counters of constructs to where the last region's members have arrived.
 * Called before a region is opened on any path but ort_parallel_again's. */
static inline void ort_region_counts(PS_UNUSED struct ort_team *team)
{
#if ORT_MEMBERS_APART
    if (!team->plain)
        return; /* another path opened the last region, and set them at its end */
    team->ws_base = ort_member(team, 0)->ws_seq;
    team->single_base = ps_load_relaxed(&team->single);
#endif
}
/* Only with members apart. Called at a region's end: decides whether the next region may be opened by
 * ort_parallel_again. */
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
/* Called by a member that leaves the region. ort_member_drops frees the ICVs of its implicit task's own.
 * ort_member_ends is the whole end for a member, if no tool is attached. [ort_member_ends switches] */
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
