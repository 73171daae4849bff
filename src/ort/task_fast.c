/* The fast path of tasks that have nothing special: made, taken by the member that waits for them, run, gone.
 *
 * Does: ort_task_create and ort_task_submit for a task without clauses, also where it runs at once (ort_task_spawn,
 * ort_task_call), and for one that has dependences alone (..._ordered); ort_task_run, taskwait. Does not: anything that
 * most tasks have no need of; what it meets of that kind it hands to the slow path (task.c), before it has changed
 * anything. Where a tool, a thread sanitizer or cancellation wants to hear of tasks (ort_tasks_traced) every task takes
 * the slow path, so that nothing here asks for them one by one (but for one that runs at once: where nothing of the
 * team's is cancelled it takes the fast path under cancellation too).
 * Callers: a member on its own behalf. States and fields: task.h; ORT_TASK_SPECIAL says which tasks end on the slow
 * path.
 *
 * Frames. A task that runs at once is gone when its body is, unless it leaves something behind (children that are not
 * complete, ICVs, a table of dependences). Each member keeps a chain of descriptors for such tasks, one for each depth
 * to which it has called them: the next one is `frame`, calling moves it up, returning down again. What never differs
 * from use to use (team, owner, counts of zero) stays written. Its parent and its group count the task only where it
 * leaves something behind: while its body runs nobody else looks for it there. Such a task leaves the chain (`outlive`)
 * and ends like any other. A chain is as long as the deepest recursion so far, whose stack was longer; it goes with the
 * member.
 *
 * Ordering: none of its own: the push publishes what create wrote (deque.h), the counts' is in task.h.
 * Failures: none; without memory the slow path is taken, which says so.
 * Cost: about 60 instructions to make a task, 70 to take, run and end it, 55 with the entry point for one that runs at
 * once; read-modify-writes: those of the deque.
 * Rejected: the same as special cases within the slow path: each test costs every task an instruction or two and a
 * branch; together they were half of a task's 440 instructions. */
#include "task_range.h"

#include <string.h>

#include "race.h"

/* Longer data, or data that wants more alignment than the descriptor has, takes the slow path. */
#define PLAIN_DATA_BYTES 64

/* In place, since a call would have every register of its caller's saved. */
static PS_ALWAYS_INLINE void copy_words(void *to, const void *from, size_t bytes)
{
    size_t i = 0;
    for (; i + sizeof(uint64_t) <= bytes; i += sizeof(uint64_t)) {
        memcpy((char *)to + i, (const char *)from + i, sizeof(uint64_t));
        __asm__("" : "+r"(i)); /* a few words: what a vector loop sets up would cost more */
    }
    for (; PS_UNLIKELY(i < bytes); i++) {
        ((char *)to)[i] = ((const char *)from)[i];
        __asm__("" : "+r"(i));
    }
}

/* Without a comparison of 16 bits with a constant, which stalls decoders. */
static PS_ALWAYS_INLINE unsigned flags_of(const struct ort_task *t)
{
    unsigned flags = t->flags;
    __asm__("" : "+r"(flags));
    return flags;
}

/* A task made here and now may take the fast path. */
static inline bool short_way(struct ort_thread *thread)
{
    return !PS_UNLIKELY(ort_tasks_traced()) && PS_LIKELY(ps_deque_has_room_owner(&thread->tasks.deque)) &&
           !PS_UNLIKELY(flags_of(thread->task) &
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

/* --- tasks that run at once --- */

/* What a task that runs at once spares its parent and its group, as long as its body runs. */
static void count_it(struct ort_task *t, struct ort_task *below)
{
    below->count.own += ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE;
    if (t->group != NULL && t->group->task == below) {
        t->flags |= ORT_TASK_IN_GROUP | ORT_TASK_SPECIAL;
        t->group->count.own += 1;
    }
}

/* t, whose body is done, leaves something behind, or has more to give back than its descriptor: it is a frame no
 * longer, and ends like any
 * other task. */
static PS_NOINLINE void outlive(struct ort_task *t)
{
    struct ort_thread *thread = t->owner;
    struct ort_task_member *m = &thread->tasks;
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
    count_it(t, below);
    ort_task_leave_run(thread, t, below, base);
}

/* One frame more, at the end. False: no memory. */
static PS_NOINLINE bool add_frame(struct ort_thread *thread)
{
    struct ort_task_member *m = &thread->tasks;
    struct ort_task *t = ort_task_alloc(&m->cache, 0, 1);
    if (t == NULL)
        return false;
    t->team = thread->team;
    t->owner = thread;
    t->count.own = 0;
    ps_store_relaxed(&t->count.others, 0);
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

/* There is a frame, and nothing that the body would have to be asked about in its own. */
static PS_ALWAYS_INLINE bool short_call(struct ort_thread *thread)
{
    return !PS_UNLIKELY(flags_of(thread->task) & (ORT_TASK_OWN_ICV | ORT_TASK_RECORDS)) &&
           (PS_LIKELY(thread->tasks.frame != NULL) || add_frame(thread));
}

static PS_ALWAYS_INLINE struct ort_task *enter_frame(struct ort_thread *thread, unsigned flags)
{
    struct ort_task_member *m = &thread->tasks;
    struct ort_task *t = m->frame, *below = thread->task;
    m->frame = t->above;
    ps_store_relaxed(&t->parent, below);
    ps_store_relaxed(&t->depth, ps_load_relaxed(&below->depth) + 1);
    t->flags = (uint16_t)(flags | ORT_TASK_UNDEFERRED | (flags_of(below) & (ORT_TASK_FINAL | ORT_TASK_INCLUDES)));
    t->icv = below->icv;
    t->group = below->group;
    t->base = m->base;
    m->base = ps_deque_bottom_owner(&m->deque);
    thread->task = t;
    return t;
}

/* The body of t, a frame, has left nothing behind. */
static PS_ALWAYS_INLINE bool is_over(struct ort_task *t)
{
    return !PS_UNLIKELY(t->flags & ORT_TASK_SPECIAL) &&
           !PS_UNLIKELY((t->count.own | ps_load_acquire(&t->count.others)) != 0);
}
static PS_ALWAYS_INLINE void leave_frame(struct ort_task *t)
{
    struct ort_thread *thread = t->owner;
    thread->task = ps_load_relaxed(&t->parent);
    thread->tasks.base = t->base;
    thread->tasks.frame = t;
}

static PS_ALWAYS_INLINE void call(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    struct ort_task *t = enter_frame(thread, flags);
    fn(data);
    /* What is wanted again is read from t: else it is kept over the body, each word in a register to be saved. */
    __asm__("" : "+r"(t));
    if (!is_over(t)) {
        outlive(t);
        return;
    }
    leave_frame(t);
}

/* Nobody wants to hear of the call; discarded: but it is cancelled. */
static PS_ALWAYS_INLINE bool may_call(struct ort_thread *thread, bool *discarded)
{
    unsigned traced = ort_tasks_traced();
    *discarded = false;
    if (!short_call(thread) || (traced & ORT_TASKS_TRACED))
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
        call(thread, fn, data, flags);
    return true;
}

/* The fast path for what most tasks below a cut-off are: neither traced nor cancelled. */
static PS_ALWAYS_INLINE void call_inline(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags)
{
    unsigned traced = ort_tasks_traced();
    if (PS_UNLIKELY(flags_of(thread->task) & (ORT_TASK_OWN_ICV | ORT_TASK_RECORDS)) ||
        PS_UNLIKELY(thread->tasks.frame == NULL) ||
        (PS_UNLIKELY(traced) &&
         ((traced & ORT_TASKS_TRACED) || ps_load_acquire(&thread->team->tasks.cancelled) != 0))) {
        ort_task_call_long(thread, fn, data, flags);
        return;
    }
    call(thread, fn, data, flags);
}

/* A kernel thread that is no OpenMP thread yet becomes one, and enters again; apart, so that nothing is kept over that
 * call. */
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
    call_inline(thread, fn, data, flags);
}

/* The same of a descriptor that compiled code has filled, and runs itself. */
static PS_ALWAYS_INLINE void enter_uncounted(struct ort_thread *thread, struct ort_task *t, unsigned flags)
{
    struct ort_task *below = thread->task;
    ps_store_relaxed(&t->parent, below);
    ps_store_relaxed(&t->depth, ps_load_relaxed(&below->depth) + 1);
    t->team = thread->team;
    t->icv = below->icv;
    t->group = below->group;
    t->flags = (uint16_t)(flags | t->flags | ORT_TASK_UNDEFERRED | ORT_TASK_UNCOUNTED |
                          (flags_of(below) & (ORT_TASK_FINAL | ORT_TASK_INCLUDES)));
    t->owner = thread;
    t->count.own = 0;
    ps_store_relaxed(&t->count.others, 0);
    t->base = thread->tasks.base;
    thread->tasks.base = ps_deque_bottom_owner(&thread->tasks.deque);
    thread->task = t;
}

static PS_NOINLINE void leave_long(struct ort_thread *thread, struct ort_task *t)
{
    if (t->flags & ORT_TASK_UNCOUNTED)
        count_it(t, ps_load_relaxed(&t->parent));
    ort_task_leave_counted(thread, t);
}

static PS_ALWAYS_INLINE void leave_uncounted(struct ort_thread *thread, struct ort_task *t)
{
    if (PS_UNLIKELY((flags_of(t) & (ORT_TASK_UNCOUNTED | ORT_TASK_SPECIAL)) != ORT_TASK_UNCOUNTED) ||
        PS_UNLIKELY((t->count.own | ps_load_acquire(&t->count.others)) != 0)) {
        leave_long(thread, t);
        return;
    }
    thread->task = ps_load_relaxed(&t->parent);
    thread->tasks.base = t->base;
    ort_task_free(&thread->tasks.cache, t);
}

void ort_task_leave(struct ort_thread *thread, struct ort_task *t) { leave_uncounted(thread, t); }

bool ort_task_enter_fast(struct ort_thread *thread, struct ort_task *t, unsigned flags)
{
    if (PS_UNLIKELY(ort_tasks_traced()) || (flags_of(thread->task) & (ORT_TASK_OWN_ICV | ORT_TASK_RECORDS)))
        return false;
    enter_uncounted(thread, t, flags);
    return true;
}

/* ort_task_submit likewise of a task that would have to be run at once: runs it. [switches] */
static inline bool run_plain(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags)
{
    if (!ort_task_enter_fast(thread, t, flags))
        return false;
    fn(t->data);
    leave_uncounted(thread, t);
    return true;
}

/* A frame is entered once for all of them, as long as they leave nothing behind. */
void ort_task_call_chunks(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags,
                          struct ort_chunks *chunks)
{
    struct ps_deque *d = &thread->tasks.deque;
    int64_t top = ps_load_relaxed(&d->top);
    if (PS_UNLIKELY(!short_call(thread))) {
        ort_chunk_next(chunks, data);
        ort_task_call_long(thread, fn, data, flags);
        return;
    }
    struct ort_task *t = enter_frame(thread, flags);
    do {
        ort_chunk_next(chunks, data);
        fn(data);
        if (!is_over(t)) {
            outlive(t);
            return;
        }
    } while (chunks->n > 0 && PS_LIKELY(ps_load_relaxed(&d->top) == top));
    leave_frame(t);
}

/* Data of a task that runs at once, up to so many bytes, is constructed on its creator's stack, which is aligned to so
 * many. */
#define STACK_DATA_BYTES 16384
#define STACK_ALIGN 16

static PS_NOINLINE void call_copied_long(struct ort_thread *thread, void (*fn)(void *), void *data,
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
        call_copied_long(thread, fn, data, copy, size, align, flags);
        return;
    }
    if (PS_UNLIKELY(discarded))
        return;
    /* As a line begins, which long copies want. */
    void *own = (void *)(((uintptr_t)__builtin_alloca(size + PS_CACHE_LINE - STACK_ALIGN) + PS_CACHE_LINE - 1) &
                         -(uintptr_t)PS_CACHE_LINE);
    copy(own, data);
    call(thread, fn, own, flags);
}

void ort_task_call_copied(void (*fn)(void *), void *data, void (*copy)(void *to, void *from), size_t size, size_t align,
                          unsigned flags)
{
    call_copied(ort_self_inline(), fn, data, copy, size, align, flags);
}

static PS_NOINLINE void spawn_copied_long(struct ort_thread *thread, void (*fn)(void *), void *data,
                                          void (*copy)(void *to, void *from), size_t size, size_t align, unsigned flags)
{
    if (ort_task_is_undeferred(thread, flags))
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
    if (flags_of(thread->task) & (ORT_TASK_FINAL | ORT_TASK_INCLUDES)) {
        call_copied(thread, fn, data, copy, size, align, flags);
        return;
    }
    if (!short_way(thread)) {
        spawn_copied_long(thread, fn, data, copy, size, align, flags);
        return;
    }
    struct ort_task *t = ort_task_new(thread, size, align);
    copy(t->data, data);
    publish(thread, t, fn, t->flags | flags | ORT_TASK_COPIED);
}

/* --- tasks that are queued --- */

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
    struct ort_task_cache *cache = &thread->tasks.cache;
    struct ort_task *t = cache->free[0];
    if (flags_of(thread->task) & (ORT_TASK_FINAL | ORT_TASK_INCLUDES)) {
        call_inline(thread, fn, data, flags);
        return;
    }
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

/* No fast path to the queue; perhaps one for what has to run at once. */
static PS_NOINLINE bool submit_at_once(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *),
                                       unsigned flags)
{
    return ort_task_is_undeferred(thread, flags) && run_plain(thread, t, fn, flags);
}

bool ort_task_submit_fast(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags)
{
    if (!short_way(thread))
        return submit_at_once(thread, t, fn, flags);
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
    struct ort_thread *thread = ort_self_inline();
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
    if (PS_UNLIKELY(flags_of(t) & (ORT_TASK_SPECIAL | ORT_TASK_ORDERED)) ||
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

void ort_task_run(struct ort_thread *thread, struct ort_task *t)
{
    if (PS_UNLIKELY(ort_tasks_traced()))
        ort_task_run_traced(thread, t);
    else
        run(thread, t);
}

/* There is something to wait for. [switches] */
PS_NOINLINE static void wait_children(struct ort_thread *thread, struct ort_task *self)
{
    struct ps_deque *d = &thread->tasks.deque;
    do {
        struct ort_task *t = NULL;
        if (PS_LIKELY(ps_load_seq(&thread->team->tasks.priority_count) == 0) &&
            !PS_UNLIKELY(ps_load_relaxed(&ort_tasks_in_order)) &&
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
    if (PS_UNLIKELY(ort_tasks_traced()) && (any || ps_race_enabled()))
        ort_taskwait_traced(thread);
    else if (any)
        wait_children(thread, self);
}
