/* The steps of a task's life that the fast path and the slow path share, or that several files have in place. The files
 * of src/ort/task_*.c include it only.
 *
 * Frames. A task that runs at once is gone when its body is, unless it leaves something behind (children that are not
 * complete, ICVs, a table of dependences). Each member keeps a chain of descriptors for such tasks, one for each depth
 * to which it has called them: the next one is `frame`, calling moves it up, returning down again. What never differs
 * from use to use (team, owner, counts of zero) stays written. Its parent and its group count the task only where it
 * leaves something behind: while its body runs nobody else looks for it there. Such a task leaves the chain
 * (ort_task_frame_outlives) and ends like any other. A chain is as long as the deepest recursion so far, whose stack
 * was longer; it goes with the member. */
#ifndef PS_ORT_TASK_STEPS_H
#define PS_ORT_TASK_STEPS_H

#include "task_internal.h"

/* t's flags, without a comparison of 16 bits with a constant, which stalls decoders. */
static PS_ALWAYS_INLINE unsigned task_flags(const struct ort_task *t)
{
    unsigned flags = t->flags;
    __asm__("" : "+r"(flags));
    return flags;
}

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

/* t, whose body is done, leaves something behind, or has more to give back than its descriptor: it is a frame no
 * longer, and ends like any other task. [switches] */
void ort_task_frame_outlives(struct ort_task *t);
/* One frame more, at the end of the chain. False: no memory. */
bool ort_task_frame_add(struct ort_thread *thread);

/* There is a frame, and nothing that the body would have to be asked about in its own. */
static PS_ALWAYS_INLINE bool has_frame(struct ort_thread *thread)
{
    return !PS_UNLIKELY(task_flags(thread->task) & (ORT_TASK_OWN_ICV | ORT_TASK_RECORDS)) &&
           (PS_LIKELY(ort_tasks(thread)->frame != NULL) || ort_task_frame_add(thread));
}

static PS_ALWAYS_INLINE struct ort_task *frame_enter(struct ort_thread *thread, unsigned flags)
{
    struct ort_task_member *m = ort_tasks(thread);
    struct ort_task *t = m->frame, *below = thread->task;
    m->frame = t->above;
    ps_store_relaxed(&t->parent, below);
    ps_store_relaxed(&t->depth, ps_load_relaxed(&below->depth) + 1);
    t->flags = (uint16_t)(flags | ORT_TASK_UNDEFERRED | (task_flags(below) & (ORT_TASK_FINAL | ORT_TASK_INCLUDES)));
    t->icv = below->icv;
    t->group = below->group;
    t->base = m->base;
    m->base = ps_deque_bottom_owner(&m->deque);
    thread->task = t;
    return t;
}

/* The body of t, a frame, has left nothing behind. */
static PS_ALWAYS_INLINE bool frame_is_over(struct ort_task *t)
{
    return !PS_UNLIKELY(t->flags & ORT_TASK_SPECIAL) &&
           !PS_UNLIKELY((t->count.own | ps_load_acquire(&t->count.others)) != 0);
}
static PS_ALWAYS_INLINE void frame_leave(struct ort_task *t)
{
    struct ort_thread *thread = t->owner;
    thread->task = ps_load_relaxed(&t->parent);
    ort_tasks(thread)->base = t->base;
    ort_tasks(thread)->frame = t;
}

/* Runs fn(data) as a task, in a frame. [switches] */
static PS_ALWAYS_INLINE void call_in_frame(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    struct ort_task *t = frame_enter(thread, flags);
    fn(data);
    /* What is wanted again is read from t: else it is kept over the body, each word in a register to be saved. */
    __asm__("" : "+r"(t));
    if (!frame_is_over(t)) {
        ort_task_frame_outlives(t);
        return;
    }
    frame_leave(t);
}

/* The fast path for what most tasks below a cut-off are: neither traced nor cancelled. */
static PS_ALWAYS_INLINE void call_or_slow(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    unsigned traced = ort_tasks_traced();
    if (PS_UNLIKELY(task_flags(thread->task) & (ORT_TASK_OWN_ICV | ORT_TASK_RECORDS)) ||
        PS_UNLIKELY(ort_tasks(thread)->frame == NULL) ||
        (PS_UNLIKELY(traced) &&
         ((traced & ORT_TASKS_TRACED) || ps_load_acquire(&thread->team->tasks.cancelled) != 0))) {
        ort_task_call_slow(thread, fn, data, flags);
        return;
    }
    call_in_frame(thread, fn, data, flags);
}

#endif
