/* Locks, simple and nestable, in the two versions that programs may ask for.
 *
 * Version OMP_3.0, of today: omp_lock_t has 4 bytes, omp_nest_lock_t 16 and belongs to the task that takes it. Version
 * OMP_1.0, of programs built before OpenMP 3.0: 4 and 8 bytes, belongs to the thread; the 8 bytes are a pointer to a
 * nest lock then. Fortran's nestable lock variables have 8 bytes, so they are pointers in both versions.
 * Failures: no memory for a nest lock behind a pointer: aborts with one line (the routine has no way to say so).
 * OpenMP 5.2 section 18.9. */
#include "lock_routines.h"

#include "user.h"

/* The function user_<name>_<its version> under its public name. */
#define OF_1_0(name) __asm__(".symver user_" #name "_1, omp_" #name "@OMP_1.0")
#define OF_3_0(name) __asm__(".symver user_" #name "_3, omp_" #name "@@OMP_3.0")

/* The same for both versions. */
#define BOTH(type, name, parameter, body)                                                                       \
    PS_EXPORT type user_##name##_1(parameter) body PS_EXPORT type user_##name##_3(parameter) body OF_1_0(name); \
    OF_3_0(name)

/* --- simple locks --- */

typedef _Atomic uint32_t word;

BOTH(void, init_lock, word *lock, { ort_routine_init(lock, 0); });
BOTH(void, destroy_lock, word *lock, { ort_routine_destroy(lock); });
BOTH(void, set_lock, word *lock, { ort_routine_set(lock); });
BOTH(void, unset_lock, word *lock, { ort_routine_unset(lock); });
BOTH(int, test_lock, word *lock, { return ort_routine_test(lock); });

BOTH(void, init_lock_, word *lock, { ort_routine_init(lock, 0); });
BOTH(void, destroy_lock_, word *lock, { ort_routine_destroy(lock); });
BOTH(void, set_lock_, word *lock, { ort_routine_set(lock); });
BOTH(void, unset_lock_, word *lock, { ort_routine_unset(lock); });
BOTH(int32_t, test_lock_, word *lock, { return ort_routine_test(lock); });

/* --- nestable locks --- */

typedef struct ort_nest_lock nest;

static const void *user_lock_owner(void) { return ort_self()->task; }
static const void *thread(void) { return ort_self(); }

PS_EXPORT void user_init_nest_lock_3(nest *lock)
{
    *lock = (nest){0};
    ort_routine_nest_made(lock, 0);
}
PS_EXPORT void user_destroy_nest_lock_3(nest *lock) { ort_routine_nest_gone(lock); }
PS_EXPORT void user_set_nest_lock_3(nest *lock) { ort_routine_set_nest(lock, user_lock_owner()); }
PS_EXPORT void user_unset_nest_lock_3(nest *lock) { ort_routine_unset_nest(lock); }
PS_EXPORT int user_test_nest_lock_3(nest *lock) { return ort_routine_test_nest(lock, user_lock_owner()); }
OF_3_0(init_nest_lock);
OF_3_0(destroy_nest_lock);
OF_3_0(set_nest_lock);
OF_3_0(unset_nest_lock);
OF_3_0(test_nest_lock);

/* Behind a pointer. */
#define NEST_POINTER(name, version, owner)                                                                             \
    PS_EXPORT void user_init_nest_lock##name##_##version(nest **lock) { ort_routine_init_nest(lock, 0); }              \
    PS_EXPORT void user_destroy_nest_lock##name##_##version(nest **lock) { ort_routine_destroy_nest(lock); }           \
    PS_EXPORT void user_set_nest_lock##name##_##version(nest **lock) { ort_routine_set_nest(*lock, owner()); }         \
    PS_EXPORT void user_unset_nest_lock##name##_##version(nest **lock) { ort_routine_unset_nest(*lock); }              \
    PS_EXPORT int user_test_nest_lock##name##_##version(nest **lock) { return ort_routine_test_nest(*lock, owner()); } \
    OF_##version##_0(init_nest_lock##name);                                                                            \
    OF_##version##_0(destroy_nest_lock##name);                                                                         \
    OF_##version##_0(set_nest_lock##name);                                                                             \
    OF_##version##_0(unset_nest_lock##name);                                                                           \
    OF_##version##_0(test_nest_lock##name)

NEST_POINTER(, 1, thread);
NEST_POINTER(_, 1, thread);
NEST_POINTER(_, 3, user_lock_owner);
