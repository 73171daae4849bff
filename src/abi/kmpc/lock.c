/* LLVM entry points: locks, and the omp_ lock routines of programs that were linked with libomp.
 *
 * In libomp both types of lock variables have the size of a pointer. A simple lock is in its variable. The variable of
 * a nestable lock points to a lock that we allocate; the lock belongs to the task that takes it. Hints are ignored,
 * except that tools are told of them. Failures: without memory for a nestable lock the program ends with one line. */
#include "lock_routines.h"

#include "kmpc.h"

#define HEAD PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid,

typedef _Atomic uint32_t word;
typedef struct ort_nest_lock nest;

static const void *kmpc_lock_owner(void) { return ort_self()->task; }

/* Defines the function that compiled code calls, and the routine omp_<name> for C and for Fortran. */
#define LOCK(type, name, parameter, call)                  \
    PS_EXPORT type __kmpc_##name(HEAD parameter)           \
    {                                                      \
        KMPC_NOT_NULL(at, lock, "the lock");               \
        return call;                                       \
    }                                                      \
    PS_EXPORT type kmpc_##name(parameter) { return call; } \
    KMPC_FORTRAN(kmpc_##name);                             \
    KMPC_AS(name);                                         \
    KMPC_AS(name##_)

LOCK(void, init_lock, word *lock, ort_routine_init(lock, 0));
LOCK(void, destroy_lock, word *lock, ort_routine_destroy(lock));
LOCK(void, set_lock, word *lock, ort_routine_set(lock));
LOCK(void, unset_lock, word *lock, ort_routine_unset(lock));
LOCK(int, test_lock, word *lock, ort_routine_test(lock));
LOCK(void, init_nest_lock, nest **lock, ort_routine_init_nest(lock, 0));
LOCK(void, destroy_nest_lock, nest **lock, ort_routine_destroy_nest(lock));
LOCK(void, set_nest_lock, nest **lock, ort_routine_set_nest(*lock, kmpc_lock_owner()));
LOCK(void, unset_nest_lock, nest **lock, ort_routine_unset_nest(*lock));
LOCK(int, test_nest_lock, nest **lock, ort_routine_test_nest(*lock, kmpc_lock_owner()));

/* libgomp has no routines of these names, so they need no symbol version. */
#define HINTED(name, type, init)                                                \
    PS_EXPORT void __kmpc_##name(HEAD type *lock, uintptr_t hint)               \
    {                                                                           \
        KMPC_NOT_NULL(at, lock, "the lock");                                    \
        init(lock, hint);                                                       \
    }                                                                           \
    PS_EXPORT void omp_##name(type *lock, uintptr_t hint) { init(lock, hint); } \
    PS_EXPORT void omp_##name##_(type *lock, const int *hint) { init(lock, (uintptr_t)*hint); }
HINTED(init_lock_with_hint, word, ort_routine_init)
HINTED(init_nest_lock_with_hint, nest *, ort_routine_init_nest)
