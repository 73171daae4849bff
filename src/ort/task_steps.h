/* The steps of a task's life that the fast path and the slow path share, or that several files have in place. The files
 * of src/ort/task_*.c include it only. */
#ifndef PS_ORT_TASK_STEPS_H
#define PS_ORT_TASK_STEPS_H

#include "task_frame.h"
#include "task_internal.h"

/* Makes t the task that thread runs. The result, the base of before, is for leaving t. The tasks below t may take what
 * stands in the deque from the new base on. */
static inline int64_t task_enter(struct ort_thread *thread, struct ort_task *t)
{
    int64_t base = ort_tasks(thread)->base;
    t->owner = thread;
    ort_tasks(thread)->base = ps_deque_bottom_owner(&ort_tasks(thread)->deque);
    thread->task = t;
    return base;
}

/* Runs fn(data) as a task, in a frame. [switches] */
static PS_ALWAYS_INLINE void call_in_frame(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    struct ort_task *t = ort_frame_enter(thread, flags);
    fn(data);
    /* What is wanted again is read from t: else it is kept over the body, each word in a register to be saved. */
    __asm__("" : "+r"(t));
    if (!ort_frame_is_over(t)) {
        ort_task_frame_outlives(t);
        return;
    }
    ort_frame_leave(t);
}

/* The fast path for what most tasks below a cut-off are: neither traced nor cancelled. */
static PS_ALWAYS_INLINE void call_or_slow(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    unsigned traced = ort_tasks_traced();
    if (PS_UNLIKELY(ort_task_flags_of(thread->task) & (ORT_TASK_OWN_ICV | ORT_TASK_RECORDS)) ||
        PS_UNLIKELY(ort_tasks(thread)->frame == NULL) ||
        (PS_UNLIKELY(traced) &&
         ((traced & ORT_TASKS_TRACED) || ps_load_acquire(&thread->team->tasks.cancelled) != 0))) {
        ort_task_call_slow(thread, fn, data, flags);
        return;
    }
    call_in_frame(thread, fn, data, flags);
}

#endif
