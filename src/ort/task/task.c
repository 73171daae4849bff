/* Explicit tasks: what regions and barriers do about them.
 *
 * Making tasks: task_create.c. Tasks that run at once: task_call.c. Running tasks: task_run.c. Waiting for them:
 * task_wait.c. The end of a task: task_complete.c. In which queues ready tasks are, and which member may run them:
 * task_queue.c. States: task.h.
 * Callers: a member for itself, on its own stack, with no lock held. The functions for a whole team, for a member that
 * is freed, and for a forked child have other callers: task.h.
 * Rejected: deferred arrival at barriers (the member that runs the last task of another member's subtree arrives at the
 * barrier for it). The other member is awake to run tasks anyway. */
#include "region.h"
#include "task_helpers.h"
#include "task_queue.h"

#include "race.h"

/* --- regions --- */

bool ort_task_team_init(struct ort_team *team)
{
    if (!ort_members_get(team))
        return false;
    ps_spin_init(&team->tasks.lock);
    ps_list_init(&team->tasks.sleeping);
    ort_helpers_init(team);
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
    struct ort_task_member *own = ort_tasks_or_none(thread);
    if (ort_absent(own))
        return;
    ps_deque_fini(&own->deque);
    ort_task_frames_drain(own);
    ort_task_cache_drain(&own->cache);
    ort_depend_nodes_drain(&own->nodes);
}

void ort_task_member_begin(struct ort_thread *thread, struct ort_icv *icv)
{
    struct ort_task *t = &ort_implicit(thread)->task;
    t->team = thread->team;
    t->group = thread->team->group;
    t->icv = icv;
    t->flags = ps_load_relaxed(&ort_implicit_flags);
    t->owner = thread;
    t->count.own = 0;
    ort_count_begin(&t->count);
    thread->task = t;
}

static PS_NOINLINE void wait_for_some_subtree(struct ort_thread *thread)
{
    struct ort_task *self = thread->task;
    if (!ort_count_is_zero(&self->count))
        ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_SUBTREE, .object = self});
    if (self->depends != NULL) {
        ort_depend_table_free(self->depends);
        self->depends = NULL;
    }
}

static inline void wait_for_subtree(struct ort_thread *thread)
{
    struct ort_task *self = thread->task;
    /* If own is 0, this member has finished each child itself, and others is 0 as well. */
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
    /* In the next region a deque is fenced until its owner makes it unfenced (task_queue.c). */
    if (ps_load_relaxed(&q->unfenced))
        EACH_DEQUE(its, team)
    ps_deque_fence_owner(&its->deque);
#if ORT_MEMBERS_APART
    EACH_DEQUE(its, team)
    its->makes = false;
    ps_store_relaxed(&q->makers, NULL);
#endif
    ps_store_relaxed(&q->unfenced, 0);
    ps_store_relaxed(&q->used, 0);
    ps_store_relaxed(&q->cancelled, 0);
    ps_store_relaxed(&q->loop_cancelled, 0);
    ps_store_relaxed(&q->barrier_arrived, 0);
    ort_helpers_clear(team);
    ps_store_relaxed(&q->takers, 0);
    ps_store_relaxed(&q->coming, 0);
}

void ort_task_after_fork_in_child(struct ort_thread *t)
{
    ort_task_memory_after_fork_in_child();
    ort_depend_after_fork_in_child();
    for (; t != NULL; t = t->team->parent) {
        struct ort_task_team *q = &t->team->tasks;
        /* The lock's holder, which is not in the child, may have half changed the priority queue. */
        if (ps_spin_is_held(&q->lock)) {
            ps_list_init(&q->priority);
            ps_store_relaxed(&q->priority_count, 0);
        }
        ps_spin_init(&q->lock);
        ps_list_init(&q->sleeping);
        ort_helpers_init(t->team);
        ps_store_relaxed(&q->coming, 0);
        ps_store_relaxed(&q->sleepers, 0);
        ps_store_relaxed(&q->takers, 0);
        ps_store_relaxed(&q->pins, 0);
    }
}

/* Called if ee_barrier_meet (answer: met) has not released the caller, and under a thread sanitizer always. The last
 * member opens the barrier. A member that the entities have notified of tasks waits here, and runs them. */
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
    /* If the region has tasks, a member waits in the list of sleepers, and runs tasks. Then ee_barrier_await finds the
     * barrier open. Its acquire makes visible what the other members did before they arrived. */
    while (met == EE_NOTIFIED) {
        if (ps_load_relaxed(&team->tasks.used))
            ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_BARRIER, .phase = phase});
        met = ee_barrier_await(&team->ee, thread->id, phase);
    }
    ps_race_acquire(ort_barrier_at(team, phase));
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
    bool traced = ps_race_enabled();
    ps_race_release(ort_barrier_at(team, phase));
    /* With cancellation the last member has something to do (end_barrier). A thread sanitizer needs a phase of its own
     * for each barrier. In both cases one member must be told that it is the last. */
    enum ee_await met = ee_barrier_meet(&team->ee, thread->id, phase, ort_settings.cancellation | traced);
    if (met != EE_RELEASED || traced)
        end_barrier(thread, phase, met);
}

/* The cancellable barrier counts arrivals in barrier_arrived; the last member sets it to 0 and increments
 * barrier_phase. The member that cancels the region sets `cancelled` and wakes all members that wait here. The arrivals
 * counted so far no longer matter: all members go to the end of the region, where the count is cleared. A member
 * arrives when the tasks below its implicit task are complete.
 * Ordering: barrier_arrived acq_rel. barrier_phase is stored seq_cst (because of `sleepers`, see task_sleep.c). Members
 * that wait read it seq_cst (ort_wait_is_over). */
bool ort_task_barrier_cancel(struct ort_thread *thread)
{
    if (!ort_settings.cancellation) {
        ort_task_barrier(thread);
        return false;
    }
    struct ort_team *team = thread->team;
    struct ort_task_team *q = &team->tasks;
    struct ort_task *self = thread->task;
    if (ort_cancelled_parallel(team))
        return true;
    if (!ort_count_is_zero(&self->count))
        ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_SUBTREE, .object = self});
    uint32_t phase = ps_load_relaxed(&q->barrier_phase);
    ps_race_release(ort_cancel_barrier_at(team, phase));
    if (ps_add_acq_rel(&q->barrier_arrived, 1) + 1 == team->n) {
        ps_store_relaxed(&q->barrier_arrived, 0);
        ps_store_relaxed(&q->loop_cancelled, 0);
        ps_store_seq(&q->barrier_phase, phase + 1);
        ort_task_wake_barrier(team);
    } else {
        ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_BARRIER_CANCEL, .phase = phase});
    }
    bool cancelled = ort_cancelled_parallel(team);
    ps_race_acquire(cancelled ? ort_cancelled_at(team) : ort_cancel_barrier_at(team, phase));
    return cancelled;
}
