/* The ready queue of a vp (psthreads-2009 section 2.1): front and back, an intrusive list under a spin lock.
 *
 * The owner takes from the front, thieves take from the back and only try the lock. Any thread may insert at either
 * end. count is read without the lock to pass empty queues over; it is written under it.
 *
 * Cost: insertion and removal are one exchange and a few stores.
 * Rejected: a Chase-Lev deque. Other vps cannot insert at its back, where outer-level threads are dealt cyclically.
 * Nothing can be removed from its middle; a team has to be, when its parent has claimed the last members itself. Its
 * owner's pop needs a fence, which the lock's exchange already is. */
#ifndef PS_QUEUE_H
#define PS_QUEUE_H

#include "atomic.h"
#include "list.h"
#include "spin.h"
#include "thread.h"

struct ps_queue {
    struct ps_spin lock;
    _Atomic uint32_t count; /* entries; written under the lock */
    struct ps_list items;   /* of ps_item.link; guarded by the lock */
};

/* Returns vp's queue, in place; struct vp is in vp.h. */
struct ps_queue *vp_queue(const struct vp *vp);

static inline void ps_queue_init(struct ps_queue *q)
{
    ps_spin_init(&q->lock);
    ps_store_relaxed(&q->count, 0);
    ps_list_init(&q->items);
}
static inline bool ps_queue_seems_empty(struct ps_queue *q) { return ps_load_relaxed(&q->count) == 0; }

/* Whether something is in it, under its lock. */
static inline bool ps_queue_look(struct ps_queue *q)
{
    ps_spin_lock(&q->lock);
    bool some = !ps_queue_seems_empty(q);
    ps_spin_unlock(&q->lock);
    return some;
}

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
