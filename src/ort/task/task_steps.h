/* Steps of a task's life that the fast path and the slow path share, or that are inlined in several files. Included by
 * the files of this folder that make or run tasks, or tell tools of them. */
#ifndef PS_ORT_TASK_STEPS_H
#define PS_ORT_TASK_STEPS_H

#include "probe.h"
#include "task_frame.h"
#include "task_internal.h"

/* A member whose deque has this many tasks runs new tasks at once. Exceptions: tasks with a detach clause, and
 * ort_settings.unbounded_tasks. The deque's first buffer has room for as many. */
#define DEQUE_FULL PS_DEQUE_INITIAL
static inline bool task_deque_full(struct ps_deque *d)
{
    ps_deque_index bottom = ps_deque_bottom_owner(d);
    if (PS_LIKELY(ps_deque_distance(d->top_seen, bottom) < DEQUE_FULL))
        return false;
    d->top_seen = ps_load_acquire(&d->top);
    return ps_deque_distance(d->top_seen, bottom) >= DEQUE_FULL && !ort_settings.unbounded_tasks;
}

/* Returns true if a task that the caller makes now must be run at once. flags: ort_task_args.flags. */
static inline bool task_is_undeferred(struct ort_thread *thread, unsigned flags)
{
    if (PS_UNLIKELY((flags & ORT_TASK_UNDEFERRED) || (thread->task->flags & ORT_TASK_FINAL) ||
                    thread->team->level == 0))
        return true;
    return PS_UNLIKELY(task_deque_full(&ort_tasks(thread)->deque)) && !(flags & ORT_TASK_DETACH);
}

/* Makes t the task that `thread` runs. Returns the member's former base, which is restored when t ends. While t runs,
 * `thread` pops only items from the new base on. */
static inline int64_t task_enter(struct ort_thread *thread, struct ort_task *t)
{
    int64_t base = ort_tasks(thread)->base;
    t->owner = thread;
    ort_tasks(thread)->base = ps_deque_bottom_owner(&ort_tasks(thread)->deque);
    thread->task = t;
    return base;
}

/* Runs t, and ends it. Called while tasks are not traced. If t has dependences, has left something behind, or is not a
 * child of the current task, ort_task_end_slow ends it. [switches] */
static inline void run_untraced(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_task *below = thread->task;
    int64_t base = task_enter(thread, t);
    PS_PROBE1(task__begin, t->fn);
    t->fn(t->data);
    PS_PROBE1(task__end, t);
    if (PS_UNLIKELY(ort_task_flags_of(t) & (ORT_TASK_SPECIAL | ORT_TASK_ORDERED)) ||
        PS_UNLIKELY(!ort_count_is_zero_after(&t->count)) || PS_UNLIKELY(ps_load_relaxed(&t->parent) != below)) {
        ort_task_end_slow(thread, t, below, base);
        return;
    }
    thread->task = below;
    ort_tasks(thread)->base = base;
    ort_task_free(&ort_tasks(thread)->cache, t);
    below->count.own -= ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE;
}

/* Runs fn(data) as a task, in a frame. [switches] */
static PS_ALWAYS_INLINE void call_in_frame(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    struct ort_task *t = ort_frame_enter(thread, flags);
    PS_PROBE1(task__begin, fn);
    fn(data);
    PS_PROBE1(task__end, t);
    /* Makes the compiler read the values that the end needs from t. Otherwise it would keep each of them in a register
     * during the body, and each such register would have to be saved. */
    __asm__("" : "+r"(t));
    if (!ort_frame_is_over(t)) {
        ort_task_frame_outlives(t);
        return;
    }
    ort_frame_leave(t);
}

/* Calls fn(data) as a task that runs at once. Takes the fast path if tasks are not traced, nothing of the team is
 * cancelled, and the task may run in a frame. [switches] */
static PS_ALWAYS_INLINE void call_or_slow(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    unsigned traced = ort_tasks_traced();
    if (PS_UNLIKELY(ort_task_flags_of(thread->task) & ORT_TASK_OWN_ICV) ||
        PS_UNLIKELY(ort_tasks(thread)->frame == NULL) ||
        (PS_UNLIKELY(traced) &&
         ((traced & ORT_TASKS_TRACED) || ps_load_acquire(&thread->team->tasks.cancelled) != 0))) {
        ort_task_call_slow(thread, fn, data, flags);
        return;
    }
    call_in_frame(thread, fn, data, flags);
}

#endif
