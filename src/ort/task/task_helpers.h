/* The set of a team's helpers: members whose bodies have returned, and that find no task (task_sleep.c).
 *
 * ort_helpers_add also counts the member in `takers`. Callers of _has, _remove and _first hold the team's lock.
 * ort_helpers_init empties a set that may be half changed, ort_helpers_clear any other; both are called when no other
 * member is there. ort_helpers_first returns the helper that is to be called next: the one that was added last, member
 * 0 after all others; NULL: there is none.
 * Usually the set is a list whose links are in the members. With members apart it is a bit for each member in the
 * team's memory: a link would be in the memory of another cluster. There a member is added without the lock, for which
 * many members would wait. The one that calls it may then count it out of `takers` before it is counted in; so `takers`
 * may be -1 for a moment, which other threads take for a helper. */
#ifndef PS_ORT_TASK_HELPERS_H
#define PS_ORT_TASK_HELPERS_H

#include "task_internal.h"

#if ORT_MEMBERS_APART
static inline void ort_helpers_clear(struct ort_team *team)
{
    for (unsigned w = 0; w < ort_helper_words(team->n); w++)
        ps_store_relaxed(&ort_helper_bits(team)[w], 0);
}
static inline void ort_helpers_init(struct ort_team *team) { ort_helpers_clear(team); }
static inline bool ort_helpers_has(struct ort_team *team, const struct ort_thread *m)
{
    return ps_load_relaxed(&ort_helper_bits(team)[m->id / 32]) >> m->id % 32 & 1;
}
static inline void ort_helpers_remove(struct ort_team *team, struct ort_thread *m)
{
    ps_and_acq_rel(&ort_helper_bits(team)[m->id / 32], ~(1u << m->id % 32));
}
static inline void ort_helpers_add(struct ort_team *team, struct ort_thread *m)
{
    ps_or_acq_rel(&ort_helper_bits(team)[m->id / 32], 1u << m->id % 32);
    ps_store_relaxed(&team->tasks.last_helper, m->id);
    ps_add_seq(&team->tasks.takers, 1);
}
static inline struct ort_thread *ort_helpers_first(struct ort_team *team)
{
    _Atomic uint32_t *set = ort_helper_bits(team);
    unsigned id = ps_load_relaxed(&team->tasks.last_helper), words = ort_helper_words(team->n), w = id / 32;
    if (id != 0 && ps_load_acquire(&set[w]) >> id % 32 & 1)
        return ort_member(team, id);
    for (unsigned i = 0; i < words; i++, w = w + 1 < words ? w + 1 : 0) {
        uint32_t bits = ps_load_acquire(&set[w]) & (w == 0 ? ~1u : ~0u);
        if (bits == 0)
            continue;
        for (id = w * 32; !(bits & 1); bits >>= 1)
            id++;
        return ort_member(team, id);
    }
    return ps_load_acquire(&set[0]) & 1 ? ort_member(team, 0) : NULL;
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
    ps_spin_lock(&team->tasks.lock);
    if (m->id == 0)
        ps_list_push_back(&team->tasks.helpers, &m->tasks.helper);
    else
        ps_list_push_front(&team->tasks.helpers, &m->tasks.helper);
    ps_add_seq(&team->tasks.takers, 1);
    ps_spin_unlock(&team->tasks.lock);
}
static inline struct ort_thread *ort_helpers_first(struct ort_team *team)
{
    struct ps_list *helpers = &team->tasks.helpers;
    return ps_list_empty(helpers) ? NULL : PS_CONTAINER_OF(helpers->next, struct ort_thread, tasks.helper);
}
#endif

#endif
