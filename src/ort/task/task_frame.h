/* Frames: descriptors of tasks that run at once. For src/ort/task*.c, and for entry points whose compiled code runs
 * such a task itself.
 *
 * Frames. A task that runs at once is gone when its body is, unless it leaves something behind (children that are not
 * complete, ICVs, a table of dependences). Each member keeps a chain of descriptors for such tasks, one for each depth
 * to which it has called them. The next one is `frame`: a call moves it up, a return down again. What never differs
 * from use to use (team, owner, counts of zero) stays written. Its parent and its group count the task only where it
 * leaves something behind: while its body runs no other thread looks for it there. Such a task leaves the chain
 * (ort_task_frame_outlives) and ends like any other. A chain is as long as the deepest recursion so far (that
 * recursion's stack was longer); it goes with the member.
 *
 * Callers: the member, on its own behalf. Cost: about 25 instructions to enter and 12 to leave. */
#ifndef PS_ORT_TASK_FRAME_H
#define PS_ORT_TASK_FRAME_H

#include "ort.h"

/* Returns t's flags without a comparison of 16 bits with a constant, which stalls decoders. */
static PS_ALWAYS_INLINE unsigned ort_task_flags_of(const struct ort_task *t)
{
    unsigned flags = t->flags;
    __asm__("" : "+r"(flags));
    return flags;
}

/* Ends t as any other task, not as a frame: t's body is done, and it leaves something behind, or has more to give back
 * than its descriptor. [switches] */
void ort_task_frame_outlives(struct ort_task *t);
/* Adds a frame at the end of the chain. False: no memory. */
bool ort_task_frame_add(struct ort_thread *thread);

/* Whether a task may run in a frame: one is there, and the running task has no ICVs of its own. flags: the running
 * task's. */
static PS_ALWAYS_INLINE bool ort_frame_may_be(struct ort_thread *thread, unsigned flags)
{
    return !PS_UNLIKELY(flags & ORT_TASK_OWN_ICV) && PS_LIKELY(ort_tasks(thread)->frame != NULL);
}
/* As ort_frame_may_be; makes a frame where there is none. */
static PS_ALWAYS_INLINE bool ort_frame_is_there(struct ort_thread *thread)
{
    return !PS_UNLIKELY(ort_task_flags_of(thread->task) & ORT_TASK_OWN_ICV) &&
           (PS_LIKELY(ort_tasks(thread)->frame != NULL) || ort_task_frame_add(thread));
}

/* Enters the next frame, for a task of the running one with these flags. around: the flags of the task that runs. */
static PS_ALWAYS_INLINE struct ort_task *ort_frame_enter_from(struct ort_thread *thread, unsigned flags,
                                                              unsigned around)
{
    struct ort_task_member *m = ort_tasks(thread);
    struct ort_task *t = m->frame, *below = thread->task;
    m->frame = t->above;
    ps_store_relaxed(&t->parent, below);
    ps_store_relaxed(&t->depth, ps_load_relaxed(&below->depth) + 1);
    t->flags = (uint16_t)(flags | ORT_TASK_UNDEFERRED | (around & (ORT_TASK_FINAL | ORT_TASK_INCLUDES)));
    t->icv = below->icv;
    t->group = below->group;
    t->base = m->base;
    m->base = ps_deque_bottom_owner(&m->deque);
    thread->task = t;
    return t;
}

static PS_ALWAYS_INLINE struct ort_task *ort_frame_enter(struct ort_thread *thread, unsigned flags)
{
    return ort_frame_enter_from(thread, flags, ort_task_flags_of(thread->task));
}

/* Whether the body of t, a frame, has left nothing behind. */
static PS_ALWAYS_INLINE bool ort_frame_is_over(struct ort_task *t)
{
    return !PS_UNLIKELY(t->flags & ORT_TASK_SPECIAL) &&
           !PS_UNLIKELY((t->count.own | ps_load_acquire(&t->count.others)) != 0);
}
static PS_ALWAYS_INLINE void ort_frame_leave_as(struct ort_thread *thread, struct ort_task *t)
{
    thread->task = ps_load_relaxed(&t->parent);
    ort_tasks(thread)->base = t->base;
    ort_tasks(thread)->frame = t;
}
static PS_ALWAYS_INLINE void ort_frame_leave(struct ort_task *t) { ort_frame_leave_as(t->owner, t); }

#endif
