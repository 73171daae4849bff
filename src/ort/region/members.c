/* Where a team's members are: in its block, one behind the other. See ort_member. */
#include "region.h"
#include "task_internal.h"

size_t ort_members_bytes(unsigned n_max) { return sizeof(struct ort_team) + (size_t)n_max * sizeof(struct ort_thread); }

bool ort_members_get(struct ort_team *team)
{
    struct ort_task_implicit *implicits = ort_task_implicits_get(team->n_max);
    if (implicits == NULL)
        return false;
    for (unsigned i = 0; i < team->n_max; i++) {
        team->threads[i].team = team;
        team->threads[i].id = i;
        team->threads[i].tasks.implicit = &implicits[i];
    }
    return true;
}

void ort_members_give(struct ort_team *team) { ort_task_implicits_give(team->threads[0].tasks.implicit, team->n_max); }

void ort_members_entities(struct ort_team *team, const struct ee_team_ops *ops)
{
    ee_team_init(&team->ee, ops, &team->threads[0].member, sizeof(struct ort_thread), team->n_max);
}

void ort_members_visit(struct ort_team *team, void (*visit)(struct ort_thread *t))
{
    for (unsigned i = 0; i < team->n_max; i++)
        visit(&team->threads[i]);
}

/* Moves the block of `from`'s last region to `to`, with its members and all that they keep. */
static void take_hot_block(struct ort_thread *to, struct ort_thread *from)
{
    to->hot = from->hot;
    from->hot = NULL;
    if (to->hot != NULL) {
        to->hot->parent = to;
        to->hot->within = 0; /* its last region was opened in another team, and must not pass for alike */
    }
}

void ort_members_succeed(struct ort_team *larger, struct ort_team *team)
{
    take_hot_block(&larger->threads[0], &team->threads[0]);
    for (unsigned i = 1; i < team->n_max; i++) {
        struct ort_thread *to = &larger->threads[i], *from = &team->threads[i];
        if (!ee_team_succeed(&larger->ee, &team->ee, i))
            continue;
        take_hot_block(to, from);
        to->local = from->local;
        to->number = from->number;
        to->shown = from->shown;
        to->tool = from->tool;
        from->local = NULL;
        from->number = 0;
        from->tool.begun = false;
    }
}
