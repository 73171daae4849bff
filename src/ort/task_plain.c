/* The short way of tasks that have nothing special: made, taken by the member that waits for them, run, gone.
 *
 * Does: ort_task_create and ort_task_submit for a task without clauses, also where it runs at once (ort_task_spawn, ort_task_call), and for one that has
 * dependences alone (..._ordered); ort_task_run, taskwait. Does not: anything that most tasks have no need of; what it meets of
 * that kind it hands to the long way (task.c), before it has changed anything. Where a tool, a thread sanitizer or cancellation wants to hear of
 * tasks (ort_tasks_watched) every task goes the long way, so that nothing here asks for them one by one
 * (but for one that runs at once: where nothing of the team's is cancelled it goes the short way under cancellation too).
 * Callers: a member on its own behalf. States and fields: task.h; ORT_TASK_SPECIAL says which tasks end the long way.
 *
 * Ordering: none of its own: the push publishes what create wrote (deque.h), the counts' is in task.h.
 * Failures: none; without memory the long way is taken, which says so.
 * Cost: about 60 instructions to make a task, 70 to take, run and end it, 85 with the entry point for one that runs at once; read-modify-writes: those of the deque.
 * Rejected: the same as special cases within the long way: each test costs every task an instruction or two and a branch; together they were half of a
 * task's 440 instructions. */
#include "task_internal.h"

#include <string.h>

#include "race.h"

/* Longer data, or data that wants more alignment than the descriptor has, goes the long way. */
#define PLAIN_DATA_BYTES 64

static inline void copy_words(void *to, const void *from, size_t bytes)
{
    if (PS_UNLIKELY(bytes % sizeof(uint64_t) != 0)) {
        memcpy(to, from, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        memcpy((char *)to + i, (const char *)from + i, sizeof(uint64_t));
        __asm__("" : "+r"(i)); /* a few words: what a vector loop sets up would cost more */
    }
}

/* A task made here and now may go the short way. */
static inline bool short_way(struct ort_thread *thread)
{
    return !PS_UNLIKELY(ort_tasks_watched()) && PS_LIKELY(ps_deque_has_room_owner(&thread->tasks.deque)) &&
           !PS_UNLIKELY(thread->task->flags &
                        (ORT_TASK_FINAL | ORT_TASK_INCLUDES | ORT_TASK_OWN_ICV | ORT_TASK_RECORDS));
}

/* t becomes a child of the current task `parent`, which counts it, or may yet. */
static PS_ALWAYS_INLINE void adopt(struct ort_thread *thread, struct ort_task *parent, struct ort_task *t,
                                   void (*fn)(void *), unsigned flags, int64_t count)
{
    t->fn = fn;
    ps_store_relaxed(&t->parent, parent);
    ps_store_relaxed(&t->depth, ps_load_relaxed(&parent->depth) + 1);
    t->team = thread->team;
    t->icv = parent->icv;
    t->flags = (uint16_t)flags;
    t->count.own = 0;
    ps_store_relaxed(&t->count.others, 0);
    parent->count.own += count;
    struct ort_taskgroup *group = parent->group;
    t->group = group;
    if (PS_UNLIKELY(group != NULL) && group->task == parent) {
        t->flags |= ORT_TASK_IN_GROUP | ORT_TASK_SPECIAL;
        group->count.own += 1;
    }
}

/* t, whose data is in place, becomes a child of the current task and is queued. */
static inline void publish(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags)
{
    adopt(thread, thread->task, t, fn, flags, ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE);
    ps_deque_push_room_owner(&thread->tasks.deque, t);
    ort_task_pushed(thread, t);
}

void ort_task_spawn(void (*fn)(void *), void *data, size_t size, size_t align, unsigned flags)
{
    struct ort_thread *thread = ort_self();
    struct ort_task_cache *cache = &thread->tasks.cache;
    struct ort_task *t = cache->free[0];
    if (!short_way(thread) || PS_UNLIKELY(size > PLAIN_DATA_BYTES) || PS_UNLIKELY(align > PS_CACHE_LINE) ||
        PS_UNLIKELY(t == NULL)) {
        ort_task_spawn_long(thread, fn, data, size, align, flags);
        return;
    }
    cache->free[0] = t->next;
    cache->count[0]--;
    copy_words(t->data, data, size);
    publish(thread, t, fn, flags);
}

bool ort_task_submit_plain(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags)
{
    if (!short_way(thread))
        return false;
    publish(thread, t, fn, t->flags | flags);
    return true;
}

/* The same where it has predecessors perhaps, the last of which queues it then. */
static inline void publish_ordered(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags,
                                   const struct ort_depend_list *depend)
{
    adopt(thread, thread->task, t, fn, flags, ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE);
    if (!ort_depend_insert(thread, t, depend))
        return;
    ps_deque_push_room_owner(&thread->tasks.deque, t);
    ort_task_pushed(thread, t);
}

void ort_task_spawn_ordered(void (*fn)(void *), void *data, size_t size, size_t align, unsigned flags,
                            const struct ort_depend_list *depend)
{
    struct ort_thread *thread = ort_self();
    struct ort_task_cache *cache = &thread->tasks.cache;
    struct ort_task *t = cache->free[0];
    if (!short_way(thread) || PS_UNLIKELY(size > PLAIN_DATA_BYTES) || PS_UNLIKELY(align > PS_CACHE_LINE) ||
        PS_UNLIKELY(t == NULL)) {
        ort_task_create(thread,
                        &(struct ort_task_args){
                            .fn = fn, .data = data, .size = size, .align = align, .flags = flags, .depend = depend});
        return;
    }
    cache->free[0] = t->next;
    cache->count[0]--;
    __builtin_prefetch(t->next, 1); /* as a rule another member has ended it */
    __builtin_prefetch((char *)t->next + PS_CACHE_LINE, 1);
    copy_words(t->data, data, size);
    publish_ordered(thread, t, fn, flags, depend);
}

bool ort_task_submit_ordered(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags,
                             const struct ort_depend_list *depend)
{
    if (!short_way(thread))
        return false;
    publish_ordered(thread, t, fn, t->flags | flags, depend);
    return true;
}

/* Makes t the task that thread runs; what the tasks below it may take stands in the deque from the answer on. */
static inline int64_t enter(struct ort_thread *thread, struct ort_task *t)
{
    int64_t base = thread->tasks.base;
    t->owner = thread;
    thread->tasks.base = ps_deque_bottom_owner(&thread->tasks.deque);
    thread->task = t;
    return base;
}

/* The body of t is done, and there is more to be done than to count that for `below`. [switches] */
static PS_NOINLINE void leave_run(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base)
{
    if (PS_UNLIKELY(t->flags & ORT_TASK_SPECIAL)) {
        ort_task_leave_run(thread, t, below, base);
        return;
    }
    thread->task = below;
    thread->tasks.base = base;
    if (t->flags & ORT_TASK_ORDERED)
        ort_depend_complete(thread, t);
    if (PS_UNLIKELY(t->count.own + ps_load_acquire(&t->count.others) != 0)) {
        ort_task_complete(thread, t);
        return;
    }
    struct ort_task *parent = ps_load_relaxed(&t->parent);
    ort_task_free(&thread->tasks.cache, t);
    if (PS_LIKELY(parent == below))
        below->count.own -= ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE;
    else
        ort_task_lose_child(thread, parent);
}

/* Runs t, whose body's end is its own end as a rule. [switches] */
static inline void run(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_task *below = thread->task;
    int64_t base = enter(thread, t);
    t->fn(t->data);
    if (PS_UNLIKELY(t->flags & (ORT_TASK_SPECIAL | ORT_TASK_ORDERED)) ||
        PS_UNLIKELY(t->count.own + ps_load_acquire(&t->count.others) != 0) ||
        PS_UNLIKELY(ps_load_relaxed(&t->parent) != below)) {
        leave_run(thread, t, below, base);
        return;
    }
    thread->task = below;
    thread->tasks.base = base;
    ort_task_free(&thread->tasks.cache, t);
    below->count.own -= ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE;
}

/* There is a descriptor at hand, and nothing that the body would have to be asked about in its own. */
static PS_ALWAYS_INLINE bool short_call(struct ort_thread *thread)
{
    return !PS_UNLIKELY(thread->task->flags & (ORT_TASK_OWN_ICV | ORT_TASK_RECORDS)) &&
           PS_LIKELY(thread->tasks.cache.free[0] != NULL);
}

/* Its parent counts it only where it leaves something behind: while its body runs nobody else looks for it there. What is wanted again behind
 * the body stands in t, not in registers that each entry and return would save. */
static PS_ALWAYS_INLINE void call(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    struct ort_task_cache *cache = &thread->tasks.cache;
    struct ort_task *t = cache->free[0], *below = thread->task;
    cache->free[0] = t->next;
    cache->count[0]--;
    adopt(thread, below, t, fn, flags | ORT_TASK_UNDEFERRED | (below->flags & (ORT_TASK_FINAL | ORT_TASK_INCLUDES)), 0);
    t->base = enter(thread, t);
    fn(data);
    __asm__("" : "+r"(t)); /* else the addresses of its fields are kept over the body, each in a register to be saved */
    below = ps_load_relaxed(&t->parent);
    if (PS_UNLIKELY(t->flags & ORT_TASK_SPECIAL) ||
        PS_UNLIKELY(t->count.own + ps_load_acquire(&t->count.others) != 0)) {
        below->count.own += ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE;
        ort_task_leave_run(thread, t, below, t->base);
        return;
    }
    thread->task = below;
    thread->tasks.base = t->base;
    /* It goes back where it came from: what the list has too much was there before. */
    t->next = cache->free[0];
    cache->free[0] = t;
    cache->count[0]++;
}

PS_NOINLINE bool ort_task_call_plain(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    unsigned watched = ort_tasks_watched();
    if (!short_call(thread) || (watched & ORT_TASKS_TOLD))
        return false;
    if (!watched || !ort_task_is_cancelled(thread->team, thread->task->group))
        call(thread, fn, data, flags);
    return true;
}

void ort_task_call(void (*fn)(void *), void *data, unsigned flags)
{
    struct ort_thread *thread = ort_self();
    unsigned watched = ort_tasks_watched();
    if (!short_call(thread) || (PS_UNLIKELY(watched) &&
                                ((watched & ORT_TASKS_TOLD) || ps_load_acquire(&thread->team->tasks.cancelled) != 0))) {
        ort_task_call_long(thread, fn, data, flags);
        return;
    }
    call(thread, fn, data, flags);
}

void ort_task_run(struct ort_thread *thread, struct ort_task *t)
{
    if (PS_UNLIKELY(ort_tasks_watched()))
        ort_task_run_watched(thread, t);
    else
        run(thread, t);
}

/* There is something to wait for. [switches] */
PS_NOINLINE static void wait_children(struct ort_thread *thread, struct ort_task *self)
{
    struct ps_deque *d = &thread->tasks.deque;
    do {
        struct ort_task *t = NULL;
        if (PS_LIKELY(ps_load_seq(&thread->team->tasks.side_count) == 0) &&
            PS_LIKELY(ps_deque_bottom_owner(d) > thread->tasks.base))
            t = ps_deque_pop(d);
        if (PS_UNLIKELY(t == NULL)) {
            ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_CHILDREN, .object = self, .within = self});
            return;
        }
        run(thread, t);
    } while ((uint32_t)ort_count_total(&self->count) != 0);
}

void ort_taskwait(struct ort_thread *thread)
{
    struct ort_task *self = thread->task;
    bool any = (uint32_t)ort_count_total(&self->count) != 0;
    if (PS_UNLIKELY(ort_tasks_watched()) && (any || ps_race_watched()))
        ort_taskwait_watched(thread);
    else if (any)
        wait_children(thread, self);
}
