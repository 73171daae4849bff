/* Locks of the program: omp_lock_t, omp_nest_lock_t, critical and atomic regions.
 *
 * One word, as in Drepper's "Futexes are tricky": 0 free, 1 taken, 2 taken and somebody may wait. Taking: compare-and-swap 0 to 1; who
 * fails spins on the value (test-and-test-and-set), then sets 2 and waits in ee_wait, so that its carrier runs other entities; who
 * comes out of a wait sets 2 again, since others may wait still. Releasing: exchange with 0, and a wake where 2 stood.
 * A nest lock has the task that owns it, read by everybody but equal to the reader's own task only where the reader wrote it.
 *
 * Callers: any OpenMP thread; on any stack. Ordering: the exchange or compare-and-swap that takes is an acquire, the exchange that frees
 * a release. Cost: uncontended one read-modify-write each.
 * Rejected: a queue lock: fair, but an omp_lock_t has four bytes here, and hand-over to an entity whose carrier is busy stalls all others.
 * OpenMP 5.2 sections 15.2 (critical) and 18.9 (locks); balder-threads-2004 section 2 (spin for two switches, then block: ee_wait). */
#include "lock.h"

#include "cpu.h"
#include "ee.h"
#include "ort.h"
#include "race.h"

enum { FREE, TAKEN, WAITED };

static PS_NOINLINE void lock_slow(_Atomic uint32_t *word)
{
    for (unsigned i = 0; i < 64; i++) {
        uint32_t seen = ps_load_relaxed(word);
        if (seen == FREE && ps_cas_acquire(word, &seen, TAKEN))
            return;
        if (seen == WAITED)
            break;
        cpu_pause();
    }
    while (ps_xchg_acquire(word, WAITED) != FREE)
        ee_wait(word, WAITED);
}

void ort_lock(_Atomic uint32_t *word)
{
    uint32_t seen = FREE;
    if (PS_UNLIKELY(!ps_cas_acquire(word, &seen, TAKEN)))
        lock_slow(word);
    ps_race_acquire(word);
}

bool ort_lock_try(_Atomic uint32_t *word)
{
    uint32_t seen = FREE;
    if (!ps_cas_acquire(word, &seen, TAKEN))
        return false;
    ps_race_acquire(word);
    return true;
}

void ort_unlock(_Atomic uint32_t *word)
{
    ps_race_release(word);
    if (ps_xchg_release(word, FREE) == WAITED)
        ee_wake(word, 1);
}

void ort_nest_lock(struct ort_nest_lock *lock, const void *owner)
{
    if (ps_load_relaxed(&lock->owner) != owner) {
        ort_lock(&lock->word);
        ps_store_relaxed(&lock->owner, owner);
        lock->count = 0;
    }
    lock->count++;
}

int ort_nest_lock_try(struct ort_nest_lock *lock, const void *owner)
{
    if (ps_load_relaxed(&lock->owner) != owner) {
        if (!ort_lock_try(&lock->word))
            return 0;
        ps_store_relaxed(&lock->owner, owner);
        lock->count = 0;
    }
    return ++lock->count;
}

void ort_nest_unlock(struct ort_nest_lock *lock)
{
    if (--lock->count == 0) {
        ps_store_relaxed(&lock->owner, NULL);
        ort_unlock(&lock->word);
    }
}
