/* Queues of blocked threads.
 *
 * A waiter is a local variable of the thread that waits. It lives as long as that thread is blocked. The spin lock of
 * the object that the queue belongs to guards the queue. The order of steps:
 *
 *   waiter    lock; push; unlock; ps_block      (it may be popped after the unlock; then ps_block returns at once)
 *   readier   lock; pop; unlock; ps_ready       (after ps_ready the waiter and the object may be gone)
 *
 * Fields: the waiting thread writes `thread` and `tag` before it pushes the waiter. `next` is written under the
 * object's lock. The readier writes `given` between pop and ps_ready, and the waiting thread reads it after ps_block
 * (ordered by ps_ready). A queue whose bytes are all zero is empty. */
#ifndef PS_WAITQ_H
#define PS_WAITQ_H

#include "scheduler.h"

struct ps_waiter {
    struct ps_waiter *next;
    struct psthread *thread;
    uintptr_t tag; /* address wait: the address of the word */
    bool given;    /* mutex: the thread has got the mutex, and need not try again */
};

struct ps_waitq {
    struct ps_waiter *head, *tail; /* while head is NULL, tail means nothing */
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

/* Takes the first waiter; NULL: the queue is empty. */
static inline struct ps_waiter *ps_waitq_pop(struct ps_waitq *q)
{
    struct ps_waiter *w = q->head;
    if (w)
        q->head = w->next;
    return w;
}

/* Takes all waiters. Returns the first one, which is linked to the others by `next`; NULL: the queue was empty. */
static inline struct ps_waiter *ps_waitq_take_all(struct ps_waitq *q)
{
    struct ps_waiter *w = q->head;
    q->head = NULL;
    return w;
}

/* Readies the threads of all waiters from w on. The caller has taken the waiters out of their queue. */
static inline void ps_waiters_ready(struct ps_waiter *w)
{
    while (w) {
        struct ps_waiter *next = w->next; /* read first: w is gone once its thread runs */
        ps_ready(w->thread, PS_BACK);
        w = next;
    }
}

#endif
