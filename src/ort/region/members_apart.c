/* Where a team's members are: each in the memory near its core. See ort_member; built with ORT_MEMBERS_APART=1.
 *
 * When the entities map a team, they know on which core a member will run, and ask for its storage in that core's
 * cluster (`near` of ee_team_ops). If the member's storage is in that cluster already, the member keeps it. Otherwise
 * the member gets another storage, and its former one is kept for the next time that the member runs in the former
 * cluster. So a member keeps one set of what lasts from region to region, its hot team above all, in each cluster that
 * it has been in. Member 0 runs on its parent's core and never moves.
 *
 * The first region of a program finds storage that is zeroed and ready in each cluster (ee_zeros_near). The parent then
 * stores only pointers to it, and each member sets its own fields (settle_member). Otherwise the parent would write all
 * of it over the network, member by member.
 *
 * Tasks, and loops that the compiler does not divide, need further storage. It is allocated at the first task or loop,
 * near the member or the team (ort_tasks, ort_in_loops, ort_store). It is freed with the team.
 * Storage of members does not go back to the heap, but to a list for the next team, because thieves may still read it
 * (task_memory.c).
 * Callers: the parent, while no region of the team is open; of ..._make: a member. Shared: the list, under a lock. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "emergency_pool.h"
#include "region.h"
#include "spin.h"

static struct ort_thread *free_ones;
static struct ps_spin lock;

size_t ort_members_bytes(unsigned n_max)
{
    return sizeof(struct ort_team) + n_max * sizeof(struct ort_thread *) + ort_helper_words(n_max) * sizeof(uint32_t);
}

/* Members lie an odd multiple of 16 bytes apart, without padding, so that fewer of them share a memory bank. */
#define APART_BYTES (offsetof(struct ort_apart, implicit) + ORT_TASK_IMPLICIT_BYTES)
_Static_assert(APART_BYTES % 32 == 16, "members would meet at the banks of every other one");
/* The first members of a cluster are in ee_zeros_near's memory: one for each core, one for the opener of their region,
 * and in the first cluster the initial thread. After these as many are allocated in one piece, with one header, as a
 * cluster has cores. */
_Static_assert(EE_ZEROS_BYTES == 18 * APART_BYTES, "ee_zeros_near has room for so many");
#ifndef ORT_APART_TOGETHER
#define ORT_APART_TOGETHER 16
#endif

/* Allocates ORT_APART_TOGETHER storages in cluster `near` in one piece, or a single one if memory is short. Returns the
 * first, and puts the others into the list. NULL: no memory in that cluster. */
static struct ort_thread *get_fresh(int near)
{
    unsigned n = ORT_APART_TOGETHER;
    char *piece = ee_memory_near(near, n * APART_BYTES);
    if (piece == NULL)
        piece = ee_memory_near(near, (n = 1) * APART_BYTES);
    if (piece == NULL)
        return NULL;
    memset(piece, 0, n * APART_BYTES);
    ps_spin_lock(&lock);
    for (unsigned i = n; i-- > 1;) {
        struct ort_apart *a = (struct ort_apart *)(void *)(piece + i * APART_BYTES);
        a->thread.next = free_ones;
        free_ones = &a->thread;
    }
    ps_spin_unlock(&lock);
    return &((struct ort_apart *)(void *)piece)->thread;
}

/* Removes the first storage in cluster `near` from the list, and returns it; NULL: the list has none. */
static struct ort_thread *take_near(struct ort_thread **list, int near)
{
    while (*list != NULL && !ee_is_near(*list, near))
        list = &(*list)->next;
    struct ort_thread *t = *list;
    if (t != NULL)
        *list = t->next;
    return t;
}

/* Returns storage in cluster `near`, zeroed; NULL: no memory in that cluster. */
static struct ort_thread *get(int near)
{
    struct ort_apart *fresh = ee_zeros_near(near, APART_BYTES);
    if (PS_LIKELY(fresh != NULL))
        return &fresh->thread;
    ps_spin_lock(&lock);
    struct ort_thread *t = take_near(&free_ones, near);
    ps_spin_unlock(&lock);
    /* the implicit task behind it is left as it is, because thieves may read it */
    return t != NULL ? memset(t, 0, sizeof *t) : get_fresh(near);
}

static void settle_member(struct ee_member *member, struct ee_team *t, unsigned id)
{
    struct ort_thread *m = PS_CONTAINER_OF(member, struct ort_thread, member);
    m->team = PS_CONTAINER_OF(t, struct ort_team, ee);
    m->id = (uint16_t)id;
}

/* Makes *member point to storage in cluster `near`, or to other storage if that cluster has no memory. Returns false if
 * there is no memory at all. */
static bool move_near(struct ort_thread **member, int near)
{
    struct ort_thread *now = *member;
    if (now != NULL && ee_is_near(now, near))
        return true;
    struct ort_thread *first = now, *t = take_near(&first, near);
    if (t == NULL)
        t = get(near);
    if (t == NULL && now != NULL)
        return true;
    if (t == NULL && (t = get(EE_NEAR_ANY)) == NULL)
        return false;
    if (first != NULL)
        t->next = first;
    *member = t;
    return true;
}

static unsigned near_core(void *members, unsigned id, unsigned n, int near)
{
    struct ort_thread **member = (struct ort_thread **)members + id, **end = member + n;
    while (member != end) {
        struct ort_thread **bare = member;
        while (bare != end && *bare == NULL)
            bare++;
        char *fresh = bare == member ? NULL : ee_zeros_near(near, (size_t)(bare - member) * APART_BYTES);
        if (fresh != NULL)
            for (; member != bare; member++, fresh += APART_BYTES)
                *member = &((struct ort_apart *)(void *)fresh)->thread;
        else if (move_near(member, near))
            member++;
        else
            break;
    }
    return n - (unsigned)(end - member);
}

bool ort_members_get(struct ort_team *team)
{
    team->apart = (struct ort_thread **)(void *)(team + 1);
    struct ort_thread *t = get(EE_NEAR_HERE);
    if (t == NULL && (t = get(EE_NEAR_ANY)) == NULL)
        return false;
    t->team = team;
    team->apart[0] = t;
    return true;
}

void ort_members_part(struct ort_team *smaller, struct ort_team *team, bool present)
{
    struct ort_thread *first = smaller->apart[0], *before = team->apart[0];
    first->hot = before->hot;
    before->hot = NULL;
    for (struct ort_team *inner = first->hot; inner != NULL; inner = inner->other)
        inner->parent = first;
    ort_hot_forget(first);
    if (present && team->ee_ready) { /* the entities' mapping of the team contains members that move away */
        ee_team_fini(&team->ee);
        team->ee_ready = false;
    }
    for (unsigned id = 1; id < smaller->n_max && id < team->n_max; id++) {
        struct ort_thread *now = team->apart[id], *rest = now != NULL ? now->next : NULL;
        if (now != NULL)
            now->next = NULL;
        team->apart[id] = present ? rest : now;
        smaller->apart[id] = present ? now : rest;
        for (struct ort_thread *t = smaller->apart[id]; t != NULL; t = t->next) {
            t->team = smaller;
            /* Entities count regions team by team: the member's last one could be taken for the new team's present
             * one. */
            memset(&t->member, 0, sizeof t->member);
            ort_hot_forget(t); /* its former shape numbers mean nothing in the new block */
        }
    }
}

void ort_members_give(struct ort_team *team)
{
    for (unsigned i = 0; i < team->n_max; i++)
        for (struct ort_thread *t = team->apart[i], *next; t != NULL; t = next) {
            next = t->next;
            ps_spin_lock(&lock);
            t->next = free_ones;
            free_ones = t;
            ps_spin_unlock(&lock);
        }
}

/* Returns zeroed memory near `beside`, the member or the team that it is for, not near the caller. */
static void *get_more(const void *beside, size_t bytes)
{
    void *p = ee_memory_beside(beside, bytes);
    if (p == NULL)
        p = ort_emergency_pool_take(bytes, 0);
    PS_CHECK(p != NULL, "no memory for the loops or tasks of a team (%zu bytes)", bytes);
    return memset(p, 0, bytes);
}

static void give_more(void *p)
{
    if (p != NULL && !ort_emergency_pool_give(p))
        free(p);
}

struct ort_task_member *ort_tasks_make(struct ort_thread *t)
{
    struct ort_task_member *own = get_more(t, sizeof *own);
    own->thread = t;
    ps_store_release(&t->tasks, own); /* release: thieves acquire it */
    return own;
}

struct ort_in_loops *ort_in_loops_make(struct ort_thread *t)
{
    struct ort_in_loops *own = get_more(t, sizeof *own);
    ps_store_release(&t->in_loops, own); /* release: members that take chunks from this one acquire it */
    return own;
}

struct ort_team_store *ort_store_make(struct ort_team *team)
{
    struct ort_team_store *store = get_more(team, sizeof *store), *other = NULL;
    ort_ws_open(store->ring);
    if (ps_cas_acq_rel(&team->store, &other, store))
        return store;
    give_more(store);
    return other;
}

void ort_store_give(struct ort_team *team)
{
    give_more(ps_load_relaxed(&team->store));
    ps_store_relaxed(&team->store, NULL);
}

void ort_member_bare(struct ort_thread *t)
{
    give_more(ps_load_relaxed(&t->tasks));
    give_more(ps_load_relaxed(&t->in_loops));
    ps_store_relaxed(&t->tasks, NULL);
    ps_store_relaxed(&t->in_loops, NULL);
}

static void rest(struct ee_member *member) { ort_task_rest(PS_CONTAINER_OF(member, struct ort_thread, member)); }

void ort_members_entities(struct ort_team *team, const struct ee_team_ops *ops)
{
    static struct ee_team_ops apart_ops; /* several threads may fill it in at once: all store the same values */
    apart_ops.body = ops->body;
    apart_ops.assist = ops->assist;
    apart_ops.idle = ops->idle;
    apart_ops.near = near_core;
    apart_ops.settle = settle_member;
    apart_ops.rest = rest;
    apart_ops.again = ort_member_again;
    apart_ops.ended = ort_region_ended;
    apart_ops.otherwise = ort_region_otherwise;
    ee_team_init(&team->ee, &apart_ops, team->apart, 0, team->n_max);
}

/* Visits also the storages that a member has in other clusters. */
void ort_members_visit(struct ort_team *team, void (*visit)(struct ort_thread *t))
{
    for (unsigned i = 0; i < team->n_max; i++)
        for (struct ort_thread *t = team->apart[i]; t != NULL; t = t->next)
            visit(t);
}

/* Does nothing: what an entity keeps belongs to its core, whatever storage the member has. */
void ort_members_succeed(struct ort_team *larger, struct ort_team *team) { (void)larger, (void)team; }
