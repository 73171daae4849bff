/* Where a team's members stand: each in the memory near its core. See ort_member; built with ORT_MEMBERS_APART=1.
 *
 * The entities know on which core a member will run when they map the team, and ask for its storage near it then
 * (`near` of ee_team_ops). What the member has already stays where it is near; else another one is taken, and the
 * former is kept for the next time that the member is there. So a thread has what it keeps from region to region, its
 * hot team above all, once for each cluster that it has been in. Member 0 runs on its parent's core and never moves.
 *
 * Storage is not given back to the heap, but to a list for the next team: thieves may look through it (task_memory.c).
 * Callers: the parent, no region of the team open. Shared: the list, under a lock. */
#include <string.h>

#include "emergency_pool.h"
#include "spin.h"
#include "task_internal.h"
#include "team.h"

struct apart {
    struct ort_thread thread;
    struct ort_task_implicit implicit;
    struct apart *next; /* free, or of the same member in another cluster's memory */
};

static struct apart *free_ones;
static struct ps_spin lock;

size_t ort_members_bytes(unsigned n_max) { return sizeof(struct ort_team) + n_max * sizeof(struct ort_thread *); }

static struct apart *of(struct ort_thread *t) { return PS_CONTAINER_OF(t, struct apart, thread); }

/* Fresh, for member id; NULL: no memory there. */
static struct apart *get(struct ort_team *team, unsigned id, int near)
{
    ps_spin_lock(&lock);
    struct apart **at = &free_ones;
    while (*at != NULL && !ee_is_near(*at, near))
        at = &(*at)->next;
    struct apart *a = *at;
    if (a != NULL)
        *at = a->next;
    ps_spin_unlock(&lock);
    if (a != NULL) { /* what thieves read of the implicit task stays as it is */
        memset(&a->thread, 0, sizeof a->thread);
    } else {
        a = ee_memory_near(near, sizeof *a);
        if (a == NULL)
            return NULL;
        memset(a, 0, sizeof *a);
    }
    a->next = NULL;
    a->thread.team = team;
    a->thread.id = id;
    a->thread.tasks.implicit = &a->implicit;
    return a;
}

static struct ee_member *near_core(void *members, unsigned id, int near)
{
    struct ort_thread **table = members;
    struct ort_thread *now = table[id];
    if (now != NULL && ee_is_near(now, near))
        return &now->member;
    struct apart *first = now != NULL ? of(now) : NULL, **at = &first;
    while (*at != NULL && !ee_is_near(*at, near))
        at = &(*at)->next;
    struct apart *a = *at;
    if (a != NULL)
        *at = a->next;
    else
        a = get(table[0]->team, id, near);
    if (a == NULL && now != NULL)
        return &now->member;
    if (a == NULL && (a = get(table[0]->team, id, EE_NEAR_ANY)) == NULL)
        return NULL;
    a->next = first;
    table[id] = &a->thread;
    return &a->thread.member;
}

static void again(struct ee_member *member, void (*fn)(void *), void *data)
{
    struct ort_thread *m = PS_CONTAINER_OF(member, struct ort_thread, member);
    ort_member_begin_again(m);
    fn(data);
    ort_member_ends(m);
}

bool ort_members_get(struct ort_team *team)
{
    team->apart = (struct ort_thread **)(void *)(team + 1);
    struct apart *a = get(team, 0, EE_NEAR_HERE);
    if (a == NULL && (a = get(team, 0, EE_NEAR_ANY)) == NULL)
        return false;
    team->apart[0] = &a->thread;
    return true;
}

void ort_members_give(struct ort_team *team)
{
    for (unsigned i = 0; i < team->n_max; i++)
        for (struct apart *a = team->apart[i] != NULL ? of(team->apart[i]) : NULL, *next; a != NULL; a = next) {
            next = a->next;
            ps_spin_lock(&lock);
            a->next = free_ones;
            free_ones = a;
            ps_spin_unlock(&lock);
        }
}

void ort_members_entities(struct ort_team *team, const struct ee_team_ops *ops)
{
    static struct ee_team_ops apart_ops; /* each store writes what others have written or will write */
    apart_ops.body = ops->body;
    apart_ops.assist = ops->assist;
    apart_ops.near = near_core;
    apart_ops.again = again;
    ee_team_init(&team->ee, &apart_ops, team->apart, 0, team->n_max);
}

/* Also those that other clusters keep of a member. */
void ort_members_visit(struct ort_team *team, void (*visit)(struct ort_thread *t))
{
    for (unsigned i = 0; i < team->n_max; i++)
        for (struct apart *a = team->apart[i] != NULL ? of(team->apart[i]) : NULL; a != NULL; a = a->next)
            visit(&a->thread);
}
