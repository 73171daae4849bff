/* The node of a task with dependences. Seen by depend*.c, task_queue.c and task_sleep.c only.
 *
 * States: linking (missing has LINKING more, so that no task makes it ready before its parent has gone through the
 * list) -> waiting (missing > 0) -> ready -> finished. While a node is linking its predecessors are counted in
 * `linked`. The subtraction that ends the state takes LINKING off and puts the predecessors on. No other thread knows
 * a node without predecessors, so it needs no subtraction. Lifetime: refs counts the task (or the waiter) and, as one,
 * all places in the table, which the parent counts in `held`.
 *
 * Shared fields    written by                                read by
 *   missing        the parent (once), finishers (subtract)   the thread that brings it to zero, the waiter
 *   finished       the finisher, under the lock              the parent; without the lock only to drop entries
 *   successors     the parent and the finisher, under the lock, which each holds for some instructions
 *   refs           parent and finisher (read-modify-write); the parent by a store while it is linking
 *   held, linked   the parent                                the parent
 * Ordering: missing is decreased seq_cst (with `sleepers`, task_sleep.c), which also orders a predecessor before its
 * successor. A finisher that reads 1 in a task's node is the last (the read acquires from the subtraction before, a
 * finisher's or the parent's). No other thread writes or reads `missing` from then on, so it subtracts nothing. A
 * waiter reads its own node, so there the last one subtracts too. */
#ifndef ORT_DEPEND_NODE_H
#define ORT_DEPEND_NODE_H

#include "task_internal.h"

#define ORT_DEPEND_LINKING (UINT32_C(1) << 31) /* of `missing`: the parent goes through the list still */
#define ORT_DEPEND_FEW 7                       /* successors in the node itself */

struct ort_depend_node {
    struct ort_depend_successor *shown; /* first: the snapshot that ort_depend_successors has given out; NULL: none */
    struct ps_spin lock;
    _Atomic uint32_t finished;
    _Atomic uint32_t refs;
    _Atomic uint32_t missing;
    union {
        struct {
            struct ort_task *task; /* NULL: a thread waits in place */
            struct ort_team *team;
        };
        struct ps_piece piece; /* while it is free */
    };
    unsigned held;   /* places in its parent's table */
    unsigned linked; /* predecessors that it was linked to */
    unsigned n, capacity;
    struct ort_depend_node **successors;
    struct ort_depend_node *few[ORT_DEPEND_FEW];
};

/* The memory of nodes: depend_memory.c. Each member has a magazine of free ones. */
#define ORT_DEPEND_BATCH 32 /* nodes that pass from member to member at once */

/* Gets nodes for a member whose magazine is empty. */
void ort_depend_refill(struct ps_magazine *nodes);
/* Takes nodes from a member whose magazine is full. */
void ort_depend_spill(struct ps_magazine *nodes);
/* Takes a node from a thread without a magazine. */
void ort_depend_give(struct ort_depend_node *node);

/* --- depend_node.c --- */

/* Drops a name that a table, or the task, had for the node. nodes: the caller's magazine; NULL: it has none. */
void ort_depend_node_release(struct ps_magazine *nodes, struct ort_depend_node *node);

/* Whether the node has no predecessors, or all are complete. */
static inline bool ort_depend_node_is_ready(const struct ort_depend_node *node)
{
    return ps_load_seq(&node->missing) == 0;
}

/* Returns a node for `task` (NULL: the caller waits in place), in state linking, with one reference, the caller's. */
static inline struct ort_depend_node *ort_depend_node_new(struct ort_thread *thread, struct ort_task *task)
{
    struct ps_magazine *nodes = &ort_tasks(thread)->nodes;
    if (PS_UNLIKELY(nodes->free == NULL))
        ort_depend_refill(nodes);
    struct ort_depend_node *node = PS_CONTAINER_OF(ps_magazine_pop(nodes), struct ort_depend_node, piece);
    __builtin_prefetch(nodes->free, 1); /* it may be another processor's */
    node->shown = NULL;
    ps_spin_init(&node->lock);
    ps_store_relaxed(&node->finished, 0);
    ps_store_relaxed(&node->refs, 1);
    ps_store_relaxed(&node->missing, ORT_DEPEND_LINKING);
    node->task = task;
    node->team = thread->team;
    node->held = node->linked = 0;
    node->n = 0;
    node->capacity = ORT_DEPEND_FEW;
    node->successors = node->few;
    return node;
}

/* Takes a reference for a place in the table that names the node. The first one is taken while the node is linking. */
static inline struct ort_depend_node *ort_depend_node_hold(struct ort_depend_node *node)
{
    if (node->held++ == 0)
        ps_store_relaxed(&node->refs, ps_load_relaxed(&node->refs) + 1);
    return node;
}

/* Gives up the reference of a place in the table, which named the node (or NULL) and is empty now. */
static inline void ort_depend_node_drop(struct ps_magazine *nodes, struct ort_depend_node *node)
{
    if (node && --node->held == 0)
        ort_depend_node_release(nodes, node);
}

#endif
