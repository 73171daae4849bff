/* Memory of task descriptors.
 *
 * Does: gives and takes descriptors of a few sizes, each with room for the task's data behind it. Does not: know what a
 * task is.
 * Callers: a member for itself (its own cache, no lock); NULL stands for a thread outside of the team (goes through the
 * shared list).
 *
 * A descriptor is given back by whoever finishes the task, to that member's own cache: no queue of remote frees. Where
 * one member makes tasks and others finish them, caches overflow into the shared list and are refilled from it, by
 * batches.
 *
 * Type stability: blocks are carved out of slabs that are never given back, so that thieves may read parent and depth
 * of a task that is gone (task_queue.c). A thief that is kept from running in the middle of its walk may find that the
 * task is another team's by now, and walk on there. So implicit tasks are blocks of their own too, and outlive the
 * team's block. They stand in lists by their number (a power of two). Data that does not fit into the largest size
 * lives in a block of its own. Where the C library has no memory a block comes from the emergency pool
 * (emergency_pool.h), and stays a descriptor as well.
 *
 * Shared: `shared[class]` (lock): a stack of batches; a batch is linked by `next`, batches by `link.prev` of their
 * first block.
 * Failures: out of memory is told by NULL (task_create.c: the caller runs others, whose blocks it gets).
 * Cost: a load and a store each way; a lock per BATCH blocks that flow between members. */
#include "task_internal.h"

#include <stdlib.h>
#include <string.h>

#include "emergency_pool.h"

#define BATCH ORT_TASK_BATCH
#ifndef ORT_TASK_SLAB_BYTES
#define ORT_TASK_SLAB_BYTES (32 * 1024)
#endif
#define SLAB_BYTES ORT_TASK_SLAB_BYTES

static const uint16_t class_bytes[ORT_TASK_CLASSES] = {
    192, [ORT_TASK_SMALL_CLASS] = sizeof(struct ort_task) + ORT_TASK_SMALL, 512};

struct shared_list {
    PS_LINE_ALIGNED struct ps_spin lock;
    struct ort_task *batches;
};
static struct shared_list shared[ORT_TASK_CLASSES];

/* link.prev of a batch's first block: `next` and link.next share their place. */
static struct ort_task *next_batch(const struct ort_task *first) { return (struct ort_task *)(void *)first->link.prev; }
static void set_next_batch(struct ort_task *first, struct ort_task *next)
{
    first->link.prev = (struct ps_list *)(void *)next;
}

static struct ort_task *take_batch(unsigned class)
{
    struct shared_list *s = &shared[class];
    ps_spin_lock(&s->lock);
    struct ort_task *first = s->batches;
    if (first)
        s->batches = next_batch(first);
    ps_spin_unlock(&s->lock);
    return first;
}

static void give_batch(unsigned class, struct ort_task *first)
{
    struct shared_list *s = &shared[class];
    ps_spin_lock(&s->lock);
    set_next_batch(first, s->batches);
    s->batches = first;
    ps_spin_unlock(&s->lock);
}

static void *near_data(struct ort_task *t) { return (char *)(t + 1) + ort_tool_task_bytes; }

static struct ort_task *carve_slab(unsigned class, unsigned *count)
{
    size_t bytes = class_bytes[class];
    char *slab = aligned_alloc(PS_CACHE_LINE, SLAB_BYTES);
    *count = SLAB_BYTES / (unsigned)bytes;
    if (PS_UNLIKELY(!slab)) { /* there may be room for one */
        slab = aligned_alloc(PS_CACHE_LINE, bytes);
        *count = 1;
        if (!slab)
            slab = ort_emergency_pool_take(bytes, ORT_EMERGENCY_KEEP_TASK);
    }
    if (!slab)
        return NULL;
    struct ort_task *list = NULL;
    for (unsigned i = *count; i-- > 0;) {
        struct ort_task *t = (struct ort_task *)(void *)(slab + i * bytes);
        ps_store_relaxed(&t->parent, NULL);
        ps_store_relaxed(&t->depth, 0);
        t->size_class = (uint16_t) class;
        t->data = near_data(t);
        t->node = NULL;
        t->depends = NULL;
        t->priority = 0;
        ps_store_relaxed(&t->event, 0);
        t->next = list;
        list = t;
    }
    return list;
}

PS_NOINLINE static struct ort_task *refill(struct ort_task_cache *cache, unsigned class)
{
    unsigned count = BATCH;
    struct ort_task *list = take_batch(class);
    if (!list)
        list = carve_slab(class, &count);
    if (!list)
        return NULL;
    cache->free[class] = list->next;
    cache->count[class] = count - 1;
    return list;
}

static void *far_block(size_t bytes, size_t align)
{
    if (align <= alignof(max_align_t))
        return ort_mem_get(bytes);
    return ort_mem_aligned(align, bytes);
}

struct ort_task *ort_task_alloc(struct ort_task_cache *cache, size_t data_bytes, size_t data_align)
{
    size_t need = sizeof(struct ort_task) + ort_tool_task_bytes + data_bytes;
    unsigned class = need <= class_bytes[0] ? 0 : need <= class_bytes[1] ? 1 : 2;
    void *far = NULL;
    if (PS_UNLIKELY(need > class_bytes[2] || data_align > PS_CACHE_LINE)) {
        class = 0;
        far = far_block(data_bytes, data_align);
        if (!far)
            return NULL;
    }
    struct ort_task *t = cache->free[class];
    if (PS_LIKELY(t != NULL)) {
        cache->free[class] = t->next;
        cache->count[class]--;
    } else {
        t = refill(cache, class);
        if (!t) {
            ort_mem_free(far);
            return NULL;
        }
    }
    t->flags = 0;
    if (PS_UNLIKELY(far != NULL)) {
        t->flags = ORT_TASK_FAR_DATA | ORT_TASK_SPECIAL;
        t->data = far;
    }
    return t;
}

PS_NOINLINE void ort_task_spill(struct ort_task_cache *cache, unsigned class)
{
    struct ort_task *first = cache->free[class], *last = first;
    for (unsigned i = 1; i < BATCH; i++)
        last = last->next;
    cache->free[class] = last->next;
    cache->count[class] -= BATCH;
    last->next = NULL;
    give_batch(class, first);
}

PS_NOINLINE void ort_task_tidy(struct ort_task *t)
{
    if (t->flags & ORT_TASK_FAR_DATA) {
        ort_mem_free(t->data);
        t->data = near_data(t);
    }
    t->priority = 0;
    ps_store_relaxed(&t->event, 0);
}

void ort_task_cache_drain(struct ort_task_cache *cache)
{
    for (unsigned class = 0; class < ORT_TASK_CLASSES; class ++) {
        while (cache->count[class] >= BATCH)
            ort_task_spill(cache, class);
        /* A rest shorter than a batch goes where batches are gathered. */
        struct ort_task *rest = cache->free[class];
        cache->free[class] = NULL;
        cache->count[class] = 0;
        while (rest) {
            struct ort_task *next = rest->next;
            rest->flags = 0;
            ort_task_free_shared(rest);
            rest = next;
        }
    }
}

/* --- implicit tasks --- */

#define IMPLICIT_CLASSES 21 /* 1, 2, 4 .. ORT_THREADS_MAX of them */

static struct ps_spin implicits_lock;
static struct ort_task *implicits[IMPLICIT_CLASSES]; /* by `next` of the first task of each */

static unsigned implicit_class(unsigned n) { return n > 1 ? 32 - (unsigned)__builtin_clz(n - 1) : 0; }

struct ort_task_implicit *ort_task_implicits_get(unsigned n)
{
    unsigned class = implicit_class(n);
    size_t bytes = sizeof(struct ort_task_implicit) << class;
    ps_spin_lock(&implicits_lock);
    struct ort_task *t = implicits[class];
    if (t != NULL)
        implicits[class] = t->next;
    ps_spin_unlock(&implicits_lock);
    struct ort_task_implicit *first = (struct ort_task_implicit *)(void *)t;
    if (first != NULL) { /* what thieves read stays as it is */
        for (unsigned i = 0; i < n; i++)
            memset(&first[i].tool, 0, sizeof first[i].tool);
        return first;
    }
    first = aligned_alloc(PS_CACHE_LINE, bytes);
    if (PS_UNLIKELY(first == NULL) && n == 1)
        first = ort_emergency_pool_take(bytes, 0);
    if (first != NULL)
        memset(first, 0, bytes);
    return first;
}

void ort_task_implicits_give(struct ort_task_implicit *first, unsigned n)
{
    unsigned class = implicit_class(n);
    ps_spin_lock(&implicits_lock);
    first->task.next = implicits[class];
    implicits[class] = &first->task;
    ps_spin_unlock(&implicits_lock);
}

/* Blocks that come one by one are gathered here until they are a batch. */
static struct ps_spin gather_lock;
static struct ort_task_cache gather;

/* The lists may be half changed, their locks held by kernel threads that are gone: what is in them is forgotten. */
void ort_task_memory_after_fork_in_child(void)
{
    for (unsigned class = 0; class < ORT_TASK_CLASSES; class ++) {
        ps_spin_init(&shared[class].lock);
        shared[class].batches = NULL;
    }
    ps_spin_init(&implicits_lock);
    memset(implicits, 0, sizeof implicits);
    ps_spin_init(&gather_lock);
    gather = (struct ort_task_cache){.count = {0}};
}

void ort_task_free_shared(struct ort_task *t)
{
    ps_spin_lock(&gather_lock);
    ort_task_free(&gather, t);
    ps_spin_unlock(&gather_lock);
}
