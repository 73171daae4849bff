/* Frames: descriptors of tasks that run at once. Used by the files of this folder, and by entry points that let
 * compiled code run such a task (abi/kmpc/task.c).
 *
 * A task that runs at once is gone when its body has returned, unless it leaves something behind (children that are not
 * complete, ICVs, a table of dependences). Each member keeps a chain of descriptors for such tasks, one for each depth
 * to which it has nested their calls. `frame` is the next free one: a call moves it one up the chain, a return one
 * down. Fields that are the same in each use (team, owner, counts of zero) stay written. The task's parent and group
 * count it only if it leaves something behind: while its body runs, no other thread asks for these counts. A task that
 * leaves something behind is taken out of the chain (ort_task_frame_outlives), and ends like any other. A chain is as
 * long as the deepest recursion so far, and is freed with the member.
 *
 * Callers: a member for itself. Cost: about 25 instructions to enter and 12 to leave. */
#ifndef PS_ORT_TASK_FRAME_H
#define PS_ORT_TASK_FRAME_H

#include "ort.h"

/* Returns t's flags. The asm statement makes the compiler load the flags first. A comparison of 16 bits in memory with
 * a constant would stall the decoders of some processors. */
static PS_ALWAYS_INLINE unsigned ort_task_flags_of(const struct ort_task *t)
{
    unsigned flags = t->flags;
    __asm__("" : "+r"(flags));
    return flags;
}

/* Takes t, a frame, out of the chain and ends it like any other task. Called when t's body is done, and t has left
 * something behind, or has more than its descriptor to give back. [switches] */
void ort_task_frame_outlives(struct ort_task *t);
/* Called when the member's chain has no free frame: adds one at its end. False: no memory. */
bool ort_task_frame_add(struct ort_thread *thread);

/* Returns true if a task may run in a frame: the chain has a free one, and the running task has no ICVs of its own.
 * flags: the running task's. */
static PS_ALWAYS_INLINE bool ort_frame_may_be(struct ort_thread *thread, unsigned flags)
{
    return !PS_UNLIKELY(flags & ORT_TASK_OWN_ICV) && PS_LIKELY(ort_tasks(thread)->frame != NULL);
}
/* As ort_frame_may_be, but makes a frame if the chain has no free one. */
static PS_ALWAYS_INLINE bool ort_frame_is_there(struct ort_thread *thread)
{
    return !PS_UNLIKELY(ort_task_flags_of(thread->task) & ORT_TASK_OWN_ICV) &&
           (PS_LIKELY(ort_tasks(thread)->frame != NULL) || ort_task_frame_add(thread));
}

/* Enters the next frame, for a child of the running task. flags: the new task's; around: the running task's. */
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

/* Returns true if t, a frame whose body is done, has left nothing behind. */
static PS_ALWAYS_INLINE bool ort_frame_is_over(struct ort_task *t)
{
    return !PS_UNLIKELY(t->flags & ORT_TASK_SPECIAL) && PS_LIKELY(ort_count_is_untouched(&t->count));
}
static PS_ALWAYS_INLINE void ort_frame_leave_as(struct ort_thread *thread, struct ort_task *t)
{
    thread->task = ps_load_relaxed(&t->parent);
    ort_tasks(thread)->base = t->base;
    ort_tasks(thread)->frame = t;
}
static PS_ALWAYS_INLINE void ort_frame_leave(struct ort_task *t) { ort_frame_leave_as(t->owner, t); }

#endif
