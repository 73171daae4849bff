/* Locks of the program. See lock.c. Zeroed memory is a free lock. */
#ifndef PS_ORT_LOCK_H
#define PS_ORT_LOCK_H

#include "atomic.h"
#include "compiler.h"

/* NEVER: no lock's word. */
enum { ORT_LOCK_FREE, ORT_LOCK_TAKEN, ORT_LOCK_WAITED, ORT_LOCK_TRACED, ORT_LOCK_NEVER };
/* The value that a word must have for the fast path to take it: FREE, or, where a tool or the program's thread
 * sanitizer listens (ort_traced), NEVER. Set with ort_tasks_wanted. */
extern _Atomic uint32_t ort_lock_fast __attribute__((visibility("hidden")));

void ort_lock(_Atomic uint32_t *word); /* [switches] */
bool ort_lock_try(_Atomic uint32_t *word);
void ort_unlock(_Atomic uint32_t *word); /* [switches] */
/* ort_unlock in two steps, for callers that tell a tool between them. After ort_unlock_first the lock is free; in
 * ort_unlocked others of the carrier may run. A tool may have a lock of its own for each of the program's (Archer), and
 * free it when it is told. A thread that has taken the program's lock meanwhile waits for the tool's, in the kernel.
 * ort_unlocked is given what ort_unlock_first returned. */
bool ort_unlock_first(_Atomic uint32_t *word);
void ort_unlocked(bool waited); /* [switches] */

/* Do the rest of taking a word that was not free [switches], and of freeing a word at which an entity may wait. */
void ort_lock_contended(_Atomic uint32_t *word);
void ort_lock_wake(_Atomic uint32_t *word); /* [switches] */
/* Counts locks freed on this kernel thread, up to zero; ort_lock_turn does what is due then. [switches] */
extern __thread uint8_t ort_lock_turns __attribute__((tls_model("initial-exec"), visibility("hidden")));
void ort_lock_turn(void);
/* Called after a try of the program's that failed. [switches] */
void ort_lock_missed(void);

/* The fast path, inlined. Returns false, and does nothing, where the word is not free, or a tool or sanitizer listens;
 * when freeing, also where an entity waits. */
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
/* ort_lock and ort_unlock with the fast path in place. */
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

/* 16 bytes: the size of libgomp's omp_nest_lock_t. */
struct ort_nest_lock {
    _Atomic uint32_t word;
    int32_t count;
    _Atomic(const void *) owner; /* its task (OpenMP 3.0 and later) or its thread (2.5) */
};
_Static_assert(sizeof(struct ort_nest_lock) <= 16, "a nest lock lies in the program's omp_nest_lock_t");

void ort_nest_lock(struct ort_nest_lock *lock, const void *owner);    /* [switches] */
int ort_nest_lock_try(struct ort_nest_lock *lock, const void *owner); /* the new count; 0: not taken */
void ort_nest_unlock(struct ort_nest_lock *lock);
bool ort_nest_unlock_first(struct ort_nest_lock *lock); /* of the last of its locks */

/* The fast path for entry points that have asked and found no listener (ort_traced). With a nest lock they ask first,
 * since its owner may have nothing to compare. */
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

/* A nest lock by the functions of its word. */
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
