/* Making tasks: the fast path and the slow path beside each other.
 *
 * The fast path (takes_fast_path, publish_task) makes a task without clauses, or with dependences alone, and pushes it.
 * The slow path (ort_task_create, ort_task_submit) makes every other task. Both make it a child by adopt_child. A
 * function of the fast path changes to the slow path before it has changed anything.
 * If a tool, a thread sanitizer or cancellation must be told of tasks (ort_tasks_traced), every task that is queued
 * takes the slow path. So the fast path tests for none of the three.
 * Callers: a member for itself, on its own stack, with no lock held. States and fields: task.h.
 *
 * Undeferred tasks (task_is_undeferred) are those with if(0), children of final tasks, tasks of a root outside of every
 * region, and tasks without a detach clause that are made while the creator's deque is full. An undeferred task has a
 * descriptor like any other, so that a child which outlives it finds its parent. But it is in no queue: its creator
 * runs it as a call.
 *
 * Ordering: the push publishes what the creator wrote (deque.h).
 * Failures: if there is no memory for a descriptor, one comes from the emergency pool (emergency_pool.h). If that is
 * empty, the member runs ready tasks until a descriptor is free. If none is free after TASK_TRIES tries, the runtime
 * aborts with one line.
 * Cost: about 75 instructions a task on the fast path. For a child made and run by the same member: no
 * read-modify-write, and no fence while no thread steals from the member (deque.h); else one fence behind the push, and
 * one in the pop.
 * Rejected: the fast path as special cases within the slow one. Each test costs every task an instruction or two and a
 * branch; together the tests were half of a task's 440 instructions. */
#include "task_steps.h"

#include <string.h>

#include "race.h"

/* ort_task_spawn and ort_task_spawn_ordered take the slow path for longer data, and for data that needs more alignment
 * than a cache line. */
#define PLAIN_DATA_BYTES 64

/* Inlined, because for a call the caller would have to save its registers. */
static PS_ALWAYS_INLINE void copy_task_words(void *to, const void *from, size_t bytes)
{
    size_t i = 0;
    for (; i + sizeof(uint64_t) <= bytes; i += sizeof(uint64_t)) {
        memcpy((char *)to + i, (const char *)from + i, sizeof(uint64_t));
        __asm__("" : "+r"(i)); /* prevents a vector loop, whose preparation would cost more for a few words */
    }
    for (; PS_UNLIKELY(i < bytes); i++) {
        ((char *)to)[i] = ((const char *)from)[i];
        __asm__("" : "+r"(i));
    }
}

/* Copies the task's data, which is mostly a few pointers and numbers: a call of memcpy would cost more than the
 * copy. */
static inline void copy_task_data(void *to, const void *from, size_t bytes)
{
    if (PS_LIKELY(bytes <= PLAIN_DATA_BYTES))
        copy_task_words(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

#define TASK_TRIES 1000 /* how often a member that gets no descriptor runs ready tasks and tries again */

/* Called if neither the system nor the emergency pool has memory for a task: runs ready tasks, so that their
 * descriptors become free. [switches] */
static PS_COLD PS_NOINLINE struct ort_task *new_task_in_time(struct ort_thread *thread, size_t size, size_t align)
{
    struct ort_task *t = NULL;
    for (int i = 0; t == NULL && i < TASK_TRIES; i++) {
        ort_taskyield(thread);
        t = ort_task_alloc(&ort_tasks(thread)->cache, size, align);
    }
    PS_CHECK(t != NULL, "out of memory for a task of %zu bytes", size);
    return t;
}

struct ort_task *ort_task_new(struct ort_thread *thread, size_t size, size_t align)
{
    struct ort_task *t = ort_task_alloc(&ort_tasks(thread)->cache, size, align);
    if (PS_UNLIKELY(t == NULL))
        t = new_task_in_time(thread, size, align);
    ps_race_acquire(t);
    return t;
}

/* Makes t a child of `parent`, the current task, which counts it from now on. */
static PS_ALWAYS_INLINE void adopt_child(struct ort_thread *thread, struct ort_task *parent, struct ort_task *t,
                                         void (*fn)(void *), unsigned flags)
{
    t->fn = fn;
    ps_store_relaxed(&t->parent, parent);
    ps_store_relaxed(&t->depth, ps_load_relaxed(&parent->depth) + 1);
    t->team = thread->team;
    t->icv = parent->icv;
    t->flags = (uint16_t)flags;
    t->count.own = 0;
    ort_count_begin(&t->count);
    parent->count.own += ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE;
    ee_barrier_heed();
    ort_member_changed(thread);
    struct ort_taskgroup *group = parent->group;
    t->group = group;
    if (PS_UNLIKELY(group != NULL) && group->task == parent) {
        t->flags |= ORT_TASK_IN_GROUP | ORT_TASK_SPECIAL;
        group->count.own += 1;
    }
}

/* As adopt_child, for a task with any clauses. Does not write its data. */
static inline void adopt_with_args(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args)
{
    struct ort_task *parent = thread->task;
    unsigned inherited = parent->flags & (ORT_TASK_FINAL | ORT_TASK_INCLUDES | ORT_TASK_TRACED);
    adopt_child(thread, parent, t, args->fn, t->flags | args->flags | inherited);
    ort_icv_share(parent->icv);
    t->owner = NULL;
    t->priority = args->priority < ort_settings.max_task_priority ? args->priority : ort_settings.max_task_priority;
    if (PS_UNLIKELY(args->flags & ORT_TASK_DETACH) || PS_UNLIKELY(t->priority != 0))
        t->flags |= ORT_TASK_SPECIAL;
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_task_created(thread, t, args);
}

/* --- the slow path --- */

void ort_task_adopt(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args)
{
    adopt_with_args(thread, t, args);
}

struct ort_task *ort_task_make(struct ort_thread *thread, const struct ort_task_args *args)
{
    struct ort_task *t = ort_task_new(thread, args->size, args->align);
    adopt_with_args(thread, t, args);
    if (PS_UNLIKELY(args->flags & ORT_TASK_DETACH)) {
        *args->event = t;
        if (args->data)
            *(void **)args->data = t;
    }
    if (PS_UNLIKELY(args->copy != NULL)) {
        args->copy(t->data, args->data);
        t->flags |= ORT_TASK_COPIED;
    } else {
        copy_task_data(t->data, args->data, args->size);
    }
    return t;
}

/* Runs t, an undeferred task whose predecessors are complete. The creator waits for the end of t. Exception: t has a
 * detach clause, and is undeferred only because the creator is outside of every region. Then the creator does not wait
 * for t's event, since it may be the thread that fulfills it. t gets a node, because later siblings may depend on t. */
static void run_undeferred(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args)
{
    bool outlives = (args->flags & (ORT_TASK_DETACH | ORT_TASK_UNDEFERRED)) == ORT_TASK_DETACH &&
                    !(thread->task->flags & ORT_TASK_FINAL);
    if (PS_LIKELY(!outlives)) {
        t->flags |= ORT_TASK_UNDEFERRED;
    } else if (args->depend) {
        bool ready = ort_depend_insert(thread, t, args->depend);
        PS_CHECK(ready, "a task whose predecessors were complete has others");
    }
    ort_task_run(thread, t);
}

/* Queues t, a deferred task that was made just now. If it has predecessors, the thread that completes the last of them
 * queues it. */
static void make_available(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args)
{
    ps_race_release(t);
    if (PS_UNLIKELY(args->depend != NULL) && !ort_depend_insert(thread, t, args->depend))
        return;
    ort_task_enqueue(thread, t);
}

void ort_task_create(struct ort_thread *thread, const struct ort_task_args *args)
{
    if (PS_UNLIKELY(ort_settings.cancellation) && ort_task_is_cancelled(thread->team, thread->task->group))
        return;
    if (PS_UNLIKELY(task_is_undeferred(thread, args->flags))) {
        if (args->depend)
            ort_depend_wait(thread, args->depend);
        run_undeferred(thread, ort_task_make(thread, args), args);
        return;
    }
    make_available(thread, ort_task_make(thread, args), args);
}

void ort_task_submit(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args)
{
    if (PS_UNLIKELY(ort_settings.cancellation) && !(args->flags & ORT_TASK_COPIED) &&
        ort_task_is_cancelled(thread->team, thread->task->group)) {
        ort_task_discard(thread, t);
        return;
    }
    if (PS_UNLIKELY(task_is_undeferred(thread, args->flags))) {
        if (args->depend)
            ort_depend_wait(thread, args->depend);
        adopt_with_args(thread, t, args);
        run_undeferred(thread, t, args);
        return;
    }
    adopt_with_args(thread, t, args);
    make_available(thread, t, args);
}

void ort_task_discard(struct ort_thread *thread, struct ort_task *t) { ort_task_free(&ort_tasks(thread)->cache, t); }

/* --- the fast path --- */

/* Returns true if a task that the caller makes now may take the fast path. */
static inline bool takes_fast_path(struct ort_thread *thread)
{
    return !PS_UNLIKELY(ort_tasks_traced()) && PS_LIKELY(ps_deque_has_room_owner(&ort_tasks(thread)->deque)) &&
           !PS_UNLIKELY(ort_task_flags_of(thread->task) & (ORT_TASK_FINAL | ORT_TASK_INCLUDES | ORT_TASK_OWN_ICV));
}

/* Makes t, whose data is in place, a child of the current task, and queues it. */
static inline void publish_task(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags)
{
    adopt_child(thread, thread->task, t, fn, flags);
    ps_deque_push_room_owner(&ort_tasks(thread)->deque, t);
    ort_task_pushed(thread, t);
}

/* As publish_task, for a task with dependences. If it has predecessors, the thread that completes the last of them
 * queues it. */
static inline void publish_ordered(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags,
                                   const struct ort_depend_list *depend)
{
    adopt_child(thread, thread->task, t, fn, flags);
    if (!ort_depend_insert(thread, t, depend))
        return;
    ps_deque_push_room_owner(&ort_tasks(thread)->deque, t);
    ort_task_pushed(thread, t);
}

static PS_NOINLINE void spawn_slow(struct ort_thread *thread, void (*fn)(void *), void *data, size_t size, size_t align,
                                   unsigned flags)
{
    if (task_is_undeferred(thread, flags) && ort_task_call_fast(thread, fn, data, flags))
        return;
    ort_task_create(thread,
                    &(struct ort_task_args){.fn = fn, .data = data, .size = size, .align = align, .flags = flags});
}

static PS_NOINLINE void spawn_as_root(void (*fn)(void *), void *data, size_t size, size_t align, unsigned flags)
{
    ort_thread_make_root();
    ort_task_spawn(fn, data, size, align, flags);
}

void ort_task_spawn(void (*fn)(void *), void *data, size_t size, size_t align, unsigned flags)
{
    struct ort_thread *thread = ee_local_inline();
    if (PS_UNLIKELY(thread == NULL)) {
        spawn_as_root(fn, data, size, align, flags);
        return;
    }
    struct ps_magazine *m = &ort_tasks(thread)->cache.of[0];
    if (ort_task_flags_of(thread->task) & (ORT_TASK_FINAL | ORT_TASK_INCLUDES)) {
        call_or_slow(thread, fn, data, flags);
        return;
    }
    if (!takes_fast_path(thread) || PS_UNLIKELY(size > PLAIN_DATA_BYTES) || PS_UNLIKELY(align > PS_CACHE_LINE) ||
        PS_UNLIKELY(m->free == NULL)) {
        spawn_slow(thread, fn, data, size, align, flags);
        return;
    }
    struct ort_task *t = ort_task_pop(m);
    copy_task_words(t->data, data, size);
    publish_task(thread, t, fn, flags);
}

static PS_NOINLINE void spawn_copied_slow(struct ort_thread *thread, void (*fn)(void *), void *data,
                                          void (*copy)(void *to, void *from), size_t size, size_t align, unsigned flags)
{
    if (task_is_undeferred(thread, flags))
        ort_task_call_copied(fn, data, copy, size, align, flags);
    else
        ort_task_create(thread,
                        &(struct ort_task_args){
                            .fn = fn, .data = data, .copy = copy, .size = size, .align = align, .flags = flags});
}

void ort_task_spawn_copied(void (*fn)(void *), void *data, void (*copy)(void *to, void *from), size_t size,
                           size_t align, unsigned flags)
{
    struct ort_thread *thread = ort_self_inline();
    if (ort_task_flags_of(thread->task) & (ORT_TASK_FINAL | ORT_TASK_INCLUDES)) {
        ort_task_call_copied(fn, data, copy, size, align, flags);
        return;
    }
    if (!takes_fast_path(thread)) {
        spawn_copied_slow(thread, fn, data, copy, size, align, flags);
        return;
    }
    struct ort_task *t = ort_task_new(thread, size, align);
    copy(t->data, data);
    publish_task(thread, t, fn, t->flags | flags | ORT_TASK_COPIED);
}

bool ort_task_submit_fast(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags)
{
    if (!takes_fast_path(thread))
        return ort_task_submit_at_once(thread, t, fn, flags);
    publish_task(thread, t, fn, t->flags | flags);
    return true;
}

void ort_task_spawn_ordered(void (*fn)(void *), void *data, size_t size, size_t align, unsigned flags,
                            const struct ort_depend_list *depend)
{
    struct ort_thread *thread = ort_self_inline();
    struct ps_magazine *m = &ort_tasks(thread)->cache.of[0];
    if (!takes_fast_path(thread) || PS_UNLIKELY(size > PLAIN_DATA_BYTES) || PS_UNLIKELY(align > PS_CACHE_LINE) ||
        PS_UNLIKELY(m->free == NULL)) {
        ort_task_create(thread,
                        &(struct ort_task_args){
                            .fn = fn, .data = data, .size = size, .align = align, .flags = flags, .depend = depend});
        return;
    }
    struct ort_task *t = ort_task_pop(m);
    /* The next free descriptor; no valid address if there is none. */
    uintptr_t next = (uintptr_t)m->free - offsetof(struct ort_task, piece);
    /* Usually another member's processor has this descriptor in its cache. */
    __builtin_prefetch((void *)next, 1);
    __builtin_prefetch((void *)(next + PS_CACHE_LINE), 1);
    copy_task_words(t->data, data, size);
    publish_ordered(thread, t, fn, flags, depend);
}

bool ort_task_submit_ordered(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags,
                             const struct ort_depend_list *depend)
{
    if (!takes_fast_path(thread))
        return false;
    publish_ordered(thread, t, fn, t->flags | flags, depend);
    return true;
}
