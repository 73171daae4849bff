/* Running a task: the fast path and the slow path beside each other.
 *
 * The fast path (run_untraced in task_steps.h) runs tasks while none is traced, and ends those that have nothing
 * special. The slow path (run_traced, ort_task_end_run) runs and ends all others. Both enter a task by task_enter.
 * Waiting for tasks: task_wait.c.
 * If a tool, a thread sanitizer or cancellation must be told of tasks (ort_tasks_traced), ort_task_run takes the slow
 * path for every task. So the fast path tests for none of the three. ORT_TASK_SPECIAL marks the tasks that end on the
 * slow path for another reason.
 * Callers: a member for itself, on its own stack, with no lock held. States and fields: task.h, with the counts'
 * ordering.
 * Cost: about 70 instructions to take a task, run and end it, including the operations of the deque. */
#include "race.h"
#include "task_steps.h"

/* To a thread sanitizer all tasks that one member runs belong to one thread, so it reports no race between them. If
 * tasks are short, one member would run all of them before another member comes. So a member that has run a task leaves
 * the next one to the others. `turn` is the number of the member that has begun a task last, plus 1. If no other member
 * takes a task during TURN_TRIES yields (a millisecond), the other members have something else to do. Then the member
 * leaves no more tasks to them until one of them has run a task.
 * Rejected: a fiber for each task. Tasks share their member's stack, and the sanitizer cannot be told that a stack's
 * memory is new; it would report what two tasks write there, one after the other. */
#define TURN_TRIES 2000

static void race_begin(struct ort_thread *thread, struct ort_task *t)
{
    if (!ps_race_enabled())
        return;
    ps_race_acquire(t);
    if (t->node != NULL)
        ort_depend_begin(t->node);
    struct ort_task_team *q = &thread->team->tasks;
    if (ps_load_relaxed(&q->turn) != (uint32_t)thread->id + 1) {
        ps_store_relaxed(&q->turn, (uint32_t)thread->id + 1);
        ps_store_relaxed(&q->turn_tries, 0);
    }
}

static void leave_turn(struct ort_thread *thread)
{
    struct ort_team *team = thread->team;
    struct ort_task_team *q = &team->tasks;
    while (team->n > 1 && ps_load_relaxed(&q->turn) == (uint32_t)thread->id + 1 &&
           ps_load_relaxed(&q->turn_tries) < TURN_TRIES && ort_task_any(team)) {
        ps_add_relaxed(&q->turn_tries, 1);
        ee_yield();
    }
}

/* Runs t on the slow path, where a tool, a thread sanitizer or cancellation must be told of tasks. [switches] */
static PS_NOINLINE void run_traced(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_task *below = thread->task;
    int64_t base = task_enter(thread, t);
    race_begin(thread, t);
    bool tool = ort_tool_on();
    if (PS_UNLIKELY(tool))
        ort_tool_task_begins(thread, t, below);
    bool cancelled = PS_UNLIKELY(ort_settings.cancellation) && !(t->flags & ORT_TASK_COPIED) &&
                     ort_task_is_cancelled(t->team, t->group);
    if (PS_UNLIKELY(cancelled)) {
        if (tool)
            ort_tool_task_discarded(t);
    } else {
        PS_PROBE1(task__begin, t->fn);
        if (PS_UNLIKELY(tool))
            ort_tool_run_task(t);
        else
            t->fn(t->data);
        PS_PROBE1(task__end, t);
    }
    if (ps_race_enabled())
        ort_task_race_end(t);
    ort_task_end_traced(thread, t, below, base, !cancelled, tool);
    if (ps_race_enabled())
        leave_turn(thread);
}

PS_NOINLINE void ort_task_end_slow(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base)
{
    if (PS_UNLIKELY(t->flags & ORT_TASK_SPECIAL)) {
        ort_task_end_run(thread, t, below, base);
        return;
    }
    thread->task = below;
    ort_tasks(thread)->base = base;
    if (t->flags & ORT_TASK_ORDERED)
        ort_depend_complete(thread, t);
    if (PS_UNLIKELY(!ort_count_is_zero_after(&t->count))) {
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

void ort_task_run(struct ort_thread *thread, struct ort_task *t)
{
    if (PS_UNLIKELY(ort_tasks_traced()))
        run_traced(thread, t);
    else
        run_untraced(thread, t);
}
