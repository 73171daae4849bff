/* Memory for the nodes of tasks with dependences.
 *
 * Does: takes nodes from the system in batches, and passes them between members through a depot (magazine.h). Does not:
 * know what a node stands for (depend_node.h). Callers: the member that owns the magazine; ort_depend_give: a thread
 * without one.
 *
 * Failures: if there is no memory, in the emergency pool either, the program ends with one line. */
#include <stdlib.h>

#include "depend_node.h"
#include "emergency_pool.h"

#define NODE_BYTES 128 /* bytes of a node's memory, which begins at a cache line and is never given back */

_Static_assert(sizeof(struct ort_depend_node) <= NODE_BYTES, "the memory of a node");

static struct ps_depot shared;

/* Makes a batch of nodes from one block of memory; if there is no memory for a batch, one node. */
static void make_nodes(struct ps_magazine *nodes)
{
    unsigned n = ORT_DEPEND_BATCH;
    char *block = aligned_alloc(PS_CACHE_LINE, ORT_DEPEND_BATCH * (size_t)NODE_BYTES);
    if (PS_UNLIKELY(block == NULL)) {
        n = 1;
        block = ort_mem_aligned(PS_CACHE_LINE, NODE_BYTES);
    }
    PS_CHECK(block != NULL, "out of memory for task dependences");
    while (n-- > 0) {
        struct ort_depend_node *node = (void *)(block + n * (size_t)NODE_BYTES);
        ps_magazine_push(nodes, &node->piece, ORT_DEPEND_BATCH);
    }
}

PS_NOINLINE void ort_depend_refill(struct ps_magazine *nodes)
{
    if (!ps_magazine_refill(nodes, &shared, ORT_DEPEND_BATCH))
        make_nodes(nodes);
}

PS_NOINLINE void ort_depend_spill(struct ps_magazine *nodes) { ps_magazine_spill(nodes, &shared, ORT_DEPEND_BATCH); }

PS_NOINLINE void ort_depend_give(struct ort_depend_node *node)
{
    ps_depot_give(&shared, &node->piece, ORT_DEPEND_BATCH);
}

void ort_depend_after_fork_in_child(void) { ps_depot_forget(&shared); }

void ort_depend_nodes_drain(struct ps_magazine *nodes) { ps_magazine_drain(nodes, &shared, ORT_DEPEND_BATCH); }
