/* Regions. Storage and states: team_block.h.
 *
 * A region in steps:
 *   1. start decides how many members are wanted (size), takes the parent's hot block or a larger one, asks how many
 *      the entities grant (ee_team_reserve), sets the team's fields, and forks. The caller begins as member 0.
 *   2. body, called for each other member: the member begins, runs the outlined function, and ends.
 *   3. end_region ends member 0, waits for the others (ee_team_join), and closes the team.
 * Alike. Most regions are opened again and again by the same thread with the same clauses. A region's size, places,
 * level and ICVs depend on the clauses, on the opening task's ICVs, and on the region around it. That region is
 * represented by one number, its shape, which changes whenever something in it may have changed. So if four words are
 * equal to the last region's, nothing is computed again. One of these is the address of the ICVs. The address stands
 * for their values only if the ICVs stay: if the opening task is implicit and the ICVs are not its own. (A task's own
 * ICVs may be freed, and another task's may get their address; only an initial thread's stay.) Otherwise `within` is 0,
 * and the next region computes all. ort_icv_write also sets `within` to 0, as does new_shape in other cases.
 * A member takes its counters from the team when it begins (ort_member_begin). It ends when the explicit tasks below
 * its implicit task have ended (task.h). Cost: the parent writes about three cache lines of its own team, and nothing
 * for each member.
 * With dyn-var true a team has at most as many members as vps (OpenMP 5.2, algorithm 10.1 leaves it open). */
#include "region.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "display.h"
#include "emergency_pool.h"
#include "place.h"
#include "probe.h"
#include "race.h"
#include "task_internal.h"

/* Under a thread sanitizer each member but the parent waits here, until all members but the parent have begun. Members
 * that ran one after the other on one stack would be ordered by the stack's reuse, which would hide their races. */
static void begin_together(struct ort_team *team)
{
    uint32_t others = team->n - 1, begun = ps_add_acq_rel(&team->begun, 1) + 1;
    if (begun == others)
        ee_wake(&team->begun, UINT_MAX);
    while (begun < others) {
        ee_wait(&team->begun, begun);
        begun = ps_load_acquire(&team->begun);
    }
    ps_race_acquire(&team->fn);
}

static inline void run_member_body(struct ort_thread *m)
{
    if (PS_UNLIKELY(ort_tool_on())) {
        ort_tool_run(m->team->fn, m->team->data);
        ort_tool_member_ends(m);
        ort_member_drops(m);
    } else {
        m->team->fn(m->team->data);
        ort_member_ends(m);
    }
}

static void body(struct ee_member *member)
{
    struct ort_thread *m = PS_CONTAINER_OF(member, struct ort_thread, member);
    ort_member_begin(m);
    if (ps_race_enabled()) {
        begin_together(m->team);
        run_member_body(m);
        ps_race_release(&m->team->tasks);
    } else {
        run_member_body(m);
    }
}

static void assist_with_tasks(struct ee_member *member)
{
    ort_task_assist(PS_CONTAINER_OF(member, struct ort_thread, member));
}
static bool idle(struct ee_member *member) { return ort_task_idle(PS_CONTAINER_OF(member, struct ort_thread, member)); }

static bool any(struct ee_member *member)
{
    return ort_task_any(PS_CONTAINER_OF(member, struct ort_thread, member)->team);
}

void (*ort_common_fn)(void *data);

static const void *place(struct ee_member *first)
{
    const struct ort_team *team = PS_CONTAINER_OF(first, struct ort_thread, member)->team;
    return team->fn == ort_common_fn ? *(const void *const *)team->data : (const void *)(uintptr_t)team->fn;
}

const struct ee_team_ops ort_team_ops = {
    .body = body, .assist = assist_with_tasks, .idle = idle, .any = any, .place = place};

static PS_NOINLINE void watched_member_begins(struct ort_thread *m)
{
    if (ort_settings.display_affinity)
        ort_affinity_member_begins(m);
    if (!ort_tool_attached())
        return; /* no tool is attached yet, or it has ended */
    if (m->team->parent == NULL)
        ort_tool_root_begins(m);
    else
        ort_tool_member_begins(m);
}

void ort_member_begin(struct ort_thread *m)
{
    struct ort_team *team = m->team;
    ort_member_reshaped(m);
    m->ws_seq = team->ws_base;
    m->single_seq = team->single_base;
    ort_member_begin_own(m);
    ort_task_member_begin(m, team->icv);
    if (PS_UNLIKELY(ORT_TOOLS && (ort_settings.display_affinity | ort_tool_on())))
        watched_member_begins(m);
    if (PS_UNLIKELY(team->begins_in != ORT_BEGINS_PLAIN))
        ort_ws_begin_in(m);
}

static PS_ALWAYS_INLINE unsigned size(const struct ort_thread *t, unsigned num_threads)
{
    const struct ort_icv *icv = ort_icv(t);
    unsigned n = num_threads != 0 ? num_threads : icv->nthreads;
    if (n == 1 || t->team->active_level >= icv->max_active_levels)
        return 1;
    if (icv->dynamic && n > ee_num_vps())
        n = ee_num_vps();
    return n;
}

unsigned ort_parallel_size_now(struct ort_thread *t, unsigned num_threads)
{
    unsigned n = size(t, num_threads), limit = ort_icv(t)->thread_limit;
    if (limit == UINT_MAX)
        return n;
    uint32_t busy = ps_load_relaxed(&t->team->contention->busy);
    unsigned left = limit > busy ? limit - busy + 1 : 1;
    return n < left ? n : left;
}

/* Returns the ICVs of the implicit tasks: the parent's, with the next element of OMP_NUM_THREADS. Sets bind-var: the
 * next element of OMP_PROC_BIND, or the policy of this region. (So a proc_bind clause is inherited, as in libgomp.) */
static struct ort_icv *inherit(struct ort_team *team, const struct ort_team *outer, struct ort_icv *icv)
{
    team->bind_used = outer->bind_used;
    if (PS_UNLIKELY(team->bind_used < ort_settings.bind_rest))
        team->bind_var = ort_settings.bind_list[team->bind_used++];
    else
        team->bind_var = (uint8_t)team->bind;
    if (PS_LIKELY(icv->nthreads_rest == 0))
        return icv;
    struct ort_icv *own = ort_icv_store(team);
    ort_icv_copy(own, icv);
    own->owner = NULL;
    own->older = NULL;
    own->nthreads = *own->nthreads_list++;
    own->nthreads_rest--;
    return own;
}

/* Tells the entities where n members are to run. Returns how many they grant. */
static PS_ALWAYS_INLINE unsigned reserve_members(struct ort_team *team, int8_t bind, unsigned n)
{
    if (PS_UNLIKELY(ort_settings.bind != ORT_BIND_FALSE))
        ort_place_bind(team, bind, n);
    unsigned granted = ee_team_reserve(&team->ee, n); /* prints why if it grants fewer */
    if (PS_UNLIKELY(granted < n) && ort_settings.bind != ORT_BIND_FALSE)
        ort_place_bind(team, bind, granted);
    return granted;
}

/* Does what admit does, if t's block is new to the entities, missing or too small, or a thread limit is set. */
static PS_NOINLINE struct ort_team *admit_slowly(struct ort_thread *t, int8_t bind, unsigned *n, bool *counted)
{
    const struct ort_icv *icv = ort_icv(t);
    struct ort_group *group = t->team->contention;
    *counted = *n > 1 && icv->thread_limit != UINT_MAX;
    if (*counted)
        *n = ort_group_limited(group, icv->thread_limit, *n);
    unsigned wanted = *n;
    if (PS_UNLIKELY(*n > ORT_THREADS_MAX)) {
        *n = ORT_THREADS_MAX;
        ort_team_shrunk(wanted, *n, "that is the most there can be");
    }
    struct ort_team *team = ort_team_block(t, n);
    if (*n > 1) {
        if (!team->ee_ready) {
            ort_members_entities(team, &ort_team_ops);
            team->ee_ready = true;
        }
        *n = reserve_members(team, bind, *n);
    }
    if (*counted && *n < wanted)
        ps_sub_relaxed(&group->busy, wanted - *n);
    return team;
}

/* Returns the block for a region of *n members that t asks for. *n becomes the number that t gets. *counted becomes
 * whether they are counted in the contention group. */
static PS_ALWAYS_INLINE struct ort_team *admit(struct ort_thread *t, int8_t bind, unsigned *n, bool *counted)
{
    struct ort_team *team = t->hot;
    if (PS_UNLIKELY(team == NULL || !team->ee_ready || *n > team->n_max || ort_icv(t)->thread_limit != UINT_MAX))
        return admit_slowly(t, bind, n, counted);
    *counted = false;
    if (*n > 1)
        *n = reserve_members(team, bind, *n);
    return team;
}

static inline void reshape(struct ort_team *team)
{
    if (PS_UNLIKELY(++team->shape == 0))
        team->shape = 1;
}

void ort_team_reshaped(struct ort_team *team)
{
    reshape(team);
    team->within = 0;
    ort_member_reshaped(ort_member(team, 0));
}

/* Returns the team for a region that is not alike. granted: how many members the entities have granted to t->hot for
 * this region; 0: they have not been asked. */
static PS_NOINLINE struct ort_team *new_shape(struct ort_thread *t, const struct ort_parallel *region, unsigned granted)
{
    struct ort_team *outer = t->team;
    struct ort_task *task = t->task;
    struct ort_icv *icv = task->icv;
    unsigned wanted = size(t, region->num_threads), n = wanted;
    bool counted, follow = outer->bind_var == ORT_BIND_FALSE || region->bind == ORT_BIND_UNSET;
    int8_t bind = (int8_t)(follow ? outer->bind_var : region->bind);
    struct ort_team *team = granted == 0 ? admit(t, bind, &n, &counted) : t->hot;
    if (PS_UNLIKELY(granted != 0)) {
        n = granted;
        counted = false;
        if (ort_settings.bind != ORT_BIND_FALSE)
            ort_place_bind(team, bind, n);
    }
    team->within = 0; /* if the process forks in the middle of this function, the child computes all again */
    ps_update(team->n, n);
    bool parallel = region->group == NULL;
    team->contention = parallel ? outer->contention : region->group;
    team->counted = counted;
    team->level = outer->level + parallel;
    team->active_level = outer->active_level + (parallel && n > 1);
    team->outermost = !outer->enclosed;
    team->cancellable = ort_settings.cancellation;
    team->enclosed = outer->enclosed || n > 1;
    team->bind = bind;
    struct ort_icv *inherited = inherit(team, outer, icv);
    ps_update(team->icv, inherited);
    reshape(team);
    ort_shape_is(team, wanted);
    team->asked = region->num_threads;
    team->asked_bind = (int8_t)region->bind;
    team->icv_then = icv;
    bool lasting = (task->flags & ORT_TASK_IMPLICIT) && (icv->owner != task || outer->parent == NULL);
    team->within = lasting && n == wanted && !counted && !icv->dynamic && parallel ? outer->shape : 0;
    return team;
}

/* Returns whether the region is like the last one; whether the entities grant as many members is not asked yet. */
static PS_ALWAYS_INLINE bool same_shape(const struct ort_thread *t, const struct ort_parallel *region)
{
    const struct ort_team *team = t->hot;
    return PS_LIKELY(team != NULL && team->within == ort_shape_around(t) && team->asked == region->num_threads &&
                     team->asked_bind == (int8_t)region->bind && team->icv_then == t->task->icv);
}

/* Returns whether t's region is like the last one of t->hot, and gets as many members. *granted: how many members the
 * entities grant; 0: the region is not alike, so they were not asked. */
static PS_ALWAYS_INLINE bool is_alike(const struct ort_thread *t, const struct ort_parallel *region, unsigned *granted)
{
    struct ort_team *team = t->hot;
    unsigned n = same_shape(t, region) ? team->n : 0;
    *granted = n > 1 ? ee_team_reserve(&team->ee, n) : n;
    return *granted != 0 && *granted == n;
}

/* As team_for, for a region that is not like the last one of t->hot. With members apart t's other block may fit. */
static PS_NOINLINE struct ort_team *other_shape(struct ort_thread *t, const struct ort_parallel *region,
                                                unsigned granted, bool *alike)
{
    if (granted == 0) {
        ort_shape_turn(t, size(t, region->num_threads), (int8_t)region->bind);
        *alike = is_alike(t, region, &granted);
    }
    return *alike ? t->hot : new_shape(t, region, granted);
}

/* Returns the team of t's next region. *alike: the team is set for it already, by a former region. */
static PS_ALWAYS_INLINE struct ort_team *team_for(struct ort_thread *t, const struct ort_parallel *region, bool *alike)
{
    unsigned granted;
    *alike = is_alike(t, region, &granted);
    if (PS_LIKELY(*alike))
        return t->hot;
    return ORT_MEMBERS_APART ? other_shape(t, region, granted, alike) : new_shape(t, region, granted);
}

/* Stores in the team what its members run: function, data, task reductions, a combined loop. */
static PS_ALWAYS_INLINE void describe_region(struct ort_team *team, const struct ort_parallel *region)
{
    ort_region_counts(team);
    ps_update(team->fn, region->fn);
    ps_update(team->data, region->data);
    ps_update(team->group, NULL);
    if (PS_UNLIKELY(region->reductions != NULL)) {
        team->group = ort_group_store(team);
        ort_parallel_reduction_start(team->group, region->reductions, team->n);
    }
    uint8_t begins_in = region->loop != NULL ? ort_ws_prepare(team, region->loop) : ORT_BEGINS_PLAIN;
    ps_update(team->begins_in, begins_in);
}

/* Opens the region, and returns its team, of which the caller is now member 0. Inlined, like end_region: each region
 * calls both once. */
static PS_ALWAYS_INLINE struct ort_team *start(const struct ort_parallel *region)
{
    struct ort_thread *t = ort_self_inline();
    bool alike, again = false;
    struct ort_team *team = team_for(t, region, &alike);
    unsigned n = team->n;
    describe_region(team, region);
    if (ORT_MEMBERS_APART) {
        bool plain = n > 1 && region->loop == NULL && region->reductions == NULL;
        again = plain && alike && team->plain;
        team->plain = plain;
    }
    t->open = team;
    PS_PROBE2(region__begin, region->fn, n);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_region_begins(t, team, region);
    if (ps_race_enabled()) {
        ps_store_relaxed(&team->begun, 0);
        ps_race_release(&team->fn);
    }
    /* ORT_MEMBERS_APART is tested so that unoptimised builds with other entities do not refer to ee_team_again. */
    if (ORT_MEMBERS_APART && PS_LIKELY(again)) {
        ee_team_again(&team->ee, region->fn, region->data);
        ort_member_begin_again(ort_member(team, 0));
        return team;
    }
    if (n > 1)
        ee_team_fork(&team->ee, n, team->outermost);
    else
        ee_set_local(ort_member(team, 0));
    ort_member_begin(ort_member(team, 0));
    return team;
}

static PS_ALWAYS_INLINE void end_region(struct ort_team *team)
{
    struct ort_thread *m = ort_member(team, 0);
    struct ort_thread *parent = team->parent;
    if (PS_UNLIKELY(ort_tool_on())) {
        ort_tool_member_ends(m);
        ort_member_drops(m);
    } else {
        ort_member_ends(m);
    }
    if (team->n > 1)
        ee_team_join(&team->ee);
    else
        ee_set_local(parent);
    ps_race_acquire(&team->tasks);
    if (PS_UNLIKELY(team->cancellable && ort_cancelled_parallel(team))) {
        ort_ws_reset(team, 0);
        team->plain = false;
    } else {
        ps_update(team->ws_base, m->ws_seq);
    }
    ps_update(team->single_base, ps_load_relaxed(&team->single));
    if (PS_UNLIKELY(ps_load_acquire(&team->tasks.pins) != 0 || ps_load_relaxed(&team->tasks.used) || team->cancellable))
        ort_task_team_end(team);
    if (PS_UNLIKELY(team->counted))
        ps_sub_relaxed(&team->contention->busy, team->n - 1);
    ort_region_lasts(team);
    PS_PROBE1(region__end, team->n);
    parent->open = NULL;
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_region_ends(parent, team);
}

unsigned ort_parallel_start(const struct ort_parallel *region) { return start(region)->n; }
void ort_parallel_end(void) { end_region(ort_self()->team); }

unsigned ort_parallel(const struct ort_parallel *region)
{
    struct ort_team *team = start(region);
    unsigned n = team->n;
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_run(region->fn, region->data);
    else
        region->fn(region->data);
    end_region(team);
    return n;
}
