/* What task_queue.c and task_sleep.c share: which member may run which task, and how a member is told of a ready
 * task. */
#ifndef PS_ORT_TASK_QUEUE_H
#define PS_ORT_TASK_QUEUE_H

#include "depend_node.h"

/* Returns true if t is a descendant of `ancestor`: the tied-task scheduling constraint. A member that waits inside of
 * a task may run descendants of that task only. A member that waits in a barrier may run every task. Only the
 * innermost task counts, because it is a descendant of the tasks below it on the stack.
 * For its own deque a member compares an index. `base` is the bottom of the deque when the running task began. Items
 * from `base` on were pushed later, by the running task or by descendants of it that the member ran meanwhile. So these
 * items are descendants, too. The bottom is never below `base`: an own item is there if the two differ, also where
 * indices wrap (deque.h). (A task may also push its successors when it ends. These are siblings of it, and so
 * descendants of the task below it on the stack. In a barrier they may be children of another member's task, but there
 * a member may run every task.)
 * For an item of a victim's deque the thief walks up the item's ancestors, as many steps as the depths differ. Another
 * member may take the item meanwhile, and even finish it. That does no harm. Descriptors stay readable, and the number
 * of steps is fixed before the walk. If the item was taken, top has moved, and the steal fails whatever the walk has
 * found.
 * Rejected: to let thieves ignore the constraint, as libgomp mostly does (a lock held across a taskwait then deadlocks
 * with itself). To let a waiting task run its children only (while a thief runs a child, the waiting member could not
 * run that child's children). */
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

/* EACH_DEQUE(its, team) visits the part for tasks of each member whose deque may have tasks, as ort_task_member *its.
 * With members apart only the members that have pushed tasks in this region are visited (ort_task_team.makers): to look
 * at a member costs two loads from other clusters. A member that pushes its first task is put into the list before
 * `takers` is read (tell in task_queue.c). A member that is to sleep is counted in `takers` before it reads the list.
 * So one of both sees the other. */
#if ORT_MEMBERS_APART
#define EACH_DEQUE(its, team) \
    for (struct ort_task_member *its = ps_load_seq(&(team)->tasks.makers); its != NULL; its = its->next_maker)
static inline struct ort_thread *ort_thread_of(const struct ort_task_member *its) { return its->thread; }
#else
#define EACH_DEQUE(its, team)                                                                                \
    for (struct ort_task_member *its = &(team)->threads[0].tasks, *end_ = &(team)->threads[(team)->n].tasks; \
         its != end_; its = (struct ort_task_member *)(void *)((char *)its + sizeof(struct ort_thread)))
static inline struct ort_thread *ort_thread_of(struct ort_task_member *its)
{
    return PS_CONTAINER_OF(its, struct ort_thread, tasks);
}
#endif

/* Inserts t into the priority queue (task_queue.c). The caller holds the team's lock. */
void ort_task_priority_insert_locked(struct ort_team *team, struct ort_task *t);

/* Wakes a sleeper that may run t. If there is none, calls a helper (task_sleep.c). */
void ort_task_tell_taker(struct ort_team *team, struct ort_task *t);
/* As ort_task_enqueue with thread NULL (task_sleep.c). */
void ort_task_enqueue_from_outside(struct ort_team *team, struct ort_task *t);

#endif
