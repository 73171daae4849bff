/* Waiting for tasks. Members that wait, and helpers, run ready tasks meanwhile.
 *
 * Does: the loops that find a task, run it, and sleep if there is none. Does not: know in which queues tasks are, or
 * which member may run which one (task_queue.h), how a member sleeps (task_sleep.c), or what running a task is
 * (task_run.c). Callers: a member for itself, on its own stack, with no lock held. */
#include "cpu.h"
#include "race.h"
#include "task_steps.h"

/* How often a member searches in vain before it sleeps, if there are at least as many vps as members. Otherwise, and in
 * a team of one, it sleeps after the first search. */
#define SEARCHES 64

void ort_task_wait(struct ort_thread *thread, struct ort_wait *w)
{
    struct ort_team *team = thread->team;
    unsigned searches = team->n > 1 && team->n <= ee_num_vps() ? SEARCHES : 0, failed = 0;
    while (!ort_wait_is_over(team, w)) {
        struct ort_task *t = ort_task_find(thread, w->within);
        if (!t && failed++ < searches) {
            cpu_pause();
            continue;
        }
        if (!t)
            t = ort_task_sleep(thread, w);
        if (t) {
            ort_task_run(thread, t);
            failed = 0;
        }
    }
}

void ort_task_assist(struct ort_thread *thread)
{
    struct ort_team *team = thread->team;
    if (!ps_load_relaxed(&team->tasks.used))
        return;
    if (thread->id != 0 && ps_load_relaxed(&team->tasks.coming) == thread->id) {
        ps_spin_lock(&team->tasks.lock);
        ps_store_relaxed(&team->tasks.coming, 0); /* first: the maker of a later task calls the next helper */
        ps_spin_unlock(&team->tasks.lock);
        ps_fence_seq(); /* the helper looks after that: the maker of an earlier task relied on it (helper_comes) */
    }
    bool first = true;
    for (struct ort_task *t; (t = ort_task_find(thread, NULL)) != NULL; first = false) {
        /* While this helper was coming, no other helper was called. If there are more tasks, it calls one now. */
        if (first && ort_task_any(team))
            ort_task_ask(team);
        ort_task_run(thread, t);
    }
}

/* Called while some children of `self` are not complete. Runs tasks until all of them are. [switches] */
PS_NOINLINE static void run_children(struct ort_thread *thread, struct ort_task *self)
{
    struct ps_deque *d = &ort_tasks(thread)->deque;
    do {
        struct ort_task *t = NULL;
        if (PS_LIKELY(ps_load_seq(&thread->team->tasks.priority_count) == 0) &&
            !PS_UNLIKELY(ps_load_relaxed(&ort_tasks_in_order)) &&
            PS_LIKELY(ps_deque_bottom_owner(d) != ort_tasks(thread)->base))
            t = ps_deque_pop(d);
        if (PS_UNLIKELY(t == NULL)) {
            ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_CHILDREN, .object = self, .within = self});
            return;
        }
        run_untraced(thread, t);
    } while (ort_count_children(&self->count) != 0);
}

static PS_NOINLINE void taskwait_traced(struct ort_thread *thread)
{
    struct ort_task *self = thread->task;
    if (ort_count_children(&self->count) != 0)
        ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_CHILDREN, .object = self, .within = self});
    ps_race_acquire(self);
}

void ort_taskwait(struct ort_thread *thread)
{
    struct ort_task *self = thread->task;
    bool any = ort_count_children(&self->count) != 0;
    if (PS_UNLIKELY(ort_tasks_traced()) && (any || ps_race_enabled()))
        taskwait_traced(thread);
    else if (any)
        run_children(thread, self);
}

void ort_taskwait_depend(struct ort_thread *thread, const struct ort_depend_list *depend)
{
    if (!ort_settings.cancellation || !ort_task_is_cancelled(thread->team, thread->task->group))
        ort_depend_wait(thread, depend);
}

void ort_taskyield(struct ort_thread *thread)
{
    struct ort_task *t = ort_task_find(thread, thread->task);
#if ORT_TOOLS
    thread->tool.yields = t != NULL;
#endif
    if (t) {
        ort_task_run(thread, t);
        return;
    }
    /* The caller may yield in a loop until some task has run that it may not run itself. So a helper is called for that
     * task. */
    struct ort_team *team = thread->team;
    if (team->n > 1 && ort_task_any(team) && !ort_task_ask(team))
        ee_team_call_first(&team->ee);
    ee_yield();
}

bool ort_in_final(struct ort_thread *thread) { return thread->task->flags & ORT_TASK_FINAL; }
