/* Explicit tasks, the slow path: creation, running, completion, detach, and the hooks of regions and barriers. Tasks
 * that have nothing special take the fast path (task_fast.c), which comes here for all that it does not do itself.
 *
 * Does and states: task.h. Where ready tasks stand and who may run them: task_queue.c.
 * Callers: the member concerned, on its own stack, with no lock held; ort_task_complete(NULL, ..) any thread that has
 * pinned the team.
 *
 * Undeferred tasks (ort_task_is_undeferred: if(0), children of final tasks, tasks of a root outside of every region,
 * and tasks made while the creator's deque is full) have a descriptor as others have, and no place in a queue: made,
 * run at once as a call, completed. So a child that outlives them finds its parent.
 *
 * Detach. `event` collects two bits: the body is done (set by the member), the event is fulfilled (set by whoever). Who
 * sets the second one completes the task. Before the member sets its bit it pours the count, with one more
 * ORT_COUNT_LIVE for the missing completion, because from then on a stranger may complete the task. An undeferred task
 * waits for its event in place. A task may be held as well (ort_task_hold): `event` counts in its further bits what it
 * is held for, and completes when nothing is left of that either. One without a detach clause that is held first
 * becomes one whose event is fulfilled.
 * A stranger pins the team (team->tasks.pins) before it sets its bit, since the task it completes may be the last that
 * the team waits for; member 0 waits for the pins to go before it gives the team up.
 *
 * Completion of t by thread m, in this order: its successors become ready; its own count is settled; if nothing is
 * below it, its group and parent lose a LIVE and an INCOMPLETE, else the parent an INCOMPLETE, and the LIVE later, by
 * whoever completes the subtree. After the parent has been told, nothing of t is touched: it may be gone.
 *
 * Ordering: see task.h. event: fetch-or, acq_rel: who completes has seen all that the body and the fulfiller did.
 * Failures: no memory for a descriptor: the emergency pool's (emergency_pool.h); none there: ready tasks are run until
 * one comes free; where none is ready either: aborts with one line (there is nothing left to go on with).
 * Cost, child made and run by the same member: no read-modify-write and no fence while nobody steals from the member
 * (deque.h); else the fence behind the push, and the pop's.
 * Rejected: deferred arrival at barriers (the last task of a member's subtree arrives for it): the member is awake to
 * run tasks anyway. */
#include "task_internal.h"
#include "team.h"

#include <string.h>

#include "graph.h"
#include "race.h"

/* Tasks in a deque beyond which the creator runs new ones itself; what fits into the deque's first buffer. */
#define DEQUE_FULL PS_DEQUE_INITIAL

/* --- completion --- */

static void give_back(struct ort_thread *thread, struct ort_task *t)
{
    ort_icv_drop(t->icv, t);
    if (PS_LIKELY(thread != NULL))
        ort_task_free(&thread->tasks.cache, t);
    else
        ort_task_free_shared(t);
}

static void leave_group(struct ort_thread *thread, struct ort_taskgroup *group)
{
    struct ort_task *opener = group->task;
    if (opener->owner == thread) {
        group->count.own -= 1;
        return;
    }
    struct ort_team *team = opener->team;
    ps_sub_seq(&group->count.others, 1);
    ort_task_wake_object(team, group);
}

/* Takes delta off p's count; true: p's body is done and this was the last, so its subtree is complete. */
static bool take(struct ort_thread *thread, struct ort_task *p, int64_t delta)
{
    if (PS_LIKELY(p->owner == thread) && PS_LIKELY(!(p->flags & ORT_TASK_MERGED))) {
        p->count.own -= delta;
        return false;
    }
    struct ort_team *team = p->team;
    if (ps_sub_seq(&p->count.others, delta) == delta)
        return true;
    ort_task_wake_object(team, p);
    return false;
}

/* Nothing below t is left: it goes, and perhaps the ones above it. delta: what its parent's count holds for it
 * still. */
static void subtree_complete(struct ort_thread *thread, struct ort_task *t, int64_t delta)
{
    for (;;) {
        struct ort_task *parent = ps_load_relaxed(&t->parent);
        if (t->flags & ORT_TASK_IN_GROUP)
            leave_group(thread, t->group);
        give_back(thread, t);
        if (!take(thread, parent, delta))
            return;
        t = parent;
        delta = ORT_COUNT_LIVE;
    }
}

/* Where a barrier orders: another address than the next one's, which who wakes late from this one must not be ordered
 * behind. */
static const void *barrier_at(const struct ort_team *team, uint32_t phase)
{
    return (const char *)&team->tasks + 8 + 8 * (phase & 1);
}

/* What the program's thread sanitizer is told (race.h): a task begins behind its creation (t) and its predecessors; who
 * waits for it - its parent, a taskgroup, a barrier of the team or the region's end - goes on behind its end, and
 * behind its fulfilment. A descriptor is used again behind the end of the task before. */
static void tell_end(struct ort_task *t)
{
    if (!ps_race_enabled())
        return;
    ps_race_release(t);
    ps_race_release(ps_load_relaxed(&t->parent));
    if (t->group != NULL)
        ps_race_release(t->group);
    ps_race_release(&t->team->tasks);
    if (ort_settings.cancellation)
        ps_race_release(ort_cancel_barrier_at(t->team, ps_load_relaxed(&t->team->tasks.barrier_phase)));
    if (t->team->n > 1)
        ps_race_release(barrier_at(t->team, ee_barrier_phase(&t->team->ee)));
}
static void tell_begin(struct ort_task *t)
{
    if (!ps_race_enabled())
        return;
    ps_race_acquire(t);
    if (t->node != NULL)
        ort_depend_begin(t->node);
}

void ort_task_lose_child(struct ort_thread *thread, struct ort_task *parent)
{
    if (take(thread, parent, ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE))
        subtree_complete(thread, parent, ORT_COUNT_LIVE);
}

void ort_task_complete(struct ort_thread *thread, struct ort_task *t)
{
    if (PS_UNLIKELY(t->node != NULL))
        ort_depend_complete(thread, t);
    struct ort_task *parent = ps_load_relaxed(&t->parent);
    bool all;
    if (PS_LIKELY(!(t->flags & ORT_TASK_MERGED))) {
        int64_t own = t->count.own;
        all = own + ps_load_acquire(&t->count.others) == 0;
        if (!all) {
            t->flags |= ORT_TASK_MERGED | ORT_TASK_SPECIAL;
            all = ps_add_acq_rel(&t->count.others, own) == -own;
        }
    } else {
        all = ps_sub_acq_rel(&t->count.others, ORT_COUNT_LIVE) == ORT_COUNT_LIVE;
    }
    if (all)
        subtree_complete(thread, t, ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE);
    else if (take(thread, parent, ORT_COUNT_INCOMPLETE))
        subtree_complete(thread, parent, ORT_COUNT_LIVE);
}

/* The body of a deferred task with a detach clause is done. True: so is its event. */
static bool event_has_come(struct ort_task *t)
{
    int64_t own = t->count.own;
    t->flags |= ORT_TASK_MERGED | ORT_TASK_SPECIAL;
    ps_add_relaxed(&t->count.others, own + ORT_COUNT_LIVE);
    return ps_or_acq_rel(&t->event, ORT_EVENT_BODY_DONE) == ORT_EVENT_FULFILLED; /* and nobody holds it */
}

void ort_task_hold(struct ort_task *t)
{
    if (!(t->flags & ORT_TASK_DETACH)) {
        ps_store_relaxed(&t->event, ORT_EVENT_FULFILLED);
        t->flags |= ORT_TASK_DETACH | ORT_TASK_SPECIAL;
    }
    ps_add_relaxed(&t->event, ORT_EVENT_HOLD);
}

void ort_task_release(void *task)
{
    struct ort_task *t = task;
    ort_self();
    struct ort_team *team = t->team;
    ps_add_seq(&team->tasks.pins, 1);
    if (ps_sub_seq(&t->event, ORT_EVENT_HOLD) == (ORT_EVENT_HOLD | ORT_EVENT_BODY_DONE | ORT_EVENT_FULFILLED))
        ort_task_complete(NULL, t);
    ps_sub_release(&team->tasks.pins, 1);
}

void ort_task_fulfill(void *event)
{
    struct ort_task *t = event;
    ort_self(); /* ee_wake and its like want an entity */
    struct ort_team *team = t->team;
    tell_end(t);
    ps_add_seq(&team->tasks.pins, 1);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_task_fulfilled(t, ps_load_acquire(&t->event) & ORT_EVENT_BODY_DONE);
    uint32_t before = ps_or_seq(&t->event, ORT_EVENT_FULFILLED);
    PS_CHECK(!(before & ORT_EVENT_FULFILLED), "omp_fulfill_event: the event has been fulfilled already");
    if (before == ORT_EVENT_BODY_DONE)
        ort_task_complete(NULL, t);
    else if (!(before & ORT_EVENT_BODY_DONE))
        ort_task_wake_object(team, t);
    ps_sub_release(&team->tasks.pins, 1);
}

/* --- running --- */

/* Makes t the task that thread runs; what leaving it wants back. */
static inline int64_t enter(struct ort_thread *thread, struct ort_task *t)
{
    int64_t base = thread->tasks.base;
    t->owner = thread;
    thread->tasks.base = ps_deque_bottom_owner(&thread->tasks.deque);
    thread->task = t;
    return base;
}

/* The body of t, which ran in `below`, is done or was not run (detach: 0). told: a tool is there. */
static inline void leave(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base,
                         unsigned detach, bool told)
{
    if (PS_UNLIKELY(t->depends != NULL)) {
        ort_depend_table_free(t->depends);
        t->depends = NULL;
    }
    if (PS_UNLIKELY(detach) && (t->flags & ORT_TASK_UNDEFERRED)) {
        ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_EVENT, .object = t, .within = t});
        detach = 0;
    }
    if (told)
        ort_tool_task_ends(thread, t, below, detach != 0);
    thread->task = below;
    thread->tasks.base = base;
    if (PS_UNLIKELY(detach) && !event_has_come(t))
        return;
    ort_task_complete(thread, t);
}

PS_NOINLINE void ort_task_leave_run(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base)
{
    leave(thread, t, below, base, t->flags & ORT_TASK_DETACH, false);
}

static PS_NOINLINE void run_traced(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base)
{
    unsigned detach;
    ort_tool_task_begins(thread, t, below);
    if (ort_settings.cancellation && !(t->flags & ORT_TASK_COPIED) && ort_task_is_cancelled(t->team, t->group)) {
        detach = 0;
        ort_tool_task_discarded(t);
    } else {
        ort_tool_run(t->fn, t->data);
        detach = t->flags & ORT_TASK_DETACH; /* it may have been held */
    }
    tell_end(t);
    leave(thread, t, below, base, detach, true);
}

void ort_task_run_traced(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_task *below = thread->task;
    int64_t base = enter(thread, t);
    tell_begin(t);
    unsigned detach;
    if (PS_UNLIKELY(ort_tool_on())) {
        run_traced(thread, t, below, base);
        return;
    }
    if (PS_UNLIKELY(ort_settings.cancellation) && !(t->flags & ORT_TASK_COPIED) &&
        ort_task_is_cancelled(t->team, t->group))
        detach = 0;
    else {
        t->fn(t->data);
        detach = t->flags & ORT_TASK_DETACH; /* it may have been held */
    }
    tell_end(t);
    leave(thread, t, below, base, detach, false);
}

/* --- creation --- */

/* A few pointers and numbers as a rule, for which memcpy's call costs more than the copy. */
static inline void copy_data(void *to, const void *from, size_t bytes)
{
    if (PS_LIKELY(bytes <= 8 * sizeof(uint64_t) && bytes % sizeof(uint64_t) == 0)) {
        for (size_t i = 0; i < bytes; i += sizeof(uint64_t))
            memcpy((char *)to + i, (const char *)from + i, sizeof(uint64_t));
    } else {
        memcpy(to, from, bytes);
    }
}

#define PATIENCE 1000 /* tries, of a thread that has no block for a task */

/* The system has no memory, and the emergency pool none for tasks: those that are ready run first, here, and their
 * blocks come free. [switches] */
static PS_COLD PS_NOINLINE struct ort_task *new_in_time(struct ort_thread *thread, size_t size, size_t align)
{
    struct ort_task *t = NULL;
    for (int i = 0; t == NULL && i < PATIENCE; i++) {
        ort_taskyield(thread);
        t = ort_task_alloc(&thread->tasks.cache, size, align);
    }
    PS_CHECK(t != NULL, "out of memory for a task of %zu bytes", size);
    return t;
}

struct ort_task *ort_task_new(struct ort_thread *thread, size_t size, size_t align)
{
    struct ort_task *t = ort_task_alloc(&thread->tasks.cache, size, align);
    if (PS_UNLIKELY(t == NULL))
        t = new_in_time(thread, size, align);
    ps_race_acquire(t);
    return t;
}

/* t becomes a child of the current task; its data is its maker's affair. */
static inline void adopt(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args)
{
    struct ort_task *parent = thread->task;
    t->fn = args->fn;
    ps_store_relaxed(&t->parent, parent);
    ps_store_relaxed(&t->depth, ps_load_relaxed(&parent->depth) + 1);
    t->team = thread->team;
    t->group = parent->group;
    t->icv = ort_icv_share(parent->icv);
    t->flags |= (uint16_t)(args->flags | (parent->flags & (ORT_TASK_FINAL | ORT_TASK_INCLUDES)));
    t->owner = NULL;
    t->count.own = 0;
    ps_store_relaxed(&t->count.others, 0);
    t->priority = args->priority < ort_settings.max_task_priority ? args->priority : ort_settings.max_task_priority;
    if (PS_UNLIKELY(args->flags & ORT_TASK_DETACH) || PS_UNLIKELY(t->priority != 0))
        t->flags |= ORT_TASK_SPECIAL;
    parent->count.own += ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE;
    if (PS_UNLIKELY(t->group != NULL) && t->group->task == parent) {
        t->flags |= ORT_TASK_IN_GROUP | ORT_TASK_SPECIAL;
        t->group->count.own += 1;
    }
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_task_created(thread, t, args);
}

struct ort_task *ort_task_make(struct ort_thread *thread, const struct ort_task_args *args)
{
    struct ort_task *t = ort_task_new(thread, args->size, args->align);
    adopt(thread, t, args);
    if (PS_UNLIKELY(args->flags & ORT_TASK_DETACH)) {
        *args->event = t;
        if (args->data)
            *(void **)args->data = t;
    }
    if (PS_UNLIKELY(args->copy != NULL)) {
        args->copy(t->data, args->data);
        t->flags |= ORT_TASK_COPIED;
    } else {
        copy_data(t->data, args->data, args->size);
    }
    return t;
}

static bool deque_full(struct ps_deque *d)
{
    int64_t bottom = ps_deque_bottom_owner(d);
    if (PS_LIKELY(bottom - d->top_seen < DEQUE_FULL))
        return false;
    d->top_seen = ps_load_acquire(&d->top);
    return bottom - d->top_seen >= DEQUE_FULL && !ort_settings.unbounded_tasks;
}

bool ort_task_is_undeferred(struct ort_thread *thread, unsigned flags)
{
    if (PS_UNLIKELY((flags & ORT_TASK_UNDEFERRED) || (thread->task->flags & ORT_TASK_FINAL) ||
                    thread->team->level == 0))
        return true;
    return PS_UNLIKELY(deque_full(&thread->tasks.deque)) && !(flags & ORT_TASK_DETACH);
}

/* t's predecessors are complete. Its creator waits for its event too only where the program says so: outside of every
 * region it does not (it may be the one that fulfills it), and later siblings depend on it. */
static void run_at_once(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args)
{
    bool outlives = (args->flags & (ORT_TASK_DETACH | ORT_TASK_UNDEFERRED)) == ORT_TASK_DETACH &&
                    !(thread->task->flags & ORT_TASK_FINAL);
    if (PS_LIKELY(!outlives)) {
        t->flags |= ORT_TASK_UNDEFERRED;
    } else if (args->depend) {
        bool ready = ort_depend_insert(thread, t, args->depend);
        PS_CHECK(ready, "a task whose predecessors were complete has others");
    }
    ort_task_run(thread, t);
}

void ort_task_create(struct ort_thread *thread, const struct ort_task_args *args)
{
    ort_graph_spoil(thread);
    if (PS_UNLIKELY(ort_settings.cancellation) && ort_task_is_cancelled(thread->team, thread->task->group))
        return;
    if (PS_UNLIKELY(ort_task_is_undeferred(thread, args->flags))) {
        if (args->depend)
            ort_depend_wait(thread, args->depend);
        run_at_once(thread, ort_task_make(thread, args), args);
        return;
    }
    struct ort_task *t = ort_task_make(thread, args);
    ps_race_release(t);
    if (PS_UNLIKELY(args->depend != NULL) && !ort_depend_insert(thread, t, args->depend))
        return;
    ort_task_enqueue(thread, t);
}

struct call {
    void (*fn)(void *);
    void *data;
};
static void run_call(void *data)
{
    const struct call *call = data;
    call->fn(call->data);
}

PS_NOINLINE void ort_task_call_long(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    if (ort_task_call_fast(thread, fn, data, flags))
        return;
    struct call call = {fn, data};
    ort_task_create(thread, &(struct ort_task_args){.fn = run_call,
                                                    .data = &call,
                                                    .size = sizeof call,
                                                    .align = alignof(struct call),
                                                    .flags = flags | ORT_TASK_UNDEFERRED});
}

PS_NOINLINE void ort_task_spawn_long(struct ort_thread *thread, void (*fn)(void *), void *data, size_t size,
                                     size_t align, unsigned flags)
{
    if (ort_task_is_undeferred(thread, flags) && ort_task_call_fast(thread, fn, data, flags))
        return;
    ort_task_create(thread,
                    &(struct ort_task_args){.fn = fn, .data = data, .size = size, .align = align, .flags = flags});
}

void ort_task_submit(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args)
{
    if (PS_UNLIKELY(ort_settings.cancellation) && !(args->flags & ORT_TASK_COPIED) &&
        ort_task_is_cancelled(thread->team, thread->task->group)) {
        ort_task_discard(thread, t);
        return;
    }
    if (PS_UNLIKELY(ort_task_is_undeferred(thread, args->flags))) {
        if (args->depend)
            ort_depend_wait(thread, args->depend);
        adopt(thread, t, args);
        run_at_once(thread, t, args);
        return;
    }
    adopt(thread, t, args);
    ps_race_release(t);
    if (PS_UNLIKELY(args->depend != NULL) && !ort_depend_insert(thread, t, args->depend))
        return;
    ort_task_enqueue(thread, t);
}

void ort_task_submit_linked(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args,
                            struct ort_depend_node *node)
{
    bool at_once = ort_task_is_undeferred(thread, args->flags);
    if (at_once)
        ort_graph_wait(thread, node);
    adopt(thread, t, args);
    t->node = node;
    t->flags |= ORT_TASK_ORDERED | (at_once ? ORT_TASK_UNDEFERRED : 0);
    ps_race_release(t);
    if (at_once)
        ort_task_run(thread, t);
    else if (ort_graph_ready(node, t))
        ort_task_enqueue(thread, t);
}

void ort_task_discard(struct ort_thread *thread, struct ort_task *t) { ort_task_free(&thread->tasks.cache, t); }

void ort_task_enter(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args)
{
    struct ort_task *below = thread->task;
    adopt(thread, t, args);
    /* With a detach clause the creator goes on when the body has been run: it may be the one to fulfill the event. */
    t->flags =
        (uint16_t)(t->flags & ORT_TASK_DETACH ? t->flags & ~ORT_TASK_UNDEFERRED : t->flags | ORT_TASK_UNDEFERRED);
    t->base = enter(thread, t);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_task_begins(thread, t, below);
}

void ort_task_leave_counted(struct ort_thread *thread, struct ort_task *t)
{
    leave(thread, t, ps_load_relaxed(&t->parent), t->base, t->flags & ORT_TASK_DETACH, ort_tool_on());
}

void ort_taskwait_traced(struct ort_thread *thread)
{
    struct ort_task *self = thread->task;
    if ((uint32_t)ort_count_total(&self->count) != 0)
        ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_CHILDREN, .object = self, .within = self});
    ps_race_acquire(self);
}

void ort_taskwait_depend(struct ort_thread *thread, const struct ort_depend_list *depend)
{
    if (!ort_settings.cancellation || !ort_task_is_cancelled(thread->team, thread->task->group))
        ort_depend_wait(thread, depend);
}

void ort_taskyield(struct ort_thread *thread)
{
    struct ort_task *t = ort_task_find(thread, thread->task);
    thread->tool.yields = t != NULL;
    if (t) {
        ort_task_run(thread, t);
        return;
    }
    /* The caller may yield until a task has run that it may not run itself. */
    struct ort_team *team = thread->team;
    if (team->n > 1 && ort_task_any(team))
        ee_team_assist(&team->ee);
    ee_yield();
}

bool ort_in_final(struct ort_thread *thread) { return thread->task->flags & ORT_TASK_FINAL; }

/* --- regions --- */

bool ort_task_team_init(struct ort_team *team)
{
    if (!ort_members_get(team))
        return false;
    ps_spin_init(&team->tasks.lock);
    ps_list_init(&team->tasks.sleeping);
    ps_list_init(&team->tasks.priority);
    return true;
}

void ort_task_team_fini(struct ort_team *team)
{
    PS_ASSERT(ps_list_empty(&team->tasks.sleeping) && ps_list_empty(&team->tasks.priority));
    ort_members_give(team);
}

void ort_task_thread_fini(struct ort_thread *thread)
{
    ps_deque_fini(&thread->tasks.deque);
    ort_task_frames_drain(&thread->tasks);
    ort_task_cache_drain(&thread->tasks.cache);
    ort_depend_cache_drain(&thread->tasks.nodes);
}

void ort_task_member_begin(struct ort_thread *thread, struct ort_icv *icv)
{
    struct ort_task *t = &thread->tasks.implicit->task;
    t->team = thread->team;
    t->group = thread->team->group;
    t->icv = icv;
    t->flags = ORT_TASK_IMPLICIT;
    t->owner = thread;
    t->count.own = 0;
    *(int64_t *)&t->count.others = 0; /* nobody else knows it yet */
    thread->tasks.base = ps_deque_bottom_owner(&thread->tasks.deque);
    thread->task = t;
}

static PS_NOINLINE void wait_for_some_subtree(struct ort_thread *thread)
{
    struct ort_task *self = thread->task;
    if (ort_count_total(&self->count) != 0)
        ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_SUBTREE, .object = self});
    if (self->depends != NULL) {
        ort_depend_table_free(self->depends);
        self->depends = NULL;
    }
}

static inline void wait_for_subtree(struct ort_thread *thread)
{
    struct ort_task *self = thread->task;
    /* own is 0 where each child was finished by this member: then others is, too. */
    if (PS_UNLIKELY(self->count.own != 0 || self->depends != NULL))
        wait_for_some_subtree(thread);
}

void ort_task_member_end(struct ort_thread *thread) { wait_for_subtree(thread); }

void ort_task_team_end(struct ort_team *team)
{
    struct ort_task_team *q = &team->tasks;
    while (PS_UNLIKELY(ps_load_acquire(&q->pins) != 0))
        ee_yield();
    if (PS_LIKELY(!ps_load_relaxed(&q->used) && !ort_settings.cancellation))
        return;
    if (ps_load_relaxed(&q->unfenced)) /* in the next region nobody will have said that it makes tasks */
        for (unsigned i = 0; i < team->n; i++)
            ps_deque_fence_owner(&ort_member(team, i)->tasks.deque);
    ps_store_relaxed(&q->unfenced, 0);
    ps_store_relaxed(&q->used, 0);
    ps_store_relaxed(&q->cancelled, 0);
    ps_store_relaxed(&q->loop_cancelled, 0);
    ps_store_relaxed(&q->barrier_arrived, 0);
}

void ort_task_after_fork_in_child(struct ort_thread *t)
{
    ort_task_memory_after_fork_in_child();
    ort_depend_after_fork_in_child();
    for (; t != NULL; t = t->team->parent) {
        struct ort_task_team *q = &t->team->tasks;
        if (ps_spin_is_held(&q->lock)) { /* the priority queue may be half changed */
            ps_list_init(&q->priority);
            ps_store_relaxed(&q->priority_count, 0);
        }
        ps_spin_init(&q->lock);
        ps_list_init(&q->sleeping);
        ps_store_relaxed(&q->sleepers, 0);
        ps_store_relaxed(&q->pins, 0);
    }
}

void ort_task_assist(struct ort_thread *thread)
{
    if (ps_load_relaxed(&thread->team->tasks.used))
        ort_task_run_all(thread);
}

/* The rest of a barrier for a member that was not simply let go. */
static PS_NOINLINE void end_barrier(struct ort_thread *thread, uint32_t phase, enum ee_await met)
{
    struct ort_team *team = thread->team;
    if (met == EE_LAST) {
        if (PS_UNLIKELY(ort_settings.cancellation))
            ps_store_relaxed(&team->tasks.loop_cancelled, 0);
        bool polite = ee_barrier_release(&team->ee);
        if (ps_load_relaxed(&team->tasks.used))
            ort_task_wake_barrier(team);
        if (PS_UNLIKELY(polite))
            ee_yield();
    }
    /* With tasks about, members wait in the sleepers' list; then await only orders what the others did before what
     * follows. */
    while (met == EE_INTERRUPTED) {
        if (ps_load_relaxed(&team->tasks.used))
            ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_BARRIER, .phase = phase});
        met = ee_barrier_await(&team->ee, thread->id, phase);
    }
    ps_race_acquire(barrier_at(team, phase));
}

static PS_NOINLINE void barrier_of_one(struct ort_team *team)
{
    ps_race_acquire(&team->tasks);
    ps_store_relaxed(&team->tasks.loop_cancelled, 0);
}

void ort_task_barrier(struct ort_thread *thread)
{
    struct ort_team *team = thread->team;
    wait_for_subtree(thread);
    if (team->n == 1) {
        barrier_of_one(team);
        return;
    }
    uint32_t phase = ee_barrier_phase(&team->ee);
    bool told = ps_race_enabled();
    ps_race_release(barrier_at(team, phase));
    /* Counted where the last one has to do something, or the phase has to differ from the next one's. */
    enum ee_await met = ee_barrier_meet(&team->ee, thread->id, phase, ort_settings.cancellation | told);
    if (met != EE_RELEASED || told)
        end_barrier(thread, phase, met);
}
