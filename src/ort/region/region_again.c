/* A region like the thread's last one, by the shortest path; built with ORT_MEMBERS_APART=1.
 *
 * Does: opens, runs and ends a region whose team, shape, clauses, ICVs and kind are those of the thread's last one
 * (team.c, "Alike"). ort_parallel_again has compared them, so nothing of the team is set but function and data, and a
 * member has nothing to do before and after its share. The rare cases are told by `anew`: the member has run its last
 * region by another path, or its implicit task has got a child, a table of dependences or ICVs of its own
 * (ort_member_changed). Then the member begins and ends as on any other path.
 * A member's counters of work-sharing constructs and singles go on from region to region, and are the same in all
 * members at a region's end. The team's are brought up to date when another path opens its next region
 * (ort_region_counts).
 * Two shapes. A thread keeps a block for each of two shapes, once a shape has come back after another one
 * (ort_shape_turn): then the shapes will go on in turn. A program that leaves its shapes one after the other has one
 * block, which takes each of them. Of two blocks a third shape takes the one that was used longer ago.
 * `base` of a member stays: its deque is empty when a region begins, so that all it holds later is above any base of
 * before.
 * Does not: cancellation (so no loop is left in its middle), reductions, combined loops, thread limits, teams for which
 * the entities have no fast path.
 *
 * Callers: entry points, as ort_parallel. `anew` of a member is its own while it runs; again_bind of a team its
 * parent's. */
#include "region.h"
#include "task_internal.h"

/* The thread's two blocks change places. */
static struct ort_team *turn(struct ort_thread *t)
{
    struct ort_team *now = t->hot, *other = now->other;
    now->other = NULL;
    other->other = now;
    t->hot = other;
    return other;
}

bool ort_parallel_of_other(struct ort_thread *t, void (*fn)(void *), void *data, unsigned num_threads, unsigned bind)
{
    struct ort_team *team = t->hot->other;
    if (team->within != ort_shape_around(t) || team->asked != num_threads || team->again_bind != bind ||
        team->icv_then != t->task->icv)
        return false;
    turn(t);
    ee_team_turn(&team->ee);
    ee_team_run_again(&team->ee, fn, data);
    return true;
}

static bool is_shape(const struct ort_team *team, unsigned wanted, int8_t bind)
{
    return team->wanted == wanted && team->asked_bind == bind;
}

/* Makes a block for the smaller one of the present shape and of the one that returns; the block that there is has the
 * other one. Where there is no memory it goes on to take both. */
static void part(struct ort_thread *t, unsigned wanted)
{
    struct ort_team *team = t->hot;
    bool present = team->wanted < wanted;
    struct ort_team *smaller = ort_team_alloc(present ? team->wanted : wanted);
    if (smaller == NULL)
        return;
    smaller->parent = t;
    smaller->wanted = team->wanted;
    smaller->asked_bind = team->asked_bind;
    ort_members_part(smaller, team, present);
    if (present) {
        team->other = smaller;
    } else {
        smaller->other = team;
        t->hot = smaller;
    }
}

void ort_shape_turn(struct ort_thread *t, unsigned wanted, int8_t bind)
{
    struct ort_team *team = t->hot;
    if (team == NULL || is_shape(team, wanted, bind))
        return;
    if (team->other != NULL) {
        team = turn(t);
        if (is_shape(team, wanted, bind)) /* else it takes that shape */
            ee_team_turn(&team->ee);
        return;
    }
    bool returns = team->wanted_before == wanted && team->bind_before == bind;
    team->wanted_before = team->wanted;
    team->bind_before = team->asked_bind;
    if (returns)
        part(t, wanted);
}

/* Begins the member as on any other path, but its counters go on: those in the team are of the last region that took
 * another path. */
static PS_NOINLINE void begin_slowly(struct ort_thread *m)
{
    uint32_t ws_seq = m->ws_seq, single_seq = m->single_seq;
    ort_member_begin(m);
    m->ws_seq = ws_seq;
    m->single_seq = single_seq;
    m->anew = false;
}

/* What `anew` tells of; 0: nothing differs from how the region began. */
static inline PS_UNUSED uint64_t changes(const struct ort_thread *m)
{
    const struct ort_task *t = m->task;
    const struct ort_loop *loop = ort_loop_or_none(m);
    return (uint64_t)t->count.own | (uintptr_t)t->depends | (loop != NULL ? (uintptr_t)loop->ws : 0) |
           (unsigned)(t->flags ^ ORT_TASK_IMPLICIT);
}

void ort_member_again(struct ee_member *member, void (*fn)(void *), void *data)
{
    struct ort_thread *m = PS_CONTAINER_OF(member, struct ort_thread, member);
    if (PS_UNLIKELY(m->anew))
        begin_slowly(m);
    fn(data);
    PS_ASSERT(m->anew || changes(m) == 0);
    if (PS_UNLIKELY(m->anew))
        ort_member_ends(m);
}

void ort_region_ended(struct ee_member *first)
{
    ort_task_team_end(PS_CONTAINER_OF(first, struct ort_thread, member)->team);
}

void ort_region_otherwise(struct ee_team *t, void (*fn)(void *), void *data)
{
    struct ort_team *team = PS_CONTAINER_OF(t, struct ort_team, ee);
    ort_parallel(&(struct ort_parallel){
        .fn = fn,
        .data = data,
        .num_threads = team->asked,
        .bind = (enum ort_bind)team->asked_bind,
    });
}
