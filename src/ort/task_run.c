/* Running a task, and waiting for tasks: the fast path and the slow path beside each other.
 *
 * The fast path (run_task, run_children) serves tasks that have nothing special and that are not traced. The slow path
 * (run_traced, ort_task_end_run) serves all others. Both enter a task by task_enter.
 * Where a tool, a thread sanitizer or cancellation is to hear of tasks (ort_tasks_traced), every task takes the slow
 * path. So the fast path asks for none of the three. ORT_TASK_SPECIAL says which other tasks end on the slow path.
 * Callers: a member on its own behalf, on its own stack, with no lock held. States and fields: task.h.
 * Ordering: none of its own; the counts' is in task.h.
 * Cost: about 70 instructions to take a task, run and end it, with the read-modify-writes of the deque. */
#include "race.h"
#include "task_steps.h"

/* --- running --- */

static void race_begin(struct ort_task *t)
{
    if (!ps_race_enabled())
        return;
    ps_race_acquire(t);
    if (t->node != NULL)
        ort_depend_begin(t->node);
}

/* The slow path: a tool, a thread sanitizer or cancellation wants to hear of t. [switches] */
static PS_NOINLINE void run_traced(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_task *below = thread->task;
    int64_t base = task_enter(thread, t);
    race_begin(t);
    bool tool = ort_tool_on();
    if (PS_UNLIKELY(tool))
        ort_tool_task_begins(thread, t, below);
    bool cancelled = PS_UNLIKELY(ort_settings.cancellation) && !(t->flags & ORT_TASK_COPIED) &&
                     ort_task_is_cancelled(t->team, t->group);
    if (PS_UNLIKELY(cancelled)) {
        if (tool)
            ort_tool_task_discarded(t);
    } else if (PS_UNLIKELY(tool)) {
        ort_tool_run(t->fn, t->data);
    } else {
        t->fn(t->data);
    }
    ort_task_race_end(t);
    ort_task_end_traced(thread, t, below, base, !cancelled, tool);
}

/* The body of t is done, and there is more to be done than to count that for `below`. [switches] */
static PS_NOINLINE void end_slow(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base)
{
    if (PS_UNLIKELY(t->flags & ORT_TASK_SPECIAL)) {
        ort_task_end_run(thread, t, below, base);
        return;
    }
    thread->task = below;
    ort_tasks(thread)->base = base;
    if (t->flags & ORT_TASK_ORDERED)
        ort_depend_complete(thread, t);
    if (PS_UNLIKELY(t->count.own + ps_load_acquire(&t->count.others) != 0)) {
        ort_task_complete(thread, t);
        return;
    }
    struct ort_task *parent = ps_load_relaxed(&t->parent);
    ort_task_free(&ort_tasks(thread)->cache, t);
    if (PS_LIKELY(parent == below))
        below->count.own -= ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE;
    else
        ort_task_lose_child(thread, parent);
}

/* Runs t, whose body's end is its own end as a rule. [switches] */
static inline void run_task(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_task *below = thread->task;
    int64_t base = task_enter(thread, t);
    t->fn(t->data);
    if (PS_UNLIKELY(ort_task_flags_of(t) & (ORT_TASK_SPECIAL | ORT_TASK_ORDERED)) ||
        PS_UNLIKELY(t->count.own + ps_load_acquire(&t->count.others) != 0) ||
        PS_UNLIKELY(ps_load_relaxed(&t->parent) != below)) {
        end_slow(thread, t, below, base);
        return;
    }
    thread->task = below;
    ort_tasks(thread)->base = base;
    ort_task_free(&ort_tasks(thread)->cache, t);
    below->count.own -= ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE;
}

void ort_task_run(struct ort_thread *thread, struct ort_task *t)
{
    if (PS_UNLIKELY(ort_tasks_traced()))
        run_traced(thread, t);
    else
        run_task(thread, t);
}

/* --- waiting --- */

/* There is something to wait for. [switches] */
PS_NOINLINE static void run_children(struct ort_thread *thread, struct ort_task *self)
{
    struct ps_deque *d = &ort_tasks(thread)->deque;
    do {
        struct ort_task *t = NULL;
        if (PS_LIKELY(ps_load_seq(&thread->team->tasks.priority_count) == 0) &&
            !PS_UNLIKELY(ps_load_relaxed(&ort_tasks_in_order)) &&
            PS_LIKELY(ps_deque_bottom_owner(d) > ort_tasks(thread)->base))
            t = ps_deque_pop(d);
        if (PS_UNLIKELY(t == NULL)) {
            ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_CHILDREN, .object = self, .within = self});
            return;
        }
        run_task(thread, t);
    } while ((uint32_t)ort_count_total(&self->count) != 0);
}

static PS_NOINLINE void taskwait_traced(struct ort_thread *thread)
{
    struct ort_task *self = thread->task;
    if ((uint32_t)ort_count_total(&self->count) != 0)
        ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_CHILDREN, .object = self, .within = self});
    ps_race_acquire(self);
}

void ort_taskwait(struct ort_thread *thread)
{
    struct ort_task *self = thread->task;
    bool any = (uint32_t)ort_count_total(&self->count) != 0;
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
    /* The caller may yield until a task has run that it may not run itself. */
    struct ort_team *team = thread->team;
    if (team->n > 1 && ort_task_any(team) && !ort_task_ask(team))
        ee_team_call_first(&team->ee);
    ee_yield();
}

bool ort_in_final(struct ort_thread *thread) { return thread->task->flags & ORT_TASK_FINAL; }
