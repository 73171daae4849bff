/* Team blocks: between the modules that open and close teams. */
#ifndef PS_ORT_TEAM_H
#define PS_ORT_TEAM_H

#include "ort.h"

/* A zeroed block for n_max members with its constant fields set; NULL: no memory. */
struct ort_team *ort_team_alloc(unsigned n_max);
/* Bytes of a block for n_max members. */
size_t ort_members_bytes(unsigned n_max);
/* The members of a zeroed block, with their implicit tasks; false: no memory. And before it is given back. */
bool ort_members_get(struct ort_team *team);
void ort_members_give(struct ort_team *team);
/* Each storage that a member has. */
void ort_members_visit(struct ort_team *team, void (*visit)(struct ort_thread *t));
/* The entities', once for the block. */
void ort_members_entities(struct ort_team *team, const struct ee_team_ops *ops);
/* The caller has changed what regions inside of the open one take from it. */
void ort_team_reshaped(struct ort_team *team);
/* The member enters the region: by itself, first thing. */
void ort_member_begin(struct ort_thread *m);
/* The same in a region that is as the team's last one, without a look at the team where the member's implicit task
 * is as it was then. */
static inline void ort_member_begin_again(struct ort_thread *m)
{
    const struct ort_task *t = &m->tasks.implicit->task;
    if (PS_UNLIKELY(m->task != t || t->flags != ORT_TASK_IMPLICIT || t->count.own != 0)) {
        ort_member_begin(m);
        return;
    }
    m->loop.ws = NULL;
    m->loop.has_chunk = false;
    m->tasks.base = ps_deque_bottom_owner(&m->tasks.deque);
}
/* And last thing: its implicit task's own ICVs; and all, where no tool is told. [switches] */
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
