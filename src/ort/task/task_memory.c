/* Memory of task descriptors.
 *
 * Does: hands out descriptors of a few sizes, each with room for the task's data behind it, and takes them back. Does
 * not: know what a task is.
 * Callers: a member for itself (with its own cache, no lock). A thread outside of the team frees to the depot
 * (ort_task_free_shared).
 *
 * The member that finishes the task frees the descriptor into its own cache, so there is no queue of remote frees. If
 * one member makes tasks and others finish them, the others' full caches give batches to depots, one for each size, and
 * the maker's empty cache takes batches from there (magazine.h).
 *
 * Type stability: descriptors are carved out of slabs that are never given back, so that thieves may read parent and
 * depth of a task that is gone (task_queue.h). A thief may be preempted in the middle of its walk, find that the task
 * belongs to another team by now, and walk on there. So implicit tasks are in blocks that outlive their team's block,
 * too. Free blocks of implicit tasks are in lists by the number of tasks (a power of two). Data that does not fit into
 * the largest size, or needs more alignment than a cache line, is in a block of its own. If the C library has no
 * memory, a descriptor comes from the emergency pool (emergency_pool.h), and is never given back to it.
 *
 * Shared: the depots; the lists of implicit tasks (under implicits_lock).
 * Failures: without memory ort_task_alloc returns NULL. The caller then runs ready tasks, whose descriptors become free
 * (task_create.c).
 * Cost: a load and a store each way; a lock for each ORT_TASK_BATCH descriptors that pass between members. */
#include "task_internal.h"

#include <stdlib.h>
#include <string.h>

#include "emergency_pool.h"

#ifndef ORT_TASK_SLAB_BYTES /* the largest size of a slab, which is carved into at most ORT_TASK_BATCH descriptors */
#define ORT_TASK_SLAB_BYTES (16 * 1024)
#endif

static const uint16_t class_bytes[ORT_TASK_CLASSES] = {
    192, [ORT_TASK_SMALL_CLASS] = sizeof(struct ort_task) + ORT_TASK_SMALL, 512};

static struct ps_depot depots[ORT_TASK_CLASSES];

static void *near_data(struct ort_task *t) { return (char *)(t + 1) + ort_tool_task_bytes; }

/* Fills an empty magazine from a new slab. False: there is no memory. */
static bool carve_slab(struct ps_magazine *m, unsigned class)
{
    size_t bytes = class_bytes[class];
    unsigned count = ORT_TASK_SLAB_BYTES / (unsigned)bytes;
    count = count < ORT_TASK_BATCH ? count : ORT_TASK_BATCH;
    char *slab = aligned_alloc(PS_CACHE_LINE, count * bytes);
    if (PS_UNLIKELY(!slab)) { /* there may be memory for one descriptor */
        slab = aligned_alloc(PS_CACHE_LINE, bytes);
        count = 1;
        if (!slab)
            slab = ort_emergency_pool_take(bytes, ORT_EMERGENCY_KEEP_TASK);
    }
    for (unsigned i = slab ? count : 0; i-- > 0;) {
        struct ort_task *t = (struct ort_task *)(void *)(slab + i * bytes);
        ps_store_relaxed(&t->parent, NULL);
        ps_store_relaxed(&t->depth, 0);
        t->size_class = (uint16_t) class;
        t->data = near_data(t);
        t->node = NULL;
        t->depends = NULL;
        t->priority = 0;
        ps_store_relaxed(&t->event, 0);
        ps_magazine_push(m, &t->piece, ORT_TASK_BATCH);
    }
    return slab != NULL;
}

PS_NOINLINE static struct ort_task *refill(struct ps_magazine *m, unsigned class)
{
    if (ps_magazine_refill(m, &depots[class], ORT_TASK_BATCH) || carve_slab(m, class))
        return ort_task_pop(m);
    return NULL;
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
    struct ps_magazine *m = &cache->of[class];
    struct ort_task *t = PS_LIKELY(m->free != NULL) ? ort_task_pop(m) : refill(m, class);
    if (PS_UNLIKELY(t == NULL)) {
        ort_mem_free(far);
        return NULL;
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
    ps_magazine_spill(&cache->of[class], &depots[class], ORT_TASK_BATCH);
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
    for (unsigned class = 0; class < ORT_TASK_CLASSES; class ++)
        ps_magazine_drain(&cache->of[class], &depots[class], ORT_TASK_BATCH);
}

void ort_task_free_shared(struct ort_task *t)
{
    if (PS_UNLIKELY(t->flags & ORT_TASK_SPECIAL))
        ort_task_tidy(t);
    ps_depot_give(&depots[t->size_class], &t->piece, ORT_TASK_BATCH);
}

/* --- implicit tasks --- */

#define IMPLICIT_CLASSES 21 /* for blocks of 1, 2, 4 ... ORT_THREADS_MAX implicit tasks */

static struct ps_spin implicits_lock;
static struct ps_piece *implicits[IMPLICIT_CLASSES]; /* lists of free blocks, linked by each block's first task */

static unsigned implicit_class(unsigned n) { return n > 1 ? 32 - (unsigned)__builtin_clz(n - 1) : 0; }

struct ort_task_implicit *ort_task_implicits_get(unsigned n)
{
    unsigned class = implicit_class(n);
    size_t bytes = sizeof(struct ort_task_implicit) << class;
    ps_spin_lock(&implicits_lock);
    struct ps_piece *piece = implicits[class];
    if (piece != NULL)
        implicits[class] = piece->next;
    ps_spin_unlock(&implicits_lock);
    struct ort_task_implicit *first = NULL;
    if (piece != NULL) { /* the block was used before: thieves may read parent and depth, so both stay */
        first = PS_CONTAINER_OF(piece, struct ort_task_implicit, task.piece);
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
    first->task.piece.next = implicits[class];
    implicits[class] = &first->task.piece;
    ps_spin_unlock(&implicits_lock);
}

/* Empties all lists without reading them: they may be half changed, and their locks may be held by kernel threads that
 * are not in the child. */
void ort_task_memory_after_fork_in_child(void)
{
    for (unsigned class = 0; class < ORT_TASK_CLASSES; class ++)
        ps_depot_forget(&depots[class]);
    ps_spin_init(&implicits_lock);
    memset(implicits, 0, sizeof implicits);
}
