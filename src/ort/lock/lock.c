/* Locks of the program: omp_lock_t, omp_nest_lock_t, critical and atomic regions.
 *
 * A lock is one word, as in Drepper's "Futexes are tricky": 0 free, 1 taken, 2 taken and an entity may wait. Taking:
 * compare-and-swap from 0 to 1. If that fails, the entity looks at the word a few times (test-and-test-and-set). Then
 * it sets 2 and waits in ee_wait, so that its carrier (the vp or kernel thread that runs it) runs other entities. An
 * entity that is woken sets 2 again, because others may still wait. Releasing: on the fast path compare-and-swap from 1
 * to 0, otherwise exchange with 0, and a wake if the word was 2. A nest lock names its owner, a task or a thread
 * (lock.h). All threads read that field, but it equals the reader's own task or thread only if the reader wrote it.
 *
 * Listeners (a tool, the program's thread sanitizer: ort_traced) cost no instruction while there are none. Taking
 * compares the word with ort_lock_fast. While a listener is there, ort_lock_fast has a value that no word has, and a
 * taken lock is 3, not 1. So both compare-and-swaps fail, and the slow path asks for listeners. No listener begins once
 * a lock has been taken on the fast path (tool.h, ort_tasks_wanted).
 *
 * Callers: any OpenMP thread, on any stack. Ordering: the operation that takes the lock is an acquire, the one that
 * frees it a release. Cost: without contention one read-modify-write each. Forms (lock.h): ort_lock tells the program's
 * thread sanitizer (race.h), ort_lock_inline has the fast path inline, ort_lock_untraced is for callers that know that
 * nothing listens.
 * Rejected: a queue lock. It is fair, but an omp_lock_t has four bytes here, and handing the lock to an entity whose
 * carrier is busy stalls all others. OpenMP 5.2 sections 15.2 (critical) and 18.9 (locks); balder-threads-2004 section
 * 2 (spin for two switches, then block: ee_wait). */
#include "lock.h"

#include "cpu.h"
#include "ee.h"
#include "ort.h"
#include "race.h"

/* An entity that waits for a lock looks at the word up to LOOKS times, and pauses PAUSES times before each look,
 * because a look takes the cache line away from the holder. While the entity pauses, the holder of a short lock can
 * free and take the lock many times on its own processor. */
#define LOOKS 8
#define PAUSES 8

/* Entities are not preempted. An entity that takes and frees a lock in a loop, until another entity has done something,
 * keeps its carrier. That other entity, or an entity that was woken for the lock, may be ready on the same carrier, and
 * would run only when the watchdog steps in, after some milliseconds. So each time that TURNS locks have been freed on
 * a kernel thread, the carrier's other entities run first. The count is in a thread-local variable, because the lock's
 * word must change only when the lock is taken or freed.
 * Rejected: counting in the word how many entities took the lock before the woken one, and giving way after some of
 * them. Most entities that such a loop keeps from running do not wait for the lock. */
#define TURNS 64

/* Returns the value that a taken word has while no entity waits for it. */
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

/* Called when the caller has freed a lock for which an entity waited. The woken entity may be one that can run on this
 * carrier only. If such an entity has been kept waiting here, the caller yields to it. */
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

/* Called when the program has tried to take a lock in vain. The program may try in a loop, and the holder may be
 * another entity of this carrier. So other entities run first. */
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
