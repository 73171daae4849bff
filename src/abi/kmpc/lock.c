/* LLVM entry points: locks, and the omp_ lock routines of programs that were linked with libomp.
 *
 * In libomp both lock types have the size of a pointer. A simple lock lies in its variable. A nestable one is a pointer
 * to a lock of ours, and belongs to the task that takes it. Hints are advice, and not taken. Failures: no memory for a
 * nestable lock: aborts with one line. */
#include "lock_routines.h"

#include "kmpc.h"

#define HEAD PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid,

typedef _Atomic uint32_t word;
typedef struct ort_nest_lock nest;

static const void *kmpc_lock_owner(void) { return ort_self()->task; }

#define GIVEN(lock) KMPC_NOT_NULL(at, lock, "the lock")

PS_EXPORT void __kmpc_init_lock(HEAD word *lock)
{
    GIVEN(lock);
    ort_routine_init(lock, 0);
}
PS_EXPORT void __kmpc_init_lock_with_hint(HEAD word *lock, uintptr_t hint)
{
    GIVEN(lock);
    ort_routine_init(lock, hint);
}
PS_EXPORT void __kmpc_destroy_lock(HEAD word *lock)
{
    GIVEN(lock);
    ort_routine_destroy(lock);
}
PS_EXPORT void __kmpc_set_lock(HEAD word *lock)
{
    GIVEN(lock);
    ort_routine_set(lock);
}
PS_EXPORT void __kmpc_unset_lock(HEAD word *lock)
{
    GIVEN(lock);
    ort_routine_unset(lock);
}
PS_PREEMPTIBLE PS_EXPORT int32_t __kmpc_test_lock(HEAD word *lock)
{
    GIVEN(lock);
    return ort_routine_test(lock);
}
PS_EXPORT void __kmpc_init_nest_lock(HEAD nest **lock)
{
    GIVEN(lock);
    ort_routine_init_nest(lock, 0);
}
PS_EXPORT void __kmpc_init_nest_lock_with_hint(HEAD nest **lock, uintptr_t hint)
{
    GIVEN(lock);
    ort_routine_init_nest(lock, hint);
}
PS_EXPORT void __kmpc_destroy_nest_lock(HEAD nest **lock)
{
    GIVEN(lock);
    ort_routine_destroy_nest(lock);
}
PS_EXPORT void __kmpc_set_nest_lock(HEAD nest **lock)
{
    GIVEN(lock);
    ort_routine_set_nest(*lock, kmpc_lock_owner());
}
PS_EXPORT void __kmpc_unset_nest_lock(HEAD nest **lock)
{
    GIVEN(lock);
    ort_routine_unset_nest(*lock);
}
PS_PREEMPTIBLE PS_EXPORT int32_t __kmpc_test_nest_lock(HEAD nest **lock)
{
    GIVEN(lock);
    return ort_routine_test_nest(*lock, kmpc_lock_owner());
}

/* --- omp_..._lock@VERSION; Fortran's with an underscore --- */

#define AS(name) __asm__(".symver kmpc_" #name ", omp_" #name "@VERSION")
#define BOTH(type, name, parameter, body)                                                                             \
    PS_PREEMPTIBLE PS_EXPORT type kmpc_##name(parameter) body PS_PREEMPTIBLE PS_EXPORT type kmpc_##name##_(parameter) \
        body AS(name);                                                                                                \
    AS(name##_)

BOTH(void, init_lock, word *lock, { ort_routine_init(lock, 0); });
BOTH(void, destroy_lock, word *lock, { ort_routine_destroy(lock); });
BOTH(void, set_lock, word *lock, { ort_routine_set(lock); });
BOTH(void, unset_lock, word *lock, { ort_routine_unset(lock); });
BOTH(int, test_lock, word *lock, { return ort_routine_test(lock); });
BOTH(void, init_nest_lock, nest **lock, { ort_routine_init_nest(lock, 0); });
BOTH(void, destroy_nest_lock, nest **lock, { ort_routine_destroy_nest(lock); });
BOTH(void, set_nest_lock, nest **lock, { ort_routine_set_nest(*lock, kmpc_lock_owner()); });
BOTH(void, unset_nest_lock, nest **lock, { ort_routine_unset_nest(*lock); });
BOTH(int, test_nest_lock, nest **lock, { return ort_routine_test_nest(*lock, kmpc_lock_owner()); });

/* libgomp has no such routines, so these are the default. */
PS_EXPORT void omp_init_lock_with_hint(word *lock, uintptr_t hint) { ort_routine_init(lock, hint); }
PS_EXPORT void omp_init_lock_with_hint_(word *lock, const int *hint) { ort_routine_init(lock, (uintptr_t)*hint); }
PS_EXPORT void omp_init_nest_lock_with_hint(nest **lock, uintptr_t hint) { ort_routine_init_nest(lock, hint); }
PS_EXPORT void omp_init_nest_lock_with_hint_(nest **lock, const int *hint)
{
    ort_routine_init_nest(lock, (uintptr_t)*hint);
}
