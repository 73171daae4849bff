/* The lock routines and critical regions of both ABIs, which their entry points call: the lock itself (lock.h), and the
 * report to a tool.
 *
 * While no tool and no thread sanitizer of the program listens (ort_traced), a lock costs its atomic operation and no
 * call. While one listens, that operation fails (lock.c), and the slow path behind it asks for listeners; routines of
 * nest locks ask first. The functions are inlined into the entry points, so that ORT_CALLER, a return address, is in
 * the program's code. Callers: only entry points, on a thread of the program.
 * Failures: if there is no memory for a nestable lock, the runtime aborts with one line, because the routines have no
 * error result. */
#ifndef PS_ORT_LOCK_ROUTINES_H
#define PS_ORT_LOCK_ROUTINES_H

#include <stdlib.h>

#include "check.h"
#include "emergency_pool.h"
#include "lock.h"
#include "ort.h"

#define ORT_ROUTINE static PS_ALWAYS_INLINE

/* Executes `traced` if a tool or a sanitizer listens, else `untraced`. */
#define ORT_LOCK_TRACED(traced, untraced) \
    do {                                  \
        if (PS_UNLIKELY(ort_traced()))    \
            traced;                       \
        else                              \
            untraced;                     \
    } while (0)

/* --- locks of any kind --- */

ORT_ROUTINE void ort_routine_enter(_Atomic uint32_t *word, enum ort_mutex_kind kind, unsigned hint)
{
    if (PS_UNLIKELY(!ort_lock_try_fast(word)))
        ORT_LOCK_TRACED(ort_tool_lock(word, kind, hint, ORT_CALLER), ort_lock_contended(word));
}
ORT_ROUTINE void ort_routine_leave(_Atomic uint32_t *word, enum ort_mutex_kind kind)
{
    if (PS_UNLIKELY(!ort_unlock_fast(word)))
        ORT_LOCK_TRACED(ort_tool_unlock(word, kind, ORT_CALLER), ort_unlock(word));
}

/* --- simple locks --- */

ORT_ROUTINE void ort_routine_init(_Atomic uint32_t *lock, uintptr_t hint)
{
    ps_store_relaxed(lock, 0);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_lock_made(lock, ORT_MUTEX_LOCK, (unsigned)hint, ORT_CALLER);
}
ORT_ROUTINE void ort_routine_destroy(_Atomic uint32_t *lock)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_lock_gone(lock, ORT_MUTEX_LOCK, ORT_CALLER);
}
ORT_ROUTINE void ort_routine_set(_Atomic uint32_t *lock) { ort_routine_enter(lock, ORT_MUTEX_LOCK, 0); }
ORT_ROUTINE void ort_routine_unset(_Atomic uint32_t *lock) { ort_routine_leave(lock, ORT_MUTEX_LOCK); }
ORT_ROUTINE int ort_routine_test(_Atomic uint32_t *lock)
{
    bool got = ort_lock_try_fast(lock) || (PS_UNLIKELY(ort_traced()) && ort_tool_lock_try(lock, ORT_CALLER));
    if (!got)
        ort_lock_missed();
    return got;
}

/* --- nestable locks; the ABI's variable is the lock, or a pointer to it --- */

static inline struct ort_nest_lock *ort_routine_new_nest(void)
{
    struct ort_nest_lock *lock = ort_mem_zeroed(sizeof *lock);
    PS_CHECK(lock != NULL, "no memory for a nestable lock");
    return lock;
}
ORT_ROUTINE void ort_routine_nest_made(const struct ort_nest_lock *lock, uintptr_t hint)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_lock_made(lock, ORT_MUTEX_NEST_LOCK, (unsigned)hint, ORT_CALLER);
}
ORT_ROUTINE void ort_routine_nest_gone(const struct ort_nest_lock *lock)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_lock_gone(lock, ORT_MUTEX_NEST_LOCK, ORT_CALLER);
}
ORT_ROUTINE void ort_routine_init_nest(struct ort_nest_lock **lock, uintptr_t hint)
{
    *lock = ort_routine_new_nest();
    ort_routine_nest_made(*lock, hint);
}
ORT_ROUTINE void ort_routine_destroy_nest(struct ort_nest_lock **lock)
{
    ort_routine_nest_gone(*lock);
    ort_mem_free(*lock);
    *lock = NULL;
}
/* owner: the calling task or thread (struct ort_nest_lock). */
ORT_ROUTINE void ort_routine_set_nest(struct ort_nest_lock *lock, const void *owner)
{
    ORT_LOCK_TRACED(ort_tool_nest_lock(lock, owner, ORT_CALLER), ort_nest_lock_by(lock, owner, ort_lock_untraced));
}
ORT_ROUTINE void ort_routine_unset_nest(struct ort_nest_lock *lock)
{
    ORT_LOCK_TRACED(ort_tool_nest_unlock(lock, ORT_CALLER), ort_nest_unlock_untraced(lock));
}
ORT_ROUTINE int ort_routine_test_nest(struct ort_nest_lock *lock, const void *owner)
{
    int count = PS_UNLIKELY(ort_traced()) ? ort_tool_nest_lock_try(lock, owner, ORT_CALLER)
                                          : ort_nest_lock_try_by(lock, owner, ort_lock_try_untraced);
    if (!count)
        ort_lock_missed();
    return count;
}

#endif
