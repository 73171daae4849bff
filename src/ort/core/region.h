/* Team blocks: between the modules that open and close teams. */
#ifndef PS_ORT_TEAM_H
#define PS_ORT_TEAM_H

#include "ort.h"

/* Returns a zeroed block for n_max members with its constant fields set; NULL: no memory. */
struct ort_team *ort_team_alloc(unsigned n_max);
/* Returns a block for the region of *n members that t opens, kept in t->hot; *n becomes less where there is no
 * memory. */
struct ort_team *ort_team_block(struct ort_thread *t, unsigned *n);
/* Takes n members out of the group's account, or as many as the thread limit leaves; for a limit that is set. */
unsigned ort_group_limited(struct ort_group *group, unsigned limit, unsigned n);
/* Says once that a region gets fewer members than it wants. */
void ort_team_shrunk(unsigned wanted, unsigned got, const char *why);
/* Frees the blocks of t's regions; none is open. */
void ort_hot_free(struct ort_thread *t);
/* t's next region is like none before. */
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
/* With members apart: makes that block t's hot one which the region of `wanted` members is to have (region_again.c).
 * ort_shape_is notes how many members its region wanted. */
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
/* With members apart: gives members of a block to a smaller one, with what they keep. present: those of the last
 * region, which the smaller block is to have; else what is kept of those of former regions. No region is open. */
void ort_members_part(struct ort_team *smaller, struct ort_team *team, bool present);
/* How the entities run members (team.c). */
extern const struct ee_team_ops ort_team_ops;
/* Returns a team of one, for an initial thread, in a contention group of its own. Its ICVs are not set. Aborts where
 * there is no memory for `what`. */
struct ort_team *ort_team_initial(const char *what);
/* Makes the calling kernel thread that team's initial thread. Returns the thread. */
struct ort_thread *ort_thread_begin_initial(struct ort_team *team);
/* Bytes of a block for n_max members. */
size_t ort_members_bytes(unsigned n_max);
/* ort_members_get makes the members of a zeroed block, with their implicit tasks; false: no memory. ort_members_give
 * gives them back, before the block. */
bool ort_members_get(struct ort_team *team);
void ort_members_give(struct ort_team *team);
/* Calls `visit` for each member's storage. */
void ort_members_visit(struct ort_team *team, void (*visit)(struct ort_thread *t));
/* Makes the members known to the entities (ee_team_init), once for the block. */
void ort_members_entities(struct ort_team *team, const struct ee_team_ops *ops);
/* Moves the members to a larger block: what their threads are, and what is kept for them. No region is open. */
void ort_members_succeed(struct ort_team *larger, struct ort_team *team);
/* Notes that the caller has changed what regions inside of the open one take from it. */
void ort_team_reshaped(struct ort_team *team);
/* Called by a member, first thing: it enters the region. */
void ort_member_begin(struct ort_thread *m);
/* Resets what the member has of its own to the state at a region's begin: it is in no loop, and all that it pushes
 * belongs to its implicit task. */
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
/* As ort_member_begin, in a region that is as the team's last one: looks at the team only if the member's implicit task
 * is not as it was then. */
static inline void ort_member_begin_again(struct ort_thread *m)
{
    const struct ort_task *t = &ort_implicit(m)->task;
    if (PS_UNLIKELY(m->task != t || t->flags != ORT_TASK_IMPLICIT || t->count.own != 0)) {
        ort_member_begin(m);
        return;
    }
    ort_member_begin_own(m);
}
/* With members apart: functions of ee_team_ops (region_again.c). */
void ort_member_again(struct ee_member *member, void (*fn)(void *), void *data);
void ort_region_ended(struct ee_member *first);
void ort_region_otherwise(struct ee_team *t, void (*fn)(void *), void *data);
/* With members apart: sets the counters to what the last region has left. Called before a region is opened in any other
 * way than by ort_parallel_again. */
static inline void ort_region_counts(PS_UNUSED struct ort_team *team)
{
#if ORT_MEMBERS_APART
    if (!team->plain)
        return; /* it took another way, which has left them */
    team->ws_base = ort_member(team, 0)->ws_seq;
    team->single_base = ps_load_relaxed(&team->single);
#endif
}
/* With members apart: the region that has ended may be followed by one of ort_parallel_again. */
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
/* The member leaves the region, last thing: gives up its implicit task's own ICVs. ort_member_ends does all of it,
 * where no tool is told. [switches] */
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
