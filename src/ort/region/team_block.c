/* Team blocks: how they are allocated, replaced by larger ones, and freed. Storage and states: core/team_block.h.
 *
 * Callers: the thread that opens a region. ort_team_free is also called by a thread that frees a root's block.
 * Failures: without memory the region gets fewer members, and one line says so once. Without memory for a region of one
 * thread the program ends with one line. */
#include "region.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "emergency_pool.h"

struct ort_team *ort_team_alloc(unsigned n_max)
{
    size_t bytes = ort_members_bytes(n_max);
    void *p;
    if (posix_memalign(&p, PS_CACHE_LINE, bytes) != 0 && (n_max > 1 || (p = ort_emergency_pool_take(bytes, 0)) == NULL))
        return NULL;
    memset(p, 0, bytes);
    struct ort_team *team = p;
    team->n_max = n_max;
    ort_ws_reset(team, 0);
    if (PS_UNLIKELY(!ort_task_team_init(team))) {
        if (!ort_emergency_pool_give(team))
            free(team);
        return NULL;
    }
    return team;
}

unsigned ort_group_limited(struct ort_group *group, unsigned limit, unsigned n)
{
    uint32_t busy = ps_load_relaxed(&group->busy), granted;
    do {
        unsigned left = limit > busy ? limit - busy + 1 : 1;
        granted = n < left ? n : left;
    } while (!ps_cas_relaxed(&group->busy, &busy, busy + granted - 1));
    return granted;
}

void ort_hot_free(struct ort_thread *t)
{
#if ORT_MEMBERS_APART
    if (t->hot != NULL && t->hot->other != NULL)
        ort_team_free(t->hot->other);
#endif
    if (t->hot != NULL)
        ort_team_free(t->hot);
    t->hot = NULL;
}

static void member_free(struct ort_thread *t)
{
    ort_hot_free(t);
    if (t->task != NULL && t->team->parent == NULL) /* without a task its team may not be set (members_apart.c) */
        ort_icv_drop(t->task->icv, t->task);
    ort_task_thread_fini(t);
    ort_member_bare(t);
}

void ort_team_free(struct ort_team *team)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_team_ends(team);
    ort_members_visit(team, member_free);
    if (team->ee_ready)
        ee_team_fini(&team->ee);
    ort_task_team_fini(team);
    ort_ws_fini(team);
    if (PS_LIKELY(!ort_emergency_pool_give(team)))
        free(team);
}

PS_COLD void ort_team_shrunk(unsigned wanted, unsigned got, const char *why)
{
    static _Atomic bool said;
    if (!ps_xchg_acq_rel(&said, true))
        ps_warn("a parallel region of %u threads gets %u: %s", wanted, got, why);
}

#define BLOCK_TRIES 1000 /* how often a thread that has no block tries again to get a block of one */

/* Moves the members of `team` to the larger block that replaces it. */
static void succeed(struct ort_team *larger, struct ort_team *team)
{
    if (!team->ee_ready)
        return;
    ort_members_entities(larger, &ort_team_ops);
    larger->ee_ready = true;
    ort_members_succeed(larger, team);
}

struct ort_team *ort_team_block(struct ort_thread *t, unsigned *n)
{
    struct ort_team *team = t->hot;
    if (team != NULL && team->n_max >= *n)
        return team;
    unsigned wanted = *n, most = team != NULL ? team->n_max : 0;
    struct ort_team *larger = NULL;
    /* Frees the entities' mapping of the old block first: there may be no memory for two mappings. */
    if (ORT_MEMBERS_APART && team != NULL && team->ee_ready) {
        ee_team_fini(&team->ee);
        team->ee_ready = false;
    }
    while (*n > most && (larger = ort_team_alloc(*n)) == NULL)
        *n /= 2;
    if (PS_UNLIKELY(larger != NULL && wanted > *n && most < *n / 2)) {
        /* Memory is nearly exhausted. So this thread takes a block of half that size instead, and leaves the other half
         * to threads that may need a region of one. */
        ort_team_free(larger);
        *n /= 2;
        larger = ort_team_alloc(*n);
    }
    for (int i = 0; PS_UNLIKELY(larger == NULL && team == NULL) && i < BLOCK_TRIES; i++) {
        ee_yield(); /* another thread, which has got the last memory, takes a block of half the size instead (above) */
        larger = ort_team_alloc(*n = 1);
    }
    if (larger != NULL) {
        larger->parent = t;
        t->hot = larger;
        if (team != NULL) {
#if ORT_MEMBERS_APART
            larger->other = team->other;
            larger->wanted_before = team->wanted_before;
            larger->bind_before = team->bind_before;
#endif
            succeed(larger, team);
            ort_team_free(team);
        }
        team = larger;
    } else {
        PS_CHECK(team != NULL, "no memory for a parallel region of one thread");
        *n = most;
    }
    if (PS_UNLIKELY(*n < wanted))
        ort_team_shrunk(wanted, *n, "no memory");
    return team;
}
