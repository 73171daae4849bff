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

PS_EXPORT void __kmpc_init_lock(HEAD word *lock) { ps_store_relaxed(lock, 0); }
PS_EXPORT void __kmpc_init_lock_with_hint(HEAD word *lock, PS_UNUSED uintptr_t hint) { ps_store_relaxed(lock, 0); }
PS_EXPORT void __kmpc_destroy_lock(HEAD PS_UNUSED word *lock) {}
PS_EXPORT void __kmpc_set_lock(HEAD word *lock) { ort_lock(lock); }
PS_EXPORT void __kmpc_unset_lock(HEAD word *lock) { ort_unlock(lock); }
PS_EXPORT int32_t __kmpc_test_lock(HEAD word *lock) { return ort_lock_try(lock); }

static nest *make_nest(void)
{
    nest *lock = calloc(1, sizeof *lock);
    PS_CHECK(lock != NULL, "no memory for a nestable lock");
    return lock;
}

static void destroy_nest(nest **lock)
{
    free(*lock);
    *lock = NULL;
}

PS_EXPORT void __kmpc_init_nest_lock(HEAD nest **lock) { *lock = make_nest(); }
PS_EXPORT void __kmpc_init_nest_lock_with_hint(HEAD nest **lock, PS_UNUSED uintptr_t hint) { *lock = make_nest(); }
PS_EXPORT void __kmpc_destroy_nest_lock(HEAD nest **lock) { destroy_nest(lock); }
PS_EXPORT void __kmpc_set_nest_lock(HEAD nest **lock) { ort_nest_lock(*lock, ort_self()->task); }
PS_EXPORT void __kmpc_unset_nest_lock(HEAD nest **lock) { ort_nest_unlock(*lock); }
PS_EXPORT int32_t __kmpc_test_nest_lock(HEAD nest **lock) { return ort_nest_lock_try(*lock, ort_self()->task); }

/* --- omp_..._lock@VERSION; Fortran's with an underscore ---------------------------------------------------------------------------- */

#define AS(name) __asm__(".symver kmpc_" #name ", omp_" #name "@VERSION")
#define BOTH(type, name, parameter, body)                                                              \
    PS_EXPORT type kmpc_##name(parameter) body PS_EXPORT type kmpc_##name##_(parameter) body AS(name); \
    AS(name##_)

BOTH(void, init_lock, word *lock, { ps_store_relaxed(lock, 0); });
BOTH(void, destroy_lock, PS_UNUSED word *lock, {});
BOTH(void, set_lock, word *lock, { ort_lock(lock); });
BOTH(void, unset_lock, word *lock, { ort_unlock(lock); });
BOTH(int, test_lock, word *lock, { return ort_lock_try(lock); });
BOTH(void, init_nest_lock, nest **lock, { *lock = make_nest(); });
BOTH(void, destroy_nest_lock, nest **lock, { destroy_nest(lock); });
BOTH(void, set_nest_lock, nest **lock, { ort_nest_lock(*lock, ort_self()->task); });
BOTH(void, unset_nest_lock, nest **lock, { ort_nest_unlock(*lock); });
BOTH(int, test_nest_lock, nest **lock, { return ort_nest_lock_try(*lock, ort_self()->task); });

/* libgomp has no such routines, so these are the default. */
PS_EXPORT void omp_init_lock_with_hint(word *lock, PS_UNUSED uintptr_t hint) { ps_store_relaxed(lock, 0); }
PS_EXPORT void omp_init_lock_with_hint_(word *lock, PS_UNUSED const int *hint) { ps_store_relaxed(lock, 0); }
PS_EXPORT void omp_init_nest_lock_with_hint(nest **lock, PS_UNUSED uintptr_t hint) { *lock = make_nest(); }
PS_EXPORT void omp_init_nest_lock_with_hint_(nest **lock, PS_UNUSED const int *hint) { *lock = make_nest(); }
