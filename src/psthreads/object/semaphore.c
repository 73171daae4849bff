/* Counting semaphores, as POSIX's unnamed ones.
 *
 * One word of 64 bits. The low half is the value. The high half is the number of threads that wait, or are about to.
 * post adds 1, and sees in the same step whether a thread waits. post does not touch the semaphore afterwards (a wake
 * needs only the address). So the thread that has got the semaphore may destroy it.
 * wait    value > 0             -> value - 1 (compare-and-swap, acquire)
 *         value 0               waiters + 1. Then, until it gets the semaphore: waits on the low half while that is 0;
 *                               value - 1 and waiters - 1 in one step
 *         deadline              waiters - 1
 * post    value + 1 (release). If a thread waits: wakes one. (address_wait.c: a waiter that enters its queue after the
 *         change sees the change.)
 * tests/models/semaphore.pml checks this.
 * Failures: EINVAL (init), EBUSY (destroy), EOVERFLOW, EAGAIN, ETIMEDOUT. Cost: one read-modify-write each way if no
 * thread waits. */
#include "active_wait.h"
#include "address_wait.h"
#include "psthread.h"
#include "race.h"
#include "timer.h"

#include <errno.h>

#define ONE_WAITER (UINT64_C(1) << 32)
#define VALUE(s) ((uint32_t)(s))
#define WAITERS(s) ((s) >> 32)

_Static_assert(sizeof(_Atomic uint64_t) <= sizeof(psthread_sem_t), "a semaphore fits");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the value is the half at the word's address");

static _Atomic uint64_t *semaphore_inside(psthread_sem_t *sem) { return (_Atomic uint64_t *)(void *)sem; }
static _Atomic uint32_t *value_of(psthread_sem_t *sem) { return (_Atomic uint32_t *)(void *)sem; }

int psthread_sem_init(psthread_sem_t *sem, unsigned value)
{
    if (value > PSTHREAD_SEM_VALUE_MAX)
        return EINVAL;
    ps_store_relaxed(semaphore_inside(sem), value);
    return 0;
}

int psthread_sem_destroy(psthread_sem_t *sem) { return WAITERS(ps_load_acquire(semaphore_inside(sem))) ? EBUSY : 0; }

/* Subtracts 1 from the value and `waiter` (ONE_WAITER or 0) from the waiters, in one step. Returns false if the value
 * is 0. */
static bool take_one_permit(psthread_sem_t *sem, uint64_t waiter)
{
    uint64_t s = ps_load_relaxed(semaphore_inside(sem));
    while (VALUE(s))
        if (ps_cas_acquire(semaphore_inside(sem), &s, s - 1 - waiter)) {
            ps_race_acquire(sem);
            return true;
        }
    return false;
}

int psthread_sem_trywait(psthread_sem_t *sem)
{
    if (take_one_permit(sem, 0))
        return 0;
    ps_tried_in_vain();
    return EAGAIN;
}

int psthread_sem_timedwait(psthread_sem_t *sem, uint64_t deadline_ns)
{
    for (unsigned left = ps_spin_budget();; left = ps_spin_round(left)) {
        if (take_one_permit(sem, 0))
            return 0;
        if (!left)
            break;
    }
    ps_add_relaxed(semaphore_inside(sem), ONE_WAITER);
    bool in_time = true;
    while (!take_one_permit(sem, ONE_WAITER)) {
        if (!in_time) {
            ps_sub_relaxed(semaphore_inside(sem), ONE_WAITER);
            return ETIMEDOUT;
        }
        in_time = ps_wait_on_until(value_of(sem), 0, PS_WAIT_SEM, deadline_ns);
    }
    return 0;
}

int psthread_sem_wait(psthread_sem_t *sem) { return psthread_sem_timedwait(sem, PS_NEVER); }

int psthread_sem_post(psthread_sem_t *sem)
{
    uint64_t s = ps_load_relaxed(semaphore_inside(sem));
    ps_race_release(sem);
    do
        if (VALUE(s) >= PSTHREAD_SEM_VALUE_MAX)
            return EOVERFLOW;
    while (!ps_cas_release(semaphore_inside(sem), &s, s + 1));
    if (WAITERS(s))
        ps_wake_on(value_of(sem), 1);
    return 0;
}

int psthread_sem_getvalue(psthread_sem_t *sem, unsigned *value)
{
    *value = VALUE(ps_load_relaxed(semaphore_inside(sem)));
    return 0;
}
