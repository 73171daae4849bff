/* The short way of a region that is like the thread's last one; built with ORT_MEMBERS_APART=1.
 *
 * Does: opens, runs and ends a region whose team, shape, clauses, ICVs and kind are those of the thread's last region
 * (team.c, "Alike"). ort_parallel_again or ort_parallel_of_other has compared them. So only the function and the data
 * are new, and a member has nothing to do before and after its call of the function. In rare cases it has something to
 * do, and `anew` is set. Either the member's last region took another path. Or a task that the member ran has got a
 * child, a table of dependences or ICVs of its own (ort_member_changed). Then the member begins and ends as on any
 * other path.
 * A member's counters of work-sharing constructs and singles go on from region to region; at a region's end they are
 * equal in all members. The team's counters are updated only when another path opens the team's next region
 * (ort_region_counts).
 * Two shapes. A thread gets a block for each of two shapes when a shape returns after another one (ort_shape_turn),
 * because then they will probably alternate. A program that does not return to a shape has one block, which takes each
 * new shape. With two blocks, a third shape takes the block that was used longer ago.
 * A member's `base` stays from region to region: its deque is empty when a region begins, so all later items are above
 * it.
 * Does not: serve cancellation (so a member never leaves a loop early), reductions, combined loops, thread limits, or
 * teams for which the entities have no short way.
 *
 * Callers: entry points (ort_parallel_again, ort_parallel_turn), team.c (ort_shape_turn), and the entities, through
 * ee_team_ops. While a member runs, only the member uses its `anew`. Only the parent uses again_bind. */
#include "region.h"
#include "task_internal.h"

/* Exchanges the thread's two blocks. Returns the one that is now hot. */
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

/* Gives each of the two shapes a block: the present one and the one that returns. The smaller shape gets a new block,
 * and the larger shape keeps the present block. Without memory the present block serves both. */
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
        if (is_shape(team, wanted, bind)) /* if it is not, the block takes the new shape, as a single block does */
            ee_team_turn(&team->ee);
        return;
    }
    bool returns = team->wanted_before == wanted && team->bind_before == bind;
    team->wanted_before = team->wanted;
    team->bind_before = team->asked_bind;
    if (returns)
        part(t, wanted);
}

/* Begins the member as on any other path, but keeps its counters of work-sharing constructs and singles. The team's
 * counters are out of date: only regions of other paths write them. */
static PS_NOINLINE void begin_slowly(struct ort_thread *m)
{
    uint32_t ws_seq = m->ws_seq, single_seq = m->single_seq;
    ort_member_begin(m);
    m->ws_seq = ws_seq;
    m->single_seq = single_seq;
    m->anew = false;
}

/* For an assertion: returns 0 if the member has changed nothing for which `anew` must be set (children, dependences, a
 * loop, the flags of its task). */
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
