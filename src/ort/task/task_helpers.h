/* The set of a team's helpers: members whose bodies have returned, and that find no task (task_sleep.c).
 *
 * Does not: call helpers. Callers hold the team's lock. Exceptions: ort_helpers_init empties a set that may be half
 * changed, ort_helpers_clear any other; both are called when no other member is there. ort_helpers_first returns the helper that is to be called next: the one that has run last, member 0 after all others;
 * NULL: there is none. Usually the set is a list whose links are in the members. With members apart it is a bit for
 * each member in the team's memory: a link would be in the memory of another cluster, and one access to that costs as
 * much as 25 instructions. */
#ifndef PS_ORT_TASK_HELPERS_H
#define PS_ORT_TASK_HELPERS_H

#include "task_internal.h"

#if ORT_MEMBERS_APART
static inline void ort_helpers_clear(struct ort_team *team)
{
    for (unsigned w = 0; w < ort_helper_words(team->n); w++)
        ort_helper_bits(team)[w] = 0;
}
static inline void ort_helpers_init(struct ort_team *team) { ort_helpers_clear(team); }
static inline bool ort_helpers_has(struct ort_team *team, const struct ort_thread *m)
{
    return ort_helper_bits(team)[m->id / 32] >> m->id % 32 & 1;
}
static inline void ort_helpers_remove(struct ort_team *team, struct ort_thread *m)
{
    ort_helper_bits(team)[m->id / 32] &= ~(1u << m->id % 32);
}
static inline void ort_helpers_add(struct ort_team *team, struct ort_thread *m)
{
    ort_helper_bits(team)[m->id / 32] |= 1u << m->id % 32;
    team->tasks.last_helper = m->id;
}
static inline struct ort_thread *ort_helpers_first(struct ort_team *team)
{
    const uint32_t *set = ort_helper_bits(team);
    unsigned id = team->tasks.last_helper, words = ort_helper_words(team->n), w = id / 32;
    if (id != 0 && set[w] >> id % 32 & 1)
        return ort_member(team, id);
    for (unsigned i = 0; i < words; i++, w = w + 1 < words ? w + 1 : 0) {
        uint32_t bits = w == 0 ? set[0] & ~1u : set[w];
        if (bits == 0)
            continue;
        for (id = w * 32; !(bits & 1); bits >>= 1)
            id++;
        return ort_member(team, id);
    }
    return set[0] & 1 ? ort_member(team, 0) : NULL;
}
#else
static inline void ort_helpers_init(struct ort_team *team)
{
    ps_list_init(&team->tasks.helpers);
    for (unsigned i = 0; i < team->n; i++)
        ort_member(team, i)->tasks.helper.next = NULL;
}
static inline void ort_helpers_clear(struct ort_team *team)
{
    while (ps_list_pop_front(&team->tasks.helpers) != NULL)
        continue;
}
static inline bool ort_helpers_has(PS_UNUSED struct ort_team *team, const struct ort_thread *m)
{
    return ps_list_linked(&m->tasks.helper);
}
static inline void ort_helpers_remove(PS_UNUSED struct ort_team *team, struct ort_thread *m)
{
    ps_list_remove(&m->tasks.helper);
}
static inline void ort_helpers_add(struct ort_team *team, struct ort_thread *m)
{
    if (m->id == 0)
        ps_list_push_back(&team->tasks.helpers, &m->tasks.helper);
    else
        ps_list_push_front(&team->tasks.helpers, &m->tasks.helper);
}
static inline struct ort_thread *ort_helpers_first(struct ort_team *team)
{
    struct ps_list *helpers = &team->tasks.helpers;
    return ps_list_empty(helpers) ? NULL : PS_CONTAINER_OF(helpers->next, struct ort_thread, tasks.helper);
}
#endif

#endif
