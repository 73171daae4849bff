/* Nodes of tasks with dependences: what happens when a task completes, and when its node is freed. States, owners and
 * orderings: depend_node.h.
 *
 * Callers of ort_depend_complete: the thread that completes a task (thread NULL: a thread outside of the team). Of
 * ort_depend_node_release: a member of the team, or that thread. Of ort_depend_successors: an entry point for libraries
 * that look at the graph of tasks. */
#include "depend_node.h"

#include <stdlib.h>

#include "emergency_pool.h"
#include "race.h"

static inline void recycle(struct ps_magazine *nodes, struct ort_depend_node *node)
{
    if (PS_UNLIKELY(nodes == NULL))
        ort_depend_give(node);
    else if (ps_magazine_push(nodes, &node->piece, ORT_DEPEND_BATCH))
        ort_depend_spill(nodes);
}

static PS_NOINLINE void recycle_with_lists(struct ps_magazine *nodes, struct ort_depend_node *node)
{
    if (node->successors != node->few)
        ort_mem_free(node->successors);
    free(node->shown);
    recycle(nodes, node);
}

void ort_depend_node_release(struct ps_magazine *nodes, struct ort_depend_node *node)
{
    if (ps_load_acquire(&node->refs) != 1 && ps_sub_acq_rel(&node->refs, 1) != 1)
        return;
    if (PS_UNLIKELY(node->successors != node->few) || PS_UNLIKELY(node->shown != NULL))
        recycle_with_lists(nodes, node);
    else
        recycle(nodes, node);
}

/* Takes one predecessor off the node's count. If it was the last, queues the node's task or wakes the waiter. task and
 * team are read first: after the subtraction the node may be gone. */
static void satisfy_node(struct ort_thread *thread, struct ort_depend_node *node)
{
    struct ort_team *team = node->team;
    struct ort_task *task = node->task;
    ps_race_release(&node->missing);
    if (PS_LIKELY(task != NULL)) {
        if (ps_load_acquire(&node->missing) == 1 || ps_sub_seq(&node->missing, 1) == 1)
            ort_task_enqueue(thread, task);
    } else if (ps_sub_seq(&node->missing, 1) == 1) {
        ort_task_wake_object(team, node);
    }
}

void ort_depend_complete(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_depend_node *node = t->node;
    t->node = NULL;
    ps_race_release(node);
    ps_spin_lock(&node->lock);
    ps_store_release(&node->finished, 1);
    ps_spin_unlock(&node->lock);
    for (unsigned i = 0; i < node->n; i++)
        satisfy_node(thread, node->successors[i]);
    ort_depend_node_release(thread ? &ort_tasks(thread)->nodes : NULL, node);
}

void ort_depend_begin(struct ort_depend_node *node) { ps_race_acquire(&node->missing); }

struct ort_depend_successor *ort_depend_successors(struct ort_task *t)
{
    struct ort_depend_node *node = t->node;
    if (node == NULL)
        return NULL;
    ps_spin_lock(&node->lock);
    struct ort_depend_successor *list = node->n == 0 ? NULL : realloc(node->shown, node->n * sizeof *list);
    if (list != NULL)
        node->shown = list;
    for (unsigned i = 0; list != NULL && i < node->n; i++)
        list[i] = (struct ort_depend_successor){node->successors[i], i + 1 < node->n ? &list[i + 1] : NULL};
    ps_spin_unlock(&node->lock);
    return list;
}
