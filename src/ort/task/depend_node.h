/* The node of a task with dependences. Included by depend*.c and task_queue.h only.
 *
 * States: linking -> waiting (missing > 0) -> ready -> finished. While a node is linking, the parent goes through the
 * list of dependences, and counts the predecessors in `linked`. Predecessors that finish meanwhile subtract from
 * `missing`, which began as LINKING. It stays far above 0, so none of them makes the node ready. One subtraction ends
 * this state: it takes LINKING off `missing`, and adds `linked`. A node without predecessors needs no subtraction,
 * because no other thread knows it. Lifetime: refs counts the task (or the waiter) as one, and all places in the table
 * together as one; the parent counts these places in `held`.
 *
 * Shared fields    written by                                read by
 *   missing        the parent (once), finishers (subtract)   the thread that brings it to zero, the waiter
 *   finished       the finisher, under the lock              the parent; without the lock only a 1 is trusted
 *   successors     the parent, under the lock                the finisher, after it has set finished
 *   refs           parent and finisher (read-modify-write); the parent by a store while it is linking
 *   held, linked   the parent                                the parent
 * Ordering: missing is decreased seq_cst (with `sleepers`, task_sleep.c), which also orders a predecessor before its
 * successor. If a finisher reads 1 in a task's node, it is the last predecessor (the read acquires from the subtraction
 * before, a finisher's or the parent's). No other thread uses `missing` from then on, so this finisher subtracts
 * nothing. If a waiter has the node, the last finisher subtracts too, because the waiter reads `missing`. */
#ifndef ORT_DEPEND_NODE_H
#define ORT_DEPEND_NODE_H

#include "task_internal.h"

#define ORT_DEPEND_LINKING (UINT32_C(1) << 31) /* the value that `missing` begins with, while the node is linking */
#define ORT_DEPEND_FEW 7                       /* number of successors for which the node itself has room */

struct ort_depend_node {
    /* The list that ort_depend_successors has returned last; NULL: none. It is the first field, because libraries that
     * look at the graph of tasks read it here. */
    struct ort_depend_successor *shown;
    struct ps_spin lock;
    _Atomic uint32_t finished;
    _Atomic uint32_t refs;
    _Atomic uint32_t missing;
    union {
        struct {
            struct ort_task *task; /* NULL: a thread waits (ort_depend_wait) */
            struct ort_team *team;
        };
        struct ps_piece piece; /* while the node is free: its link in a magazine or the depot */
    };
    unsigned held;   /* number of places in its parent's table that name the node */
    unsigned linked; /* number of predecessors to which the node was linked */
    unsigned n, capacity;
    struct ort_depend_node **successors;
    struct ort_depend_node *few[ORT_DEPEND_FEW];
};

/* The memory of nodes: depend_memory.c. Each member has a magazine of free ones. */
#define ORT_DEPEND_BATCH 32 /* number of nodes that pass from member to member at once */

/* Fills the empty magazine of a member with a batch of nodes. */
void ort_depend_refill(struct ps_magazine *nodes);
/* Moves a batch of nodes from the full magazine of a member to the depot. */
void ort_depend_spill(struct ps_magazine *nodes);
/* Frees a node to the depot, for a thread that has no magazine. */
void ort_depend_give(struct ort_depend_node *node);

/* --- depend_node.c --- */

/* Gives up one reference to the node; frees the node if it was the last. nodes: the caller's magazine; NULL: it has
 * none. */
void ort_depend_node_release(struct ps_magazine *nodes, struct ort_depend_node *node);

/* Returns true if the node has no predecessors, or if all of them are complete. */
static inline bool ort_depend_node_is_ready(const struct ort_depend_node *node)
{
    return ps_load_seq(&node->missing) == 0;
}

/* Returns a node for `task` (NULL: for the caller, which waits itself). The node is in the state linking, with one
 * reference: the task's, or the waiter's. */
static inline struct ort_depend_node *ort_depend_node_new(struct ort_thread *thread, struct ort_task *task)
{
    struct ps_magazine *nodes = &ort_tasks(thread)->nodes;
    if (PS_UNLIKELY(nodes->free == NULL))
        ort_depend_refill(nodes);
    struct ort_depend_node *node = PS_CONTAINER_OF(ps_magazine_pop(nodes), struct ort_depend_node, piece);
    __builtin_prefetch(nodes->free, 1); /* the next node's memory may be in another processor's cache */
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

/* Called when a place in the table is to name the node: counts the place, and returns the node. The first place takes a
 * reference; the node is linking then. */
static inline struct ort_depend_node *ort_depend_node_hold(struct ort_depend_node *node)
{
    if (node->held++ == 0)
        ps_store_relaxed(&node->refs, ps_load_relaxed(&node->refs) + 1);
    return node;
}

/* Called when a place in the table no longer names the node: the last such place gives up the reference. node may be
 * NULL: the place was empty. */
static inline void ort_depend_node_drop(struct ps_magazine *nodes, struct ort_depend_node *node)
{
    if (node && --node->held == 0)
        ort_depend_node_release(nodes, node);
}

#endif
