/* Explicit tasks: what the files of this folder share. Included by them, and by cancel.c, members.c, region_again.c and
 * team.c of src/ort/region. */
#ifndef PS_ORT_TASK_INTERNAL_H
#define PS_ORT_TASK_INTERNAL_H

#include "check.h"
#include "ort.h"
#include "task.h"

/* --- task_memory.c --- */

/* Returns a descriptor with room for data_bytes of data. flags, data and size_class are set; node, depends, event and
 * priority are as task.h says of a free descriptor; all other fields are undefined. NULL: no memory. */
struct ort_task *ort_task_alloc(struct ort_task_cache *cache, size_t data_bytes, size_t data_align);
#define ORT_TASK_BATCH (ORT_TASK_CACHED / 2)
/* Restores data, priority and event of t to their values in a free descriptor. Frees the block of its data, if it has
 * one. */
void ort_task_tidy(struct ort_task *t);
/* Moves a batch from the full magazine of that size class to the depot, from which all members take. */
void ort_task_spill(struct ort_task_cache *cache, unsigned class);
static inline void ort_task_free(struct ort_task_cache *cache, struct ort_task *t)
{
    unsigned class = t->size_class;
    if (PS_UNLIKELY(t->flags & ORT_TASK_SPECIAL))
        ort_task_tidy(t);
    if (ps_magazine_push(&cache->of[class], &t->piece, ORT_TASK_BATCH))
        ort_task_spill(cache, class);
}
/* Returns n implicit tasks, for the members of a team's new block; NULL: no memory. They are given back with the same
 * n. */
struct ort_task_implicit *ort_task_implicits_get(unsigned n);
void ort_task_implicits_give(struct ort_task_implicit *first, unsigned n);
/* Frees t, for a thread outside of the team, which has no cache. */
void ort_task_free_shared(struct ort_task *t);
void ort_task_cache_drain(struct ort_task_cache *cache);
/* Frees a member's frames (task_call.c); the member runs no task. */
void ort_task_frames_drain(struct ort_task_member *m);
void ort_task_memory_after_fork_in_child(void);

/* --- task_queue.c, task_sleep.c --- */

/* What a member waits for (struct ort_wait). The structure is on the member's stack. While the member is in the list of
 * sleepers, threads that hold the team's lock read all fields, and write link, told and word. */
enum ort_wait_kind {
    ORT_WAIT_CHILDREN,       /* `object`: a task of the caller's; until its children are complete */
    ORT_WAIT_SUBTREE,        /* `object`: the caller's implicit task; until the whole subtree below it is complete */
    ORT_WAIT_GROUP,          /* `object`: a taskgroup of the caller's; until its tasks are complete */
    ORT_WAIT_NODE,           /* `object`: a dependence node; until all its predecessors are complete */
    ORT_WAIT_EVENT,          /* `object`: a task; until its event is fulfilled */
    ORT_WAIT_BARRIER,        /* until the barrier's phase `phase` is over */
    ORT_WAIT_BARRIER_CANCEL, /* until `phase` of the cancellable barrier is over, or the region is cancelled */
};
struct ort_wait {
    enum ort_wait_kind kind;
    void *object;
    uint32_t phase;
    /* The member may run only descendants of this task meanwhile; NULL: every task of the team. */
    struct ort_task *within;
    /* The member's link in the list of sleepers; under team->tasks.lock. */
    struct ps_list link;
    _Atomic uint32_t word; /* 1: woken. Written by the waker, under the lock (release); read by the sleeper (acquire) */
    struct ort_task *told; /* written by the waker: the task for which it wakes the member; NULL: no task */
};

/* Returns true if the event that `wait` describes has come. */
bool ort_wait_is_over(struct ort_team *team, const struct ort_wait *wait);
/* Puts the caller into the list of sleepers, and looks for a task once more. If it finds none, and its wait is not
 * over, it sleeps until another thread wakes it. Returns a task that the caller must run; NULL: the wait is over, or
 * another member has taken the task. [switches] */
struct ort_task *ort_task_sleep(struct ort_thread *thread, struct ort_wait *wait);
/* Returns true if some ready task of the team is still in a queue. */
bool ort_task_any(struct ort_team *team);
/* Called by a member: calls one helper, so that it looks for tasks. Does not call one while a helper that was called
 * earlier has yet to look. Returns true if a helper is coming. Returns false if it could call none; one that was called
 * earlier may be coming all the same. */
bool ort_task_ask(struct ort_team *team);
/* Takes a task that the member may run now out of a queue, and returns it. within: as in ort_wait. NULL: no such task
 * was found. */
struct ort_task *ort_task_find(struct ort_thread *thread, struct ort_task *within);
/* Queues t, which is ready to run, and tells another member. thread: the caller, a member of t's team that may run t
 * itself (task_queue.h). NULL: the caller is any thread that has pinned the team (task_complete.c). */
void ort_task_enqueue(struct ort_thread *thread, struct ort_task *t);
/* Called after the caller has pushed t on its own deque. ort_task_pushed does nothing if the deque is unfenced.
 * Otherwise it calls ort_task_pushed_fenced, which tells another member of t. */
void ort_task_pushed_fenced(struct ort_thread *thread, struct ort_task *t);
static inline void ort_task_pushed(struct ort_thread *thread, struct ort_task *t)
{
    if (PS_UNLIKELY(!ps_deque_is_unfenced_owner(&ort_tasks(thread)->deque)))
        ort_task_pushed_fenced(thread, t);
}
/* Called after a seq_cst change of `object`: wakes the members that sleep in a wait for `object`, if the wait is
 * over. */
void ort_task_wake_object(struct ort_team *team, const void *object);
/* Called after the phase of a barrier has changed, or after the region was cancelled: wakes the members that sleep in a
 * barrier and need not wait any more. */
void ort_task_wake_barrier(struct ort_team *team);

/* --- task_create.c --- */

/* Makes a child of the current task, with a copy of args->data. Its parent and group count it from now on. The caller
 * runs or queues it next. */
struct ort_task *ort_task_make(struct ort_thread *thread, const struct ort_task_args *args);
/* Makes t a child of the current task, as args says. Does not write t's data. */
void ort_task_adopt(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args);

/* --- task_call.c --- */

/* Runs a task without clauses at once, on the caller's data, if the fast path is possible. True: the task was run, or
 * is cancelled. False: the fast path is not possible, and nothing was done. [switches] */
bool ort_task_call_fast(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags);
/* As ort_task_call_fast, but takes the slow path if the fast path is not possible. [switches] */
void ort_task_call_slow(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags);
/* Does what ort_task_submit_fast does, for a task that must be run at once. False: nothing was done, because the task
 * need not run at once, or the fast path is not possible. [switches] */
bool ort_task_submit_at_once(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags);

/* --- task_run.c --- */

/* Runs t as a call and finishes it. [switches] */
void ort_task_run(struct ort_thread *thread, struct ort_task *t);
/* Called when the body of t is done, and its end takes more than to subtract t from its parent's count: ends t. below,
 * base: as in ort_task_end_run. [switches] */
void ort_task_end_slow(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base);

/* --- task_wait.c --- */

/* Returns when what `wait` waits for has come. Runs tasks meanwhile, and sleeps when it finds none. [switches] */
void ort_task_wait(struct ort_thread *thread, struct ort_wait *wait);

/* --- task_complete.c --- */

/* Called when the body of t is done: completes t, or leaves this to the thread that fulfils t's event or ends its last
 * hold. below: the task to which the member returns. base: the member's base before t was entered. [switches] */
void ort_task_end_run(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base);
/* As ort_task_end_run, for run_traced and ort_task_leave. was_run: false if the task was cancelled and not run; tool: a
 * tool is attached. [switches] */
void ort_task_end_traced(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base,
                         bool was_run, bool tool);
/* Called when a child of `parent`, and all tasks below the child, are complete and gone: subtracts it from parent's
 * count. Completes parent's subtree if the child was the last of it and parent's body is done. */
void ort_task_lose_child(struct ort_thread *thread, struct ort_task *parent);
/* Completes t (task_complete.c). Called when t's body is done and its event, if it has one, is fulfilled. thread: the
 * caller, a member of t's team; NULL: the caller is any thread that has pinned the team. */
void ort_task_complete(struct ort_thread *thread, struct ort_task *t);
/* Tells the program's thread sanitizer that t ends, or that its event is fulfilled (race.h). */
void ort_task_race_end(struct ort_task *t);

/* Returns the address at which the barrier of this phase orders its members for a thread sanitizer (race.h). The next
 * phase has another address: a member that wakes late from this barrier must not be ordered after the next one. */
static inline const void *ort_barrier_at(const struct ort_team *team, uint32_t phase)
{
    return (const char *)&team->tasks + 8 + 8 * (phase & 1);
}
/* Does what ort_barrier_at does, for the cancellable barrier. ort_cancelled_at returns the address at which the member
 * that cancels a region orders the members that see the cancellation. */
static inline const void *ort_cancel_barrier_at(const struct ort_team *team, uint32_t phase)
{
    return (const char *)&team->tasks + 24 + 8 * (phase & 1);
}
static inline const void *ort_cancelled_at(const struct ort_team *team) { return (const char *)&team->tasks + 40; }

/* --- depend.c --- */

/* Orders t, a child of thread's current task that is not published yet, after its siblings by their dependences. True:
 * t is ready. False: t has predecessors, and the thread that completes the last of them queues t; t may be gone
 * already. */
bool ort_depend_insert(struct ort_thread *thread, struct ort_task *t, const struct ort_depend_list *list);
/* Waits for the predecessors that a child of the current task with this list of dependences would have. [switches] */
void ort_depend_wait(struct ort_thread *thread, const struct ort_depend_list *list);
/* Called when t, which has a node, is complete: takes one predecessor off the count of each successor. Queues the
 * successors that have none left. */
void ort_depend_complete(struct ort_thread *thread, struct ort_task *t);
/* Tells the program's thread sanitizer that a task with predecessors begins (race.h). */
void ort_depend_begin(struct ort_depend_node *node);
void ort_depend_nodes_drain(struct ps_magazine *nodes);
void ort_depend_after_fork_in_child(void);
/* Frees a task's table of dependences. Called when the task's body has ended. Also called at a barrier: all children of
 * the task are complete then, so no later child has to wait for one of them. The caller sets the task's pointer to
 * NULL. */
void ort_depend_table_free(struct ort_depend_table *table);

/* --- cancel.c --- */

/* Returns true if `group`, or a group around it, is cancelled. */
bool ort_task_group_is_cancelled(struct ort_taskgroup *group);
/* Returns true if a task of this group that is made now, or has not begun, must not run: the region or a group around
 * the task is cancelled. */
static inline bool ort_task_is_cancelled(struct ort_team *team, struct ort_taskgroup *group)
{
    uint32_t cancelled = ps_load_acquire(&team->tasks.cancelled);
    return PS_UNLIKELY(cancelled != 0) && ((cancelled & ORT_CANCELLED_REGION) || ort_task_group_is_cancelled(group));
}

#endif
