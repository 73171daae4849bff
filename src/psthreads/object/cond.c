/* The condition variable: threads wait until something changes that a mutex guards.
 *
 * Callers: wait: any thread that may block and holds the mutex. signal, broadcast, destroy: any thread; they never
 * wait.
 *
 * A waiter enters the queue before it releases the mutex. So a thread that later changes the condition under the mutex
 * finds the waiter. From then on the waiter may be readied at any time, even while it still runs and releases the
 * mutex; then its ps_block returns at once.
 *
 * Shared fields: `queue`, under `lock`. `waiting` is written under `lock`; signal and broadcast read it without the
 * lock, relaxed. Relaxed is enough: a waiter counts itself while it holds the mutex. The signaller, or a thread before
 * it, has changed the condition under the same mutex since. So the mutex orders the two. A signal that the mutex does
 * not order reads some earlier or later value, as POSIX allows.
 *
 * A woken thread does not touch the object again, and the last access of signal comes before its ps_ready. So a thread
 * that knows that all waiters were woken may destroy the object. There are no spurious wake-ups, though the interface
 * allows them.
 *
 * A thread with a deadline does not enter this queue. It enters the queue of address_wait.c, under the address of
 * `timed`, also before it releases the mutex. When its deadline comes it must not touch the object, because a thread
 * that has just woken all others may be destroying it. signal wakes waiters without a deadline first.
 *
 * Cost: signal without waiters is two loads. Rejected: broadcast moves the woken threads to the mutex's queue (wait
 * morphing): this ties the two objects together, and threads that are not preempted mostly find the mutex free when
 * they run. EPERM: the caller does not hold the mutex (checked build), or no thread holds it (other builds). */
#include "address_wait.h"
#include "mutex.h"
#include "psthread.h"
#include "spin.h"
#include "waitq.h"

#include <errno.h>
#include <limits.h>

struct cond {
    struct ps_spin lock;
    _Atomic uint32_t waiting;
    _Atomic uint32_t timed; /* 1: a thread with a deadline has waited here; never reset to 0 */
    struct ps_waitq queue;
};
_Static_assert(sizeof(struct cond) <= sizeof(psthread_cond_t), "a condition variable fits");
_Static_assert(alignof(struct cond) <= alignof(psthread_cond_t), "a condition variable fits");

static struct cond *cond_inside(psthread_cond_t *cond) { return (struct cond *)(void *)cond; }

int psthread_cond_init(psthread_cond_t *cond)
{
    *cond = (psthread_cond_t)PSTHREAD_COND_INITIALIZER;
    return 0;
}

int psthread_cond_destroy(psthread_cond_t *cond)
{
    struct cond *c = cond_inside(cond);
    bool timed = ps_load_acquire(&c->timed) && ps_anybody_waits_on(&c->timed);
    return timed || ps_load_acquire(&c->waiting) ? EBUSY : 0;
}

int psthread_cond_wait(psthread_cond_t *cond, psthread_mutex_t *mutex)
{
    struct cond *c = cond_inside(cond);
    struct ps_waiter me = {.thread = ps_self()};
    if (!ps_mutex_held(mutex))
        return EPERM;
    ps_spin_lock(&c->lock);
    ps_store_relaxed(&c->waiting, ps_load_relaxed(&c->waiting) + 1);
    ps_waitq_push_back(&c->queue, &me);
    ps_spin_unlock(&c->lock);
    ps_mutex_unlock(mutex);
    ps_block(me.thread, PS_WAIT_COND, cond);
    return psthread_mutex_lock(mutex);
}

int psthread_cond_timedwait(psthread_cond_t *cond, psthread_mutex_t *mutex, uint64_t deadline_ns)
{
    struct cond *c = cond_inside(cond);
    struct ps_waiter me;
    if (!ps_mutex_held(mutex))
        return EPERM;
    ps_store_relaxed(&c->timed, 1);
    ps_wait_publish(&c->timed, &me);
    ps_mutex_unlock(mutex);
    bool in_time = ps_wait_published(&me, PS_WAIT_COND, cond, deadline_ns);
    int err = psthread_mutex_lock(mutex);
    return err ? err : in_time ? 0 : ETIMEDOUT;
}

int psthread_cond_signal(psthread_cond_t *cond)
{
    struct cond *c = cond_inside(cond);
    bool timed = ps_load_relaxed(&c->timed);
    if (ps_load_relaxed(&c->waiting) == 0) {
        if (timed)
            ps_wake_on(&c->timed, 1);
        return 0;
    }
    ps_spin_lock(&c->lock);
    struct ps_waiter *w = ps_waitq_pop(&c->queue);
    if (w)
        ps_store_relaxed(&c->waiting, ps_load_relaxed(&c->waiting) - 1);
    ps_spin_unlock(&c->lock);
    if (w)
        ps_ready(w->thread, PS_BACK);
    else if (timed)
        ps_wake_on(&c->timed, 1);
    return 0;
}

int psthread_cond_broadcast(psthread_cond_t *cond)
{
    struct cond *c = cond_inside(cond);
    struct ps_waiter *first = NULL;
    bool timed = ps_load_relaxed(&c->timed);
    if (ps_load_relaxed(&c->waiting) != 0) {
        ps_spin_lock(&c->lock);
        first = ps_waitq_take_all(&c->queue);
        ps_store_relaxed(&c->waiting, 0);
        ps_spin_unlock(&c->lock);
    }
    if (timed)
        ps_wake_on(&c->timed, UINT_MAX); /* uses only the address of `timed` */
    ps_waiters_ready(first);
    return 0;
}
