/* Explicit tasks: what their modules know of each other. Seen by src/ort/task*.c, depend*.c, cancel.c and tool_task.c
 * only. */
#ifndef PS_ORT_TASK_INTERNAL_H
#define PS_ORT_TASK_INTERNAL_H

#include "check.h"
#include "ort.h"
#include "task.h"

/* --- task_memory.c --- */

/* Gets a descriptor with room for data. flags, data and size_class are set; it is otherwise as task.h says of a free
 * one, and everything else is undefined. NULL: no memory. */
struct ort_task *ort_task_alloc(struct ort_task_cache *cache, size_t data_bytes, size_t data_align);
#define ORT_TASK_BATCH (ORT_TASK_CACHED / 2)
/* Puts back what is special about t, or its data's block. */
void ort_task_tidy(struct ort_task *t);
/* Gives a batch of a full magazine to all members. */
void ort_task_spill(struct ort_task_cache *cache, unsigned class);
static inline void ort_task_free(struct ort_task_cache *cache, struct ort_task *t)
{
    unsigned class = t->size_class;
    if (PS_UNLIKELY(t->flags & ORT_TASK_SPECIAL))
        ort_task_tidy(t);
    if (ps_magazine_push(&cache->of[class], &t->piece, ORT_TASK_BATCH))
        ort_task_spill(cache, class);
}
/* Returns implicit tasks for the n members of a new block; NULL: no memory. To be given back with the same n. */
struct ort_task_implicit *ort_task_implicits_get(unsigned n);
void ort_task_implicits_give(struct ort_task_implicit *first, unsigned n);
/* Frees t, for a thread that has no cache. */
void ort_task_free_shared(struct ort_task *t);
void ort_task_cache_drain(struct ort_task_cache *cache);
/* Gives a member's frames (task_call.c) back; no task of its own runs. */
void ort_task_frames_drain(struct ort_task_member *m);
void ort_task_memory_after_fork_in_child(void);

/* --- task_queue.c, task_sleep.c --- */

/* What a member waits for. Only the owner reads these fields, except those under the team's lock while it sleeps. */
enum ort_wait_kind {
    ORT_WAIT_CHILDREN,       /* of `object`, a task of the caller's */
    ORT_WAIT_SUBTREE,        /* of `object`, the caller's implicit task, already poured */
    ORT_WAIT_GROUP,          /* `object`: a taskgroup of the caller's */
    ORT_WAIT_NODE,           /* `object`: a dependence node without predecessors */
    ORT_WAIT_EVENT,          /* `object`: a task whose event is fulfilled */
    ORT_WAIT_BARRIER,        /* the phase is over */
    ORT_WAIT_BARRIER_CANCEL, /* the same of the cancellable barrier, or the region is cancelled */
};
struct ort_wait {
    enum ort_wait_kind kind;
    void *object;
    uint32_t phase;
    struct ort_task *within; /* only descendants of it may be run; NULL: every task of the team */
    /* While it sleeps, under team->tasks.lock. */
    struct ps_list link;
    _Atomic uint32_t word; /* 1: woken */
    struct ort_task *told; /* for this one; NULL: for its wish */
};

/* Whether what `wait` names has come. */
bool ort_wait_is_over(struct ort_team *team, const struct ort_wait *wait);
/* Announces that the caller sleeps, looks again, and sleeps. Returns a task if it finds one meanwhile. [switches] */
struct ort_task *ort_task_sleep(struct ort_thread *thread, struct ort_wait *wait);
/* Whether some task of the team is ready, and no member runs it yet. */
bool ort_task_any(struct ort_team *team);
/* Asks a helper to look for tasks. The caller is a member. False: there is no helper. */
bool ort_task_ask(struct ort_team *team);
/* Takes one task that the member may run now; NULL: none was found. */
struct ort_task *ort_task_find(struct ort_thread *thread, struct ort_task *within);
/* Queues t, which is ready to run. thread: the caller, a member of t's team whose running task is t's ancestor, or
 * NULL: any thread. */
void ort_task_enqueue(struct ort_thread *thread, struct ort_task *t);
/* Does the rest of ort_task_enqueue for a task that the caller has put into its deque. */
void ort_task_pushed_fenced(struct ort_thread *thread, struct ort_task *t);
static inline void ort_task_pushed(struct ort_thread *thread, struct ort_task *t)
{
    if (PS_UNLIKELY(!ps_deque_is_unfenced_owner(&ort_tasks(thread)->deque)))
        ort_task_pushed_fenced(thread, t);
}
/* Wakes the members of the team that wait for `object`, about which something has changed. The change was sequentially
 * consistent. */
void ort_task_wake_object(struct ort_team *team, const void *object);
/* Wakes the members that wait in a barrier. */
void ort_task_wake_barrier(struct ort_team *team);

/* --- task_create.c --- */

/* Makes a task, which its parent and group count, to be run or queued next. Its data is copied. */
struct ort_task *ort_task_make(struct ort_thread *thread, const struct ort_task_args *args);
/* Makes t a child of the current task, as args says; the maker cares for its data. */
void ort_task_adopt(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args);

/* --- task_call.c --- */

/* Runs a task without clauses at once, on the caller's data. False: there is no fast path, and nothing was done.
 * [switches] */
bool ort_task_call_fast(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags);
/* As ort_task_call_fast, on whichever path. [switches] */
void ort_task_call_slow(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags);
/* Runs a task at once that ort_task_submit_fast would have to run so. [switches] */
bool ort_task_submit_at_once(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags);

/* --- task_run.c --- */

/* Runs t as a call and finishes it. [switches] */
void ort_task_run(struct ort_thread *thread, struct ort_task *t);
/* Ends t, whose body is done, where there is more to do than to count that for `below`. base: as in ort_task_end_run.
 * [switches] */
void ort_task_end_slow(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base);

/* --- task_wait.c --- */

/* Returns when what `wait` names has come, running tasks meanwhile. [switches] */
void ort_task_wait(struct ort_thread *thread, struct ort_wait *wait);

/* --- task_complete.c --- */

/* Called when the body of t, which ran in `below`, is done. base: the deque's base from before t. [switches] */
void ort_task_end_run(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base);
/* Does the same where tasks are traced. was_run: false if the task was cancelled; tool: there is a tool. [switches] */
void ort_task_end_traced(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, int64_t base,
                         bool was_run, bool tool);
/* Called when a child of `parent` is complete, and gone with all below it. */
void ort_task_lose_child(struct ort_thread *thread, struct ort_task *parent);
/* Called when body and event of t are done. thread: see ort_task_enqueue. */
void ort_task_complete(struct ort_thread *thread, struct ort_task *t);
/* Tells the program's thread sanitizer that t ends, or that its event is fulfilled (race.h). */
void ort_task_race_end(struct ort_task *t);

/* The address at which a barrier orders, for a thread sanitizer: another one than the next barrier's. For a member that
 * wakes late from this barrier must not be ordered after the next one. */
static inline const void *ort_barrier_at(const struct ort_team *team, uint32_t phase)
{
    return (const char *)&team->tasks + 8 + 8 * (phase & 1);
}
/* The addresses at which a cancellable barrier orders (one for each phase and its next one), and a cancellation. */
static inline const void *ort_cancel_barrier_at(const struct ort_team *team, uint32_t phase)
{
    return (const char *)&team->tasks + 24 + 8 * (phase & 1);
}
static inline const void *ort_cancelled_at(const struct ort_team *team) { return (const char *)&team->tasks + 40; }

/* Returns the count of a task or group of the caller's: zero where nothing is left. */
static inline int64_t ort_count_total(struct ort_count *c) { return c->own + ps_load_seq(&c->others); }

/* --- depend.c --- */

/* Gives t (not yet published, a child of thread's current task) its place among its siblings. True: t is ready. False:
 * t has predecessors, the last of which will enqueue it; t may be gone already. */
bool ort_depend_insert(struct ort_thread *thread, struct ort_task *t, const struct ort_depend_list *list);
/* Waits for the predecessors that a task with this list would have. [switches] */
void ort_depend_wait(struct ort_thread *thread, const struct ort_depend_list *list);
/* Called when t is complete: its successors lose a predecessor. */
void ort_depend_complete(struct ort_thread *thread, struct ort_task *t);
/* Tells the program's thread sanitizer that a task with predecessors begins (race.h). */
void ort_depend_begin(struct ort_depend_node *node);
void ort_depend_nodes_drain(struct ps_magazine *nodes);
void ort_depend_after_fork_in_child(void);
/* Frees the table of a task that makes no more children. */
void ort_depend_table_free(struct ort_depend_table *table);

/* --- cancel.c --- */

/* Whether `group`, or one around it, is cancelled. */
bool ort_task_group_is_cancelled(struct ort_taskgroup *group);
/* Whether a task of the group that is made now, or has not begun, is to be dropped. */
static inline bool ort_task_is_cancelled(struct ort_team *team, struct ort_taskgroup *group)
{
    uint32_t cancelled = ps_load_acquire(&team->tasks.cancelled);
    return PS_UNLIKELY(cancelled != 0) && ((cancelled & ORT_CANCELLED_REGION) || ort_task_group_is_cancelled(group));
}

#endif
