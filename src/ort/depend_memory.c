/* The memory of dependences' nodes.
 *
 * Does: takes nodes from the system in batches, and moves them between the members' caches. Does not: know what a node
 * stands for (depend.c). Callers: refill and spill, the cache's member; gather, any thread; drain, the member whose
 * cache ends.
 *
 * Shared fields    who writes                               who reads
 *   shared         whoever has too many nodes, or none, under its lock
 * Failures: no memory, nor in the emergency pool: aborts with one line. Cost: a lock for each batch. */
#include <stdlib.h>

#include "depend_node.h"
#include "emergency_pool.h"

#define NODE_BYTES 128 /* of its memory, which begins a cache line and stays a node's */

_Static_assert(sizeof(struct ort_depend_node) <= NODE_BYTES, "the memory of a node");

/* Members that end tasks give nodes to those that make them. A batch is linked by `next`, batches by `successors` of
 * their first node. What comes one by one, from threads without a cache or of caches that end, is gathered until it is
 * a batch. */
static struct {
    PS_LINE_ALIGNED struct ps_spin lock;
    struct ort_depend_node *batches, *gathered;
    unsigned num_gathered;
} shared;

static void give_batch_locked(struct ort_depend_node *first)
{
    first->successors = (void *)shared.batches;
    shared.batches = first;
}

static struct ort_depend_node *take_node_batch(void)
{
    ps_spin_lock(&shared.lock);
    struct ort_depend_node *first = shared.batches;
    if (first != NULL)
        shared.batches = (void *)first->successors;
    ps_spin_unlock(&shared.lock);
    return first;
}

/* As many as a batch, of one block; where there is no memory for that, one. */
static struct ort_depend_node *new_node_batch(unsigned *n)
{
    char *block = aligned_alloc(PS_CACHE_LINE, ORT_DEPEND_BATCH * (size_t)NODE_BYTES);
    *n = block != NULL ? ORT_DEPEND_BATCH : 1;
    if (PS_UNLIKELY(block == NULL))
        block = ort_mem_aligned(PS_CACHE_LINE, NODE_BYTES);
    PS_CHECK(block != NULL, "out of memory for task dependences");
    struct ort_depend_node *list = NULL;
    for (unsigned i = *n; i-- > 0;) {
        struct ort_depend_node *node = (void *)(block + i * (size_t)NODE_BYTES);
        node->next = list;
        list = node;
    }
    return list;
}

PS_NOINLINE struct ort_depend_node *ort_depend_refill(struct ort_depend_cache *cache)
{
    unsigned n = ORT_DEPEND_BATCH;
    struct ort_depend_node *node = take_node_batch();
    if (node == NULL)
        node = new_node_batch(&n);
    cache->free = node->next;
    cache->n = n - 1;
    return node;
}

PS_NOINLINE void ort_depend_spill(struct ort_depend_cache *cache)
{
    struct ort_depend_node *first = cache->free, *last = first;
    for (unsigned i = 1; i < ORT_DEPEND_BATCH; i++)
        last = last->next;
    cache->free = last->next;
    cache->n -= ORT_DEPEND_BATCH;
    last->next = NULL;
    ps_spin_lock(&shared.lock);
    give_batch_locked(first);
    ps_spin_unlock(&shared.lock);
}

PS_NOINLINE void ort_depend_gather(struct ort_depend_node *node)
{
    ps_spin_lock(&shared.lock);
    node->next = shared.gathered;
    shared.gathered = node;
    if (++shared.num_gathered == ORT_DEPEND_BATCH) {
        give_batch_locked(node);
        shared.gathered = NULL;
        shared.num_gathered = 0;
    }
    ps_spin_unlock(&shared.lock);
}

/* The lists may be half changed, their lock held by a kernel thread that is gone: what is in them is forgotten. */
void ort_depend_after_fork_in_child(void)
{
    ps_spin_init(&shared.lock);
    shared.batches = shared.gathered = NULL;
    shared.num_gathered = 0;
}

void ort_depend_cache_drain(struct ort_depend_cache *cache)
{
    while (cache->free) {
        struct ort_depend_node *node = cache->free;
        cache->free = node->next;
        ort_depend_gather(node);
    }
    cache->n = 0;
}
