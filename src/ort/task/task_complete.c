/* The end of a task: its event, its completion, and what completes with it.
 *
 * Callers: the member that has run the body; ort_task_fulfill and ort_task_release: any thread.
 *
 * A thread completes t in three steps. It takes t off the counts of t's successors. It adds `own` of t's count to
 * `others`, unless the sum is zero. It subtracts t from the parent's count: if the subtree below t is complete, a LIVE
 * and an INCOMPLETE, else the INCOMPLETE alone. In the second case the thread that completes the subtree subtracts the
 * LIVE later. t leaves its group when its subtree is complete. A thread that has subtracted from the parent's count
 * does not touch t afterwards: t may be gone.
 *
 * Detach. `event` collects two bits: the body is done (set by the member), the event is fulfilled (set by any thread).
 * The thread that sets the second bit completes the task. That may be a thread outside of the team. So before the
 * member sets its bit, it pours the count, with one more ORT_COUNT_LIVE for the completion that is to come. The creator
 * of an undeferred task waits for its event (end_body). A task may also be held (ort_task_hold): further bits of
 * `event` count the holds, and the task completes only when this count is zero, too. If a held task has no detach
 * clause, it gets an event that is fulfilled already.
 * A thread that fulfils an event or ends a hold pins the team (team->tasks.pins) before, since the task that it
 * completes may be the last for which the team waits. Member 0 waits until there are no pins before it gives the team
 * up.
 *
 * Ordering: see task.h. event is changed by acq_rel or stronger: the thread that completes the task has seen all that
 * the body and the fulfiller did. */
#include "race.h"
#include "task_internal.h"

static void give_task_back(struct ort_thread *thread, struct ort_task *t)
{
    ort_icv_drop(t->icv, t);
    if (PS_LIKELY(thread != NULL))
        ort_task_free(&ort_tasks(thread)->cache, t);
    else
        ort_task_free_shared(t);
}

static void leave_taskgroup(struct ort_thread *thread, struct ort_taskgroup *group)
{
    struct ort_task *opener = group->task;
    if (opener->owner == thread) {
        group->count.own -= 1;
        return;
    }
    struct ort_team *team = opener->team;
    ort_count_sub(&group->count, ORT_COUNT_INCOMPLETE);
    ort_task_wake_object(team, group);
}

/* Subtracts delta from p's count. True: p's body is done and nothing is left below p, so the caller completes p's
 * subtree. */
static bool take_count(struct ort_thread *thread, struct ort_task *p, int64_t delta)
{
    if (PS_LIKELY(p->owner == thread) && PS_LIKELY(!(p->flags & ORT_TASK_MERGED))) {
        p->count.own -= delta;
        return false;
    }
    struct ort_team *team = p->team;
    if (ort_count_sub(&p->count, delta))
        return true;
    ort_task_wake_object(team, p);
    return false;
}

/* Frees t, below which nothing is left. Then does the same with t's parent, if the parent's body is done and nothing is
 * left below the parent, and so on upwards. delta: what t's parent still counts for t. */
static void subtree_complete(struct ort_thread *thread, struct ort_task *t, int64_t delta)
{
    for (;;) {
        struct ort_task *parent = ps_load_relaxed(&t->parent);
        if (t->flags & ORT_TASK_IN_GROUP)
            leave_taskgroup(thread, t->group);
        give_task_back(thread, t);
        if (!take_count(thread, parent, delta))
            return;
        t = parent;
        delta = ORT_COUNT_LIVE;
    }
}

/* Tells the program's thread sanitizer how tasks are ordered (race.h). A task begins after its creation (address t) and
 * after its predecessors. A thread that waits for the task (as the parent, in a taskgroup, in a barrier or at the
 * region's end) goes on after its end, and after the fulfilment of its event. A descriptor is used again after the end
 * of its last task. */
void ort_task_race_end(struct ort_task *t)
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
        ps_race_release(ort_barrier_at(t->team, ee_barrier_phase(&t->team->ee)));
}

void ort_task_lose_child(struct ort_thread *thread, struct ort_task *parent)
{
    if (take_count(thread, parent, ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE))
        subtree_complete(thread, parent, ORT_COUNT_LIVE);
}

void ort_task_complete(struct ort_thread *thread, struct ort_task *t)
{
    if (PS_UNLIKELY(t->node != NULL))
        ort_depend_complete(thread, t);
    struct ort_task *parent = ps_load_relaxed(&t->parent);
    bool all;
    if (PS_LIKELY(!(t->flags & ORT_TASK_MERGED))) {
        all = ort_count_is_zero_after(&t->count);
        if (!all) {
            t->flags |= ORT_TASK_MERGED | ORT_TASK_SPECIAL;
            all = ort_count_merge(&t->count);
        }
    } else {
        all = ort_count_unpour(&t->count);
    }
    if (all)
        subtree_complete(thread, t, ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE);
    else if (take_count(thread, parent, ORT_COUNT_INCOMPLETE))
        subtree_complete(thread, parent, ORT_COUNT_LIVE);
}

/* Called when the body of a deferred task with an event is done: pours t's count (adds `own` to `others`), and sets
 * ORT_EVENT_BODY_DONE. True: the event is fulfilled, and nothing holds the task, so the caller completes it. */
static bool event_has_come(struct ort_task *t)
{
    t->flags |= ORT_TASK_MERGED | ORT_TASK_SPECIAL;
    ort_count_pour(&t->count);
    /* Equal only if the count of holds is zero, too. */
    return ps_or_acq_rel(&t->event, ORT_EVENT_BODY_DONE) == ORT_EVENT_FULFILLED;
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
    ort_self(); /* makes the caller an OpenMP thread: only entities may call ee_wake and similar functions */
    struct ort_team *team = t->team;
    ort_task_race_end(t);
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

/* Ends t: its body is done, or was not run. below: the task to which the member returns. base: the member's base before
 * t. detach: not 0 if t has an event and was run. tool: a tool is attached. [switches] */
static PS_ALWAYS_INLINE void end_body(struct ort_thread *thread, struct ort_task *t, struct ort_task *below,
                                      int64_t base, unsigned detach, bool tool)
{
    if (PS_UNLIKELY(t->depends != NULL)) {
        ort_depend_table_free(t->depends);
        t->depends = NULL;
    }
    if (PS_UNLIKELY(detach) && (t->flags & ORT_TASK_UNDEFERRED)) {
        ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_EVENT, .object = t, .within = t});
        detach = 0;
    }
    if (ORT_TOOLS && tool)
        ort_tool_task_ends(thread, t, below, detach != 0);
    thread->task = below;
    ort_tasks(thread)->base = base;
    if (PS_UNLIKELY(detach) && !event_has_come(t))
        return;
    ort_task_complete(thread, t);
}

PS_NOINLINE void ort_task_end_run(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base)
{
    end_body(thread, t, below, base, t->flags & ORT_TASK_DETACH, false);
}

PS_NOINLINE void ort_task_end_traced(struct ort_thread *thread, struct ort_task *t, struct ort_task *below,
                                     int64_t base, bool was_run, bool tool)
{
    end_body(thread, t, below, base, was_run ? t->flags & ORT_TASK_DETACH : 0, tool);
}
