/* LLVM entry points: locks, and the omp_ lock routines of programs that were linked with libomp.
 *
 * Both lock types have the size of a pointer there: a simple lock lies in its variable, a nestable one is a pointer to a lock of ours and belongs
 * to the task that takes it. Hints are advice, and not taken. Failures: no memory for a nestable lock: aborts with one line. */
#include "lock.h"

#include <stdlib.h>

#include "kmpc.h"

#define HEAD PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid,

typedef _Atomic uint32_t word;
typedef struct ort_nest_lock nest;

/* What the entry points do, with the caller's address for a tool: so they are inlined. */
#define LOCK static PS_ALWAYS_INLINE

LOCK void init(word *lock, uintptr_t hint)
{
    ps_store_relaxed(lock, 0);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_lock_made(lock, ORT_MUTEX_LOCK, (unsigned)hint, ORT_CALLER);
}
LOCK void destroy(word *lock)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_lock_gone(lock, ORT_MUTEX_LOCK, ORT_CALLER);
}
LOCK void set(word *lock) { ORT_TOLD(ort_tool_lock(lock, ORT_MUTEX_LOCK, 0, ORT_CALLER), ort_lock(lock)); }
LOCK void unset(word *lock) { ORT_TOLD(ort_tool_unlock(lock, ORT_MUTEX_LOCK, ORT_CALLER), ort_unlock(lock)); }
LOCK int32_t test(word *lock)
{
    return PS_UNLIKELY(ort_tool_on()) ? ort_tool_lock_try(lock, ORT_CALLER) : ort_lock_try(lock);
}

static nest *make_nest(void)
{
    nest *lock = calloc(1, sizeof *lock);
    PS_CHECK(lock != NULL, "no memory for a nestable lock");
    return lock;
}

LOCK void init_nest(nest **lock, uintptr_t hint)
{
    *lock = make_nest();
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_lock_made(*lock, ORT_MUTEX_NEST_LOCK, (unsigned)hint, ORT_CALLER);
}
LOCK void destroy_nest(nest **lock)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_lock_gone(*lock, ORT_MUTEX_NEST_LOCK, ORT_CALLER);
    free(*lock);
    *lock = NULL;
}
LOCK void set_nest(nest **lock)
{
    const void *owner = ort_self()->task;
    ORT_TOLD(ort_tool_nest_lock(*lock, owner, ORT_CALLER), ort_nest_lock(*lock, owner));
}
LOCK void unset_nest(nest **lock) { ORT_TOLD(ort_tool_nest_unlock(*lock, ORT_CALLER), ort_nest_unlock(*lock)); }
LOCK int32_t test_nest(nest **lock)
{
    const void *owner = ort_self()->task;
    return PS_UNLIKELY(ort_tool_on()) ? ort_tool_nest_lock_try(*lock, owner, ORT_CALLER)
                                      : ort_nest_lock_try(*lock, owner);
}

#define GIVEN(lock) KMPC_NOT_NULL(at, lock, "the lock")

PS_EXPORT void __kmpc_init_lock(HEAD word *lock)
{
    GIVEN(lock);
    init(lock, 0);
}
PS_EXPORT void __kmpc_init_lock_with_hint(HEAD word *lock, uintptr_t hint)
{
    GIVEN(lock);
    init(lock, hint);
}
PS_EXPORT void __kmpc_destroy_lock(HEAD word *lock)
{
    GIVEN(lock);
    destroy(lock);
}
PS_EXPORT void __kmpc_set_lock(HEAD word *lock)
{
    GIVEN(lock);
    set(lock);
}
PS_EXPORT void __kmpc_unset_lock(HEAD word *lock)
{
    GIVEN(lock);
    unset(lock);
}
PS_EXPORT int32_t __kmpc_test_lock(HEAD word *lock)
{
    GIVEN(lock);
    return test(lock);
}
PS_EXPORT void __kmpc_init_nest_lock(HEAD nest **lock)
{
    GIVEN(lock);
    init_nest(lock, 0);
}
PS_EXPORT void __kmpc_init_nest_lock_with_hint(HEAD nest **lock, uintptr_t hint)
{
    GIVEN(lock);
    init_nest(lock, hint);
}
PS_EXPORT void __kmpc_destroy_nest_lock(HEAD nest **lock)
{
    GIVEN(lock);
    destroy_nest(lock);
}
PS_EXPORT void __kmpc_set_nest_lock(HEAD nest **lock)
{
    GIVEN(lock);
    set_nest(lock);
}
PS_EXPORT void __kmpc_unset_nest_lock(HEAD nest **lock)
{
    GIVEN(lock);
    unset_nest(lock);
}
PS_EXPORT int32_t __kmpc_test_nest_lock(HEAD nest **lock)
{
    GIVEN(lock);
    return test_nest(lock);
}

/* --- omp_..._lock@VERSION; Fortran's with an underscore ---------------------------------------------------------------------------- */

#define AS(name) __asm__(".symver kmpc_" #name ", omp_" #name "@VERSION")
#define BOTH(type, name, parameter, body)                                                              \
    PS_EXPORT type kmpc_##name(parameter) body PS_EXPORT type kmpc_##name##_(parameter) body AS(name); \
    AS(name##_)

BOTH(void, init_lock, word *lock, { init(lock, 0); });
BOTH(void, destroy_lock, word *lock, { destroy(lock); });
BOTH(void, set_lock, word *lock, { set(lock); });
BOTH(void, unset_lock, word *lock, { unset(lock); });
BOTH(int, test_lock, word *lock, { return test(lock); });
BOTH(void, init_nest_lock, nest **lock, { init_nest(lock, 0); });
BOTH(void, destroy_nest_lock, nest **lock, { destroy_nest(lock); });
BOTH(void, set_nest_lock, nest **lock, { set_nest(lock); });
BOTH(void, unset_nest_lock, nest **lock, { unset_nest(lock); });
BOTH(int, test_nest_lock, nest **lock, { return test_nest(lock); });

/* libgomp has no such routines, so these are the default. */
PS_EXPORT void omp_init_lock_with_hint(word *lock, uintptr_t hint) { init(lock, hint); }
PS_EXPORT void omp_init_lock_with_hint_(word *lock, const int *hint) { init(lock, (uintptr_t)*hint); }
PS_EXPORT void omp_init_nest_lock_with_hint(nest **lock, uintptr_t hint) { init_nest(lock, hint); }
PS_EXPORT void omp_init_nest_lock_with_hint_(nest **lock, const int *hint) { init_nest(lock, (uintptr_t)*hint); }
