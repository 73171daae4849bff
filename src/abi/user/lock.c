/* Locks, simple and nestable, in the two symbol versions that programs may ask for.
 *
 * Version OMP_3.0, of today: omp_lock_t has 4 bytes, omp_nest_lock_t has 16, and a nestable lock belongs to the task
 * that takes it. Version OMP_1.0, of programs built before OpenMP 3.0: 4 and 8 bytes, and a nestable lock belongs to
 * the thread. The 8 bytes hold a pointer to the lock. Fortran's nestable lock variables have 8 bytes, so they hold
 * pointers in both versions. Failures: without memory for a nestable lock behind a pointer the program ends with one
 * line, because the routine cannot report an error. OpenMP 5.2 section 18.9. */
#include "lock_routines.h"

#include "user.h"

/* Exports the function user_<name>_1 or user_<name>_3 as omp_<name> in its symbol version. */
#define OF_1_0(name) __asm__(".symver user_" #name "_1, omp_" #name "@OMP_1.0")
#define OF_3_0(name) __asm__(".symver user_" #name "_3, omp_" #name "@@OMP_3.0")

/* Defines and exports a routine that is the same in both versions. */
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

/* Nestable locks whose variable holds a pointer to the lock. */
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
