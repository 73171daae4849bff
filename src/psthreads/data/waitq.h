/* Queues of blocked threads.
 *
 * A waiter stands on the stack of the thread that waits, while that thread is blocked. The spin lock of the object that
 * the queue belongs to guards the queue. The order of a wait is always the same:
 *
 *   waiter    lock; push; unlock; ps_block      (from the unlock on it may be popped, and its ps_block returns early)
 *   readier   lock; pop; unlock; ps_ready       (from ps_ready on the waiter and the object may be gone)
 *
 * Fields: the waiter writes thread and tag before it pushes itself; next is written under the object's lock. The
 * readier writes `given` between pop and ps_ready, and the waiter reads it after ps_block (ordered by ps_ready). All
 * zero: an empty queue. */
#ifndef PS_WAITQ_H
#define PS_WAITQ_H

#include "scheduler.h"

struct ps_waiter {
    struct ps_waiter *next;
    struct psthread *thread;
    uintptr_t tag; /* address wait: the word */
    bool given;    /* mutex: the lock is the waiter's already */
};

struct ps_waitq {
    struct ps_waiter *head, *tail; /* tail is meaningless while head is NULL */
};

static inline void ps_waitq_push_back(struct ps_waitq *q, struct ps_waiter *w)
{
    w->next = NULL;
    if (q->head)
        q->tail->next = w;
    else
        q->head = w;
    q->tail = w;
}

static inline void ps_waitq_push_front(struct ps_waitq *q, struct ps_waiter *w)
{
    w->next = q->head;
    if (!q->head)
        q->tail = w;
    q->head = w;
}

/* NULL where the queue is empty. */
static inline struct ps_waiter *ps_waitq_pop(struct ps_waitq *q)
{
    struct ps_waiter *w = q->head;
    if (w)
        q->head = w->next;
    return w;
}

/* Takes all: the first one, linked by next. */
static inline struct ps_waiter *ps_waitq_take_all(struct ps_waitq *q)
{
    struct ps_waiter *w = q->head;
    q->head = NULL;
    return w;
}

/* Readies a chain that belongs to the caller alone. */
static inline void ps_waiters_ready(struct ps_waiter *w)
{
    while (w) {
        struct ps_waiter *next = w->next; /* w is gone once its thread runs */
        ps_ready(w->thread, PS_BACK);
        w = next;
    }
}

#endif
