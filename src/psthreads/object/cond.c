/* The condition variable: threads that wait for something which a mutex guards.
 *
 * Callers: wait - any thread that may block and holds the mutex; signal, broadcast, destroy - anyone, they never wait.
 *
 * A waiter pushes itself before it releases the mutex; so a thread that changes the condition under the mutex
 * afterwards finds the waiter. From then on it may be readied at any time, also while it still runs and releases the
 * mutex; ps_block then returns at once.
 *
 * Shared fields: queue, under `lock`. `waiting` is written under `lock`. signal and broadcast read it without the lock,
 * relaxed. Relaxed is enough: a waiter that must be woken counted itself while it held the mutex. Under this mutex the
 * signaller, or a thread that the signaller knows of, has changed the condition since. The mutex orders the two. A
 * signal that is not ordered so finds any value, as POSIX allows.
 *
 * A woken thread does not touch the object any more, and signal's last access comes before its ps_ready. So a thread
 * that knows that all were woken may destroy the object. A wait never returns without reason, though the interface
 * would allow it.
 *
 * A thread that waits until a moment stands not in this queue but in address_wait.c's, under the address of `timed`. A
 * late waiter must not touch the object: a thread that has just woken all others may be destroying it. A waiter with a
 * deadline is in its queue before it releases the mutex, like the others. signal takes those that wait without a
 * deadline first.
 *
 * Cost: signal without waiters is one load. Rejected: moving the woken to the mutex's queue on broadcast (wait
 * morphing). Wait morphing ties the two objects together, and threads that are not preempted mostly find the mutex free
 * when they come to run. EPERM (checked build): the caller does not hold the mutex. */
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
    _Atomic uint32_t timed; /* 1: a thread has waited here until a moment; never 0 again */
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
        ps_wake_on(&c->timed, UINT_MAX); /* by its address */
    ps_waiters_ready(first);
    return 0;
}
