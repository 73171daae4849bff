/* The node of a task with dependences: states, owners and orderings are in depend.c. Seen by depend.c,
 * depend_memory.c and graph.c only. */
#ifndef ORT_DEPEND_NODE_H
#define ORT_DEPEND_NODE_H

#include "task_internal.h"

#define ORT_DEPEND_FEW 7 /* successors in the node itself */

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

#endif
