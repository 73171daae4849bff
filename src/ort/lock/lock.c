/* Locks of the program: omp_lock_t, omp_nest_lock_t, critical and atomic regions.
 *
 * One word, as in Drepper's "Futexes are tricky": 0 free, 1 taken, 2 taken and an entity may wait. Taking:
 * compare-and-swap 0 to 1. An entity that fails looks at the value now and then (test-and-test-and-set), then sets 2
 * and waits in ee_wait, so that its carrier runs other entities. An entity that comes out of a wait sets 2 again, since
 * others may wait still. Releasing: compare-and-swap 1 to 0; where that fails exchange with 0, and a wake where 2
 * stood. A nest lock names the task that owns it. All threads read that field, but it equals the reader's own task only
 * where the reader wrote it.
 *
 * Listeners (a tool, the program's thread sanitizer: ort_traced) cost no instruction while there are none. Taking
 * compares the word with ort_lock_fast, which no word equals while one listens; a lock taken then is 3, not 1. So both
 * compare-and-swaps fail, and the slow path asks. No listener begins once a lock has been taken by the fast path
 * (tool.h, ort_tasks_wanted).
 *
 * Callers: any OpenMP thread; on any stack. Ordering: the exchange or compare-and-swap that takes is an acquire, the
 * exchange that frees a release. Cost: uncontended one read-modify-write each.
 * Two forms (lock.h): ort_lock tells the program's thread sanitizer (race.h); ort_lock_inline has the fast path in
 * place.
 * Rejected: a queue lock: fair, but an omp_lock_t has four bytes here, and transfer to an entity whose carrier is busy
 * stalls all others. OpenMP 5.2 sections 15.2 (critical) and 18.9 (locks); balder-threads-2004 section 2 (spin for two
 * switches, then block: ee_wait). */
#include "lock.h"

#include "cpu.h"
#include "ee.h"
#include "ort.h"
#include "race.h"

/* Looks at a taken lock are rare, because each takes the line away from the holder. Where a lock is held for some
 * instructions, the holder could else free it and take it again many times on one processor. */
#define LOOKS 8
#define PAUSES 8

/* Entities are not preempted. An entity that polls, taking a lock and freeing it in a loop, keeps its carrier. The
 * entity that it polls for, and the one that was woken for the lock, would not run there until the watchdog comes
 * (some milliseconds). So each TURNS-th time that a lock is freed on a kernel thread the others of the carrier run
 * first. Counted by kernel thread, not by lock: the lock's word changes where it is free or taken only.
 * Rejected: a count, in the word, of the entities that were faster than the woken one, and to give way after some of
 * them. Most entities that a poller keeps from running do not wait for the lock. */
#define TURNS 64

/* Returns the value of a word that is taken while no entity waits. */
static uint32_t as_taken(void) { return ort_traced() ? ORT_LOCK_TRACED : ORT_LOCK_TAKEN; }

PS_NOINLINE void ort_lock_contended(_Atomic uint32_t *word)
{
    for (unsigned i = 0; i < LOOKS; i++) {
        for (unsigned p = 0; p < PAUSES; p++)
            cpu_pause();
        uint32_t seen = ps_load_relaxed(word);
        if (seen == ORT_LOCK_FREE && ps_cas_acquire(word, &seen, as_taken()))
            return;
        if (seen == ORT_LOCK_WAITED)
            break;
    }
    while (ps_xchg_acquire(word, ORT_LOCK_WAITED) != ORT_LOCK_FREE)
        ee_wait(word, ORT_LOCK_WAITED);
}

/* The entity that frees the lock gives way where the woken entity can run on this carrier only and has been kept
 * waiting here before. */
PS_NOINLINE void ort_lock_wake(_Atomic uint32_t *word)
{
    ee_wake(word, 1);
    if (PS_UNLIKELY(ee_carrier_wanted()))
        ee_yield();
}

__thread uint8_t ort_lock_turns;

PS_NOINLINE void ort_lock_turn(void)
{
    ort_lock_turns = (uint8_t)-TURNS;
    ee_offer();
}

/* Called when a try has failed: the program may try again and again, and the holder may be among this carrier's other
 * entities. */
PS_NOINLINE void ort_lock_missed(void) { ee_offer(); }

void ort_lock(_Atomic uint32_t *word)
{
    uint32_t seen = ORT_LOCK_FREE;
    if (!ps_cas_acquire(word, &seen, as_taken()))
        ort_lock_contended(word);
    ps_race_acquire(word);
}

bool ort_lock_try(_Atomic uint32_t *word)
{
    uint32_t seen = ORT_LOCK_FREE;
    if (!ps_cas_acquire(word, &seen, as_taken()))
        return false;
    ps_race_acquire(word);
    return true;
}

bool ort_unlock_first(_Atomic uint32_t *word)
{
    ps_race_release(word);
    bool waited = ps_xchg_release(word, ORT_LOCK_FREE) == ORT_LOCK_WAITED;
    if (waited)
        ee_wake(word, 1);
    return waited;
}

void ort_unlocked(bool waited)
{
    if (!waited && ++ort_lock_turns == 0)
        ort_lock_turn();
    else if (waited && PS_UNLIKELY(ee_carrier_wanted()))
        ee_yield();
}

void ort_unlock(_Atomic uint32_t *word) { ort_unlocked(ort_unlock_first(word)); }

void ort_nest_lock(struct ort_nest_lock *lock, const void *owner) { ort_nest_lock_by(lock, owner, ort_lock); }

int ort_nest_lock_try(struct ort_nest_lock *lock, const void *owner)
{
    return ort_nest_lock_try_by(lock, owner, ort_lock_try);
}

void ort_nest_unlock(struct ort_nest_lock *lock)
{
    if (--lock->count == 0) {
        ps_store_relaxed(&lock->owner, NULL);
        ort_unlock(&lock->word);
    } else {
        ps_race_release(&lock->word);
    }
}

bool ort_nest_unlock_first(struct ort_nest_lock *lock)
{
    lock->count = 0;
    ps_store_relaxed(&lock->owner, NULL);
    return ort_unlock_first(&lock->word);
}
