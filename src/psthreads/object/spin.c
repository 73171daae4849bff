/* The public spin lock: for critical sections of a few instructions, by threads that do not block inside.
 *
 * The lock is that of src/lockfree: test-and-test-and-set in the normal build, a POSIX mutex with PS_PORTABLE. A waiter
 * keeps its vp, and with it every thread that is ready behind the waiter. So a holder that blocks or yields never runs
 * again if a waiter spins on its vp. Nothing checks that: a lock of four bytes has no room for an owner. If the
 * holder's kernel thread loses its processor, waiters give up theirs now and then (src/lockfree/spin.h). Cost: one
 * exchange to lock; a store to release. Paper: balder-threads-2004 section 2. */
#include "spin.h"
#include "psthread.h"
#include "race.h"

#include <errno.h>

_Static_assert(sizeof(struct ps_spin) <= sizeof(psthread_spin_t), "a spin lock fits");

static struct ps_spin *spin_inside(psthread_spin_t *lock) { return (struct ps_spin *)(void *)lock; }

int psthread_spin_init(psthread_spin_t *lock)
{
    *lock = (psthread_spin_t)PSTHREAD_SPIN_INITIALIZER;
    return 0;
}

int psthread_spin_lock(psthread_spin_t *lock)
{
    ps_spin_lock(spin_inside(lock));
    ps_race_acquire(lock);
    return 0;
}

int psthread_spin_trylock(psthread_spin_t *lock)
{
    if (!ps_spin_try_lock(spin_inside(lock)))
        return EBUSY;
    ps_race_acquire(lock);
    return 0;
}

int psthread_spin_unlock(psthread_spin_t *lock)
{
    ps_race_release(lock);
    ps_spin_unlock(spin_inside(lock));
    return 0;
}
