/* Tasks that run at once, as calls: the fast path in a frame (task_frame.h), the slow path through ort_task_create.
 *
 * Does: ort_task_call, ort_task_call_copied and ort_task_call_chunks, for tasks without clauses that the caller makes.
 * Also ort_task_enter and ort_task_leave, which are the slow path for a descriptor that compiled code has filled and
 * runs itself. (Entry points have the fast path for these, in a frame.) The fast path is taken if no tool or thread
 * sanitizer must be told of tasks. With cancellation on, ort_task_submit_at_once takes the slow path.
 * Callers: a member for itself.
 * Failures: none; without memory for a frame the slow path is taken, which reports the failure.
 * Cost: about 55 instructions with the entry point. */
#include "task_range.h"
#include "task_steps.h"

#include "race.h"

/* --- frames --- */

/* Called when t, a task in a frame, has ended its body and left something behind: makes its parent `below` and its
 * group count t. While t's body ran, they did not count it. */
static void count_late(struct ort_task *t, struct ort_task *below)
{
    below->count.own += ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE;
    ee_barrier_heed();
    ort_member_changed(t->owner);
    if (t->group != NULL && t->group->task == below) {
        t->flags |= ORT_TASK_IN_GROUP | ORT_TASK_SPECIAL;
        t->group->count.own += 1;
    }
}

PS_NOINLINE void ort_task_frame_outlives(struct ort_task *t)
{
    struct ort_thread *thread = t->owner;
    struct ort_task_member *m = ort_tasks(thread);
    struct ort_task *below = ps_load_relaxed(&t->parent), *under = t->under, *above = t->above;
    int64_t base = t->base;
    if (under != NULL)
        under->above = above;
    else
        m->frames = above;
    if (above != NULL)
        above->under = under;
    else
        m->last_frame = under;
    m->frame = above;
    count_late(t, below);
    ort_task_end_run(thread, t, below, base);
}

PS_NOINLINE bool ort_task_frame_add(struct ort_thread *thread)
{
    struct ort_task_member *m = ort_tasks(thread);
    struct ort_task *t = ort_task_alloc(&m->cache, 0, 1);
    if (t == NULL)
        return false;
    t->team = thread->team;
    t->owner = thread;
    t->count.own = 0;
    ort_count_begin(&t->count);
    t->under = m->last_frame;
    t->above = NULL;
    if (m->last_frame != NULL)
        m->last_frame->above = t;
    else
        m->frames = t;
    m->last_frame = m->frame = t;
    return true;
}

void ort_task_frames_drain(struct ort_task_member *m)
{
    for (struct ort_task *t = m->frames, *above; t != NULL; t = above) {
        above = t->above;
        t->flags = 0;
        ort_task_free(&m->cache, t);
    }
    m->frames = m->last_frame = m->frame = NULL;
}

/* --- calls --- */

/* Returns true if the task may run in a frame: there is memory for one, and no tool or thread sanitizer must be told of
 * the task. *discarded becomes true if the task is cancelled, and must not run. */
static PS_ALWAYS_INLINE bool may_call(struct ort_thread *thread, bool *discarded)
{
    unsigned traced = ort_tasks_traced();
    *discarded = false;
    if (!ort_frame_is_there(thread) || (traced & ORT_TASKS_TRACED))
        return false;
    *discarded = PS_UNLIKELY(traced) && ort_task_is_cancelled(thread->team, thread->task->group);
    return true;
}

PS_NOINLINE bool ort_task_call_fast(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    bool discarded;
    if (!may_call(thread, &discarded))
        return false;
    if (!discarded)
        call_in_frame(thread, fn, data, flags);
    return true;
}

struct call {
    void (*fn)(void *);
    void *data;
};
static void run_called(void *data)
{
    const struct call *call = data;
    call->fn(call->data);
}

PS_NOINLINE void ort_task_call_slow(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    if (ort_task_call_fast(thread, fn, data, flags))
        return;
    struct call call = {fn, data};
    ort_task_create(thread, &(struct ort_task_args){.fn = run_called,
                                                    .data = &call,
                                                    .size = sizeof call,
                                                    .align = alignof(struct call),
                                                    .flags = flags | ORT_TASK_UNDEFERRED});
}

/* Makes the calling kernel thread an OpenMP thread, then calls the task. Not inlined, so that ort_task_call need not
 * save registers around ort_thread_make_root. */
static PS_NOINLINE void call_as_root(void (*fn)(void *), void *data, unsigned flags)
{
    ort_thread_make_root();
    ort_task_call(fn, data, flags);
}

void ort_task_call(void (*fn)(void *), void *data, unsigned flags)
{
    struct ort_thread *thread = ee_local_inline();
    if (PS_UNLIKELY(thread == NULL)) {
        call_as_root(fn, data, flags);
        return;
    }
    call_or_slow(thread, fn, data, flags);
}

/* All chunks run in one frame, as long as no task leaves anything behind. */
void ort_task_call_chunks(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags,
                          struct ort_chunks *chunks)
{
    struct ps_deque *d = &ort_tasks(thread)->deque;
    ps_deque_index top = ps_load_relaxed(&d->top);
    if (PS_UNLIKELY(!ort_frame_is_there(thread))) {
        ort_chunk_next(chunks, data);
        ort_task_call_slow(thread, fn, data, flags);
        return;
    }
    struct ort_task *t = ort_frame_enter(thread, flags);
    do {
        ort_chunk_next(chunks, data);
        fn(data);
        if (!ort_frame_is_over(t)) {
            ort_task_frame_outlives(t);
            return;
        }
    } while (chunks->n > 0 && PS_LIKELY(ps_load_relaxed(&d->top) == top));
    ort_frame_leave(t);
}

/* --- calls with data that a function constructs --- */

/* The data of a task that runs at once is constructed on its creator's stack, if it has at most STACK_DATA_BYTES bytes
 * and needs an alignment of at most STACK_ALIGN. */
#define STACK_DATA_BYTES 16384
#define STACK_ALIGN 16

static PS_NOINLINE void call_copied_slow(struct ort_thread *thread, void (*fn)(void *), void *data,
                                         void (*copy)(void *to, void *from), size_t size, size_t align, unsigned flags)
{
    ort_task_create(
        thread,
        &(struct ort_task_args){
            .fn = fn, .data = data, .copy = copy, .size = size, .align = align, .flags = flags | ORT_TASK_UNDEFERRED});
}

static PS_ALWAYS_INLINE void call_copied(struct ort_thread *thread, void (*fn)(void *), void *data,
                                         void (*copy)(void *to, void *from), size_t size, size_t align, unsigned flags)
{
    bool discarded;
    if (PS_UNLIKELY((size > STACK_DATA_BYTES) | (align > STACK_ALIGN)) || PS_UNLIKELY(!may_call(thread, &discarded))) {
        call_copied_slow(thread, fn, data, copy, size, align, flags);
        return;
    }
    if (PS_UNLIKELY(discarded))
        return;
    /* The memory begins at a cache line, so that long copies are quick. */
    void *own = (void *)(((uintptr_t)__builtin_alloca(size + PS_CACHE_LINE - STACK_ALIGN) + PS_CACHE_LINE - 1) &
                         -(uintptr_t)PS_CACHE_LINE);
    copy(own, data);
    call_in_frame(thread, fn, own, flags);
}

void ort_task_call_copied(void (*fn)(void *), void *data, void (*copy)(void *to, void *from), size_t size, size_t align,
                          unsigned flags)
{
    call_copied(ort_self_inline(), fn, data, copy, size, align, flags);
}

/* --- descriptors that compiled code has filled --- */

/* Does what ort_task_submit does, for a task without clauses that must run at once: runs it in a frame on the data in
 * the descriptor t, then discards t. False: the fast path is not possible, and nothing was done. [switches] */
static inline bool run_at_once_fast(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags)
{
    if (PS_UNLIKELY(ort_tasks_traced()) || PS_UNLIKELY(!ort_frame_is_there(thread)))
        return false;
    call_in_frame(thread, fn, t->data, flags);
    ort_task_discard(thread, t);
    return true;
}

PS_NOINLINE bool ort_task_submit_at_once(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *),
                                         unsigned flags)
{
    return task_is_undeferred(thread, flags) && run_at_once_fast(thread, t, fn, flags);
}

void ort_task_enter(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args)
{
    struct ort_task *below = thread->task;
    ort_task_adopt(thread, t, args);
    /* A task with a detach clause does not count as undeferred here: the creator goes on when the body has run, since
     * it may be the thread that fulfills the event. */
    t->flags =
        (uint16_t)(t->flags & ORT_TASK_DETACH ? t->flags & ~ORT_TASK_UNDEFERRED : t->flags | ORT_TASK_UNDEFERRED);
    t->base = task_enter(thread, t);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_task_begins(thread, t, below);
}

void ort_task_leave(struct ort_thread *thread, struct ort_task *t)
{
    ort_task_end_traced(thread, t, ps_load_relaxed(&t->parent), t->base, true, ort_tool_on());
}
