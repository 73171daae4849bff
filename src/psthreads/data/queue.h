/* The ready queue of a vp (psthreads-2009 section 2.1): a linked list with a front and a back, under a spin lock. The
 * links are fields of the entries.
 *
 * The owner takes from the front. Thieves take from the back; they only try the lock, and never wait for it. Any thread
 * may insert at either end. Any thread may read `count` without the lock, to pass over an empty queue. Only a holder of
 * the lock writes it.
 *
 * Cost: an insertion or a removal is one atomic exchange and a few stores.
 * Rejected: a Chase-Lev deque. Only its owner can insert into it; here a root deals the threads that it makes to all
 * vps in turn. No entry can be removed from its middle; here a parent that has claimed the last members itself removes
 * its team's entry. Its owner's pop needs a fence, which costs as much as the lock's exchange. */
#ifndef PS_QUEUE_H
#define PS_QUEUE_H

#include "atomic.h"
#include "list.h"
#include "spin.h"
#include "thread.h"

struct ps_queue {
    struct ps_spin lock;
    _Atomic uint32_t count; /* how many entries there are; written under the lock, read by any thread */
    struct ps_list items;   /* the entries, linked by ps_item.link; read and written under the lock */
};

/* Returns the address of vp's queue. The queue is a field of struct vp (vp.h). */
struct ps_queue *vp_queue(const struct vp *vp);

static inline void ps_queue_init(struct ps_queue *q)
{
    ps_spin_init(&q->lock);
    ps_store_relaxed(&q->count, 0);
    ps_list_init(&q->items);
}
/* Returns true if the queue is empty, as far as the caller can see without the lock. The caller may miss an entry that
 * was just inserted, or see one that was just taken. */
static inline bool ps_queue_seems_empty(struct ps_queue *q) { return ps_load_relaxed(&q->count) == 0; }

/* Returns true if the queue has an entry. Takes the lock, so that it sees every insertion that has ended. */
static inline bool ps_queue_look(struct ps_queue *q)
{
    ps_spin_lock(&q->lock);
    bool some = !ps_queue_seems_empty(q);
    ps_spin_unlock(&q->lock);
    return some;
}

/* Returns the entry whose link this is. */
static inline struct ps_item *ps_queue_item(struct ps_list *node)
{
    return PS_CONTAINER_OF(node, struct ps_item, link);
}

static inline void ps_queue_count_locked(struct ps_queue *q, int change)
{
    ps_store_relaxed(&q->count, ps_load_relaxed(&q->count) + (uint32_t)change);
}
static inline void ps_queue_push_front_locked(struct ps_queue *q, struct ps_item *item)
{
    ps_list_push_front(&q->items, &item->link);
    ps_queue_count_locked(q, 1);
}
static inline void ps_queue_push_back_locked(struct ps_queue *q, struct ps_item *item)
{
    ps_list_push_back(&q->items, &item->link);
    ps_queue_count_locked(q, 1);
}
static inline void ps_queue_remove_locked(struct ps_queue *q, struct ps_item *item)
{
    ps_list_remove(&item->link);
    ps_queue_count_locked(q, -1);
}

#endif
