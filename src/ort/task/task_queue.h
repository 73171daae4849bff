/* Between task_queue.c and task_sleep.c: which member may run which task, and the wake-up for
 * one that is ready. */
#ifndef PS_ORT_TASK_QUEUE_H
#define PS_ORT_TASK_QUEUE_H

#include "depend_node.h"

/* The tied-task scheduling constraint. A member that waits inside of a task may run descendants of that task only. A
 * member that waits in a barrier may run everything. Only the innermost task counts: it is a descendant of the tasks
 * below it on the stack. In the member's own deque the answer is a number. `base` is the bottom of the deque when the
 * running task began. Items at or above `base` were pushed later, by the task or by descendants of it that ran nested;
 * so they are descendants as well. (A successor that a task readies is its sibling: a child of the task that was below
 * or of a descendant of that one.) For an item of a victim's deque the thief walks up the item's ancestors, as many as
 * the depths differ. Another member may take the item meanwhile, and even finish it. The walk does no harm then:
 * descriptors stay readable, the number of steps is fixed before, and the thief drops the answer because the top has
 * moved.
 * Rejected: to let thieves ignore the constraint as libgomp mostly does (a lock held across a taskwait then deadlocks
 * with itself). Rejected: to run children only (the waiter of a stolen task idles while it could help its thief). */
static inline bool task_is_descendant(struct ort_task *t, const struct ort_task *ancestor)
{
    uint32_t from = ps_load_relaxed(&t->depth), to = ps_load_relaxed(&ancestor->depth);
    if (from <= to)
        return false;
    for (; from > to; from--) {
        t = ps_load_relaxed(&t->parent);
        if (!t)
            return false;
    }
    return t == ancestor;
}

/* task_queue.c; the caller has the team's lock. */
void ort_task_priority_insert_locked(struct ort_team *team, struct ort_task *t);

/* task_sleep.c. Tells a sleeper or a helper of t. */
void ort_task_tell_taker(struct ort_team *team, struct ort_task *t);
/* As ort_task_enqueue, by a thread outside of the team. */
void ort_task_enqueue_from_outside(struct ort_team *team, struct ort_task *t);

#endif
