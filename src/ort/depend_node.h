/* The node of a task with dependences: states, owners and orderings are in depend.c. Seen by depend*.c and
 * graph.c only. */
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
        struct ort_task *task;        /* NULL: somebody waits in place */
        struct ort_depend_node *next; /* in a cache */
        size_t number;                /* while a record's order is found */
    };
    struct ort_team *team;
    unsigned held;   /* places in its parent's table */
    unsigned linked; /* predecessors that it was linked to */
    bool kept;       /* a replay's (graph.c): it stays, its successors are known, and its task comes later */
    unsigned n, capacity;
    struct ort_depend_node **successors;
    struct ort_depend_node *few[ORT_DEPEND_FEW];
};

/* The memory of nodes: depend_memory.c. Each member keeps a cache of free ones. */
#define ORT_DEPEND_BATCH 32                    /* nodes that pass from member to member at once */
#define ORT_DEPEND_KEPT (2 * ORT_DEPEND_BATCH) /* by a member */

/* A node for a member whose cache is empty, and free ones into that cache. */
struct ort_depend_node *ort_depend_refill(struct ort_depend_cache *cache);
/* A batch out of a cache with at least as many. */
void ort_depend_spill(struct ort_depend_cache *cache);
/* A node from a thread without a cache. */
void ort_depend_gather(struct ort_depend_node *node);

/* --- depend_node.c --- */

/* A table, or the task, names the node no more. cache: the caller's; NULL: it has none. */
void ort_depend_node_release(struct ort_depend_cache *cache, struct ort_depend_node *node);

/* A node for `task` (NULL: the caller waits in place), in state linking. The caller has its one reference. */
static inline struct ort_depend_node *ort_depend_node_new(struct ort_thread *thread, struct ort_task *task)
{
    struct ort_depend_cache *cache = &ort_tasks(thread)->nodes;
    struct ort_depend_node *node = cache->free;
    if (PS_LIKELY(node != NULL)) {
        cache->free = node->next;
        cache->n--;
        __builtin_prefetch(cache->free, 1); /* it may be another processor's */
    } else {
        node = ort_depend_refill(cache);
    }
    node->shown = NULL;
    ps_spin_init(&node->lock);
    node->kept = false;
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

/* A place in the table names it. The first one does while the node is linking. */
static inline struct ort_depend_node *ort_depend_node_hold(struct ort_depend_node *node)
{
    if (node->held++ == 0)
        ps_store_relaxed(&node->refs, ps_load_relaxed(&node->refs) + 1);
    return node;
}

/* A place in the table that named it (or NULL) is empty. */
static inline void ort_depend_node_drop(struct ort_depend_cache *cache, struct ort_depend_node *node)
{
    if (node && --node->held == 0)
        ort_depend_node_release(cache, node);
}

#endif
