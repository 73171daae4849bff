/* Locks of the program. See lock.c for the states of a word. Zeroed memory is a free lock. */
#ifndef PS_ORT_LOCK_H
#define PS_ORT_LOCK_H

#include "atomic.h"
#include "compiler.h"

/* Values of a lock's word. No word ever has the value NEVER. */
enum { ORT_LOCK_FREE, ORT_LOCK_TAKEN, ORT_LOCK_WAITED, ORT_LOCK_TRACED, ORT_LOCK_NEVER };
/* The value that a word must have for the fast path to take it: FREE, or NEVER while a tool or the program's thread
 * sanitizer listens (ort_traced). Set together with ort_tasks_wanted. */
extern _Atomic uint32_t ort_lock_fast __attribute__((visibility("hidden")));

void ort_lock(_Atomic uint32_t *word); /* waits until the caller has the lock [switches] */
/* Takes the lock and returns true, if it is free; otherwise returns false. */
bool ort_lock_try(_Atomic uint32_t *word);
void ort_unlock(_Atomic uint32_t *word); /* frees the lock, and wakes an entity that waits for it [switches] */
/* ort_unlock in two steps, for callers that tell a tool in between. ort_unlock_first frees the lock, wakes an entity
 * that waits for it, and returns whether one may have waited. ort_unlocked gets this result, and may let other entities
 * of the carrier run. The tool must be told before that: a tool such as Archer has a lock of its own for each lock of
 * the program, which the tool frees when it is told. Another entity of the carrier that took the program's lock first
 * would wait for the tool's lock in the kernel, and block the carrier. */
bool ort_unlock_first(_Atomic uint32_t *word);
void ort_unlocked(bool waited); /* [switches] */

/* ort_lock_contended waits for a word that was not free, and takes it. ort_lock_wake wakes one entity that waits for a
 * word that the caller has freed. [both switch] */
void ort_lock_contended(_Atomic uint32_t *word);
void ort_lock_wake(_Atomic uint32_t *word);
/* Counts the locks freed on this kernel thread for which no entity waited; ort_lock_turn sets it to -TURNS (lock.c).
 * When the count wraps to zero, the code that has freed the lock calls ort_lock_turn, which lets the carrier's other
 * entities run. [switches] */
extern __thread uint8_t ort_lock_turns __attribute__((tls_model("initial-exec"), visibility("hidden")));
void ort_lock_turn(void);
/* Called when the program has tried to take a lock in vain: lets the carrier's other entities run. [switches] */
void ort_lock_missed(void);

/* The fast path, inlined. Both functions return false, and do nothing, while a tool or sanitizer listens.
 * ort_lock_try_fast also does so if the word is not free, and ort_unlock_fast if an entity may wait. [ort_unlock_fast
 * switches] */
static PS_ALWAYS_INLINE bool ort_lock_try_fast(_Atomic uint32_t *word)
{
    uint32_t seen = ps_load_relaxed(&ort_lock_fast);
    return ps_cas_acquire(word, &seen, ORT_LOCK_TAKEN);
}
static PS_ALWAYS_INLINE bool ort_unlock_fast(_Atomic uint32_t *word)
{
    uint32_t seen = ORT_LOCK_TAKEN;
    if (PS_UNLIKELY(!ps_cas_release(word, &seen, ORT_LOCK_FREE)))
        return false;
    if (PS_UNLIKELY(++ort_lock_turns == 0))
        ort_lock_turn();
    return true;
}
/* ort_lock and ort_unlock with the fast path inline. [both switch] */
static PS_ALWAYS_INLINE void ort_lock_inline(_Atomic uint32_t *word)
{
    if (PS_UNLIKELY(!ort_lock_try_fast(word)))
        ort_lock(word);
}
static PS_ALWAYS_INLINE void ort_unlock_inline(_Atomic uint32_t *word)
{
    if (PS_UNLIKELY(!ort_unlock_fast(word)))
        ort_unlock(word);
}

/* A nest lock of the program. At most 16 bytes, the size of libgomp's omp_nest_lock_t. */
struct ort_nest_lock {
    _Atomic uint32_t word;
    int32_t count; /* how often the owner has taken it; only the owner uses the field */
    /* The task that has taken the lock (OpenMP 3.0 and later) or the thread (2.5); NULL: the lock is free. The owner
     * writes it, all threads read it. */
    _Atomic(const void *) owner;
};
_Static_assert(sizeof(struct ort_nest_lock) <= 16, "a nest lock lies in the program's omp_nest_lock_t");

/* Takes the lock for `owner`, or, if `owner` has it already, counts once more in lock->count. [switches] */
void ort_nest_lock(struct ort_nest_lock *lock, const void *owner);
int ort_nest_lock_try(struct ort_nest_lock *lock, const void *owner); /* returns the new count; 0: not taken */
void ort_nest_unlock(struct ort_nest_lock *lock);
bool ort_nest_unlock_first(struct ort_nest_lock *lock); /* as ort_unlock_first, for a lock whose count is 1 */

/* Taking and freeing for callers that have found that neither a tool nor a sanitizer listens (ort_traced). The routines
 * of nest locks must ask before they take: taking a lock that the caller owns already has no compare-and-swap that
 * could fail. [ort_lock_untraced and ort_unlock_untraced switch] */
static PS_ALWAYS_INLINE bool ort_lock_try_untraced(_Atomic uint32_t *word)
{
    uint32_t seen = ORT_LOCK_FREE;
    return ps_cas_acquire(word, &seen, ORT_LOCK_TAKEN);
}
static PS_ALWAYS_INLINE void ort_lock_untraced(_Atomic uint32_t *word)
{
    if (PS_UNLIKELY(!ort_lock_try_untraced(word)))
        ort_lock_contended(word);
}
static PS_ALWAYS_INLINE void ort_unlock_untraced(_Atomic uint32_t *word)
{
    if (PS_UNLIKELY(ps_xchg_release(word, ORT_LOCK_FREE) == ORT_LOCK_WAITED))
        ort_lock_wake(word);
    else if (PS_UNLIKELY(++ort_lock_turns == 0))
        ort_lock_turn();
}

/* The routines of a nest lock. take and try are the functions that take its word: the traced or the untraced ones.
 * ort_nest_unlock_untraced is for callers that know that nothing listens. */
static PS_ALWAYS_INLINE void ort_nest_lock_by(struct ort_nest_lock *lock, const void *owner,
                                              void (*take)(_Atomic uint32_t *word))
{
    if (ps_load_relaxed(&lock->owner) != owner) {
        take(&lock->word);
        ps_store_relaxed(&lock->owner, owner);
        lock->count = 0;
    }
    lock->count++;
}
static PS_ALWAYS_INLINE int ort_nest_lock_try_by(struct ort_nest_lock *lock, const void *owner,
                                                 bool (*try)(_Atomic uint32_t *word))
{
    if (ps_load_relaxed(&lock->owner) != owner) {
        if (!try(&lock->word))
            return 0;
        ps_store_relaxed(&lock->owner, owner);
        lock->count = 0;
    }
    return ++lock->count;
}
static PS_ALWAYS_INLINE void ort_nest_unlock_untraced(struct ort_nest_lock *lock)
{
    if (--lock->count == 0) {
        ps_store_relaxed(&lock->owner, NULL);
        ort_unlock_untraced(&lock->word);
    }
}

#endif
