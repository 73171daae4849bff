/* The environment: what other modules of this room need of env.c. */
#ifndef PS_ORT_ENV_H
#define PS_ORT_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "atomic.h"
#include "compiler.h"

/* Called before nthreads-var is used: counts the processors if OMP_NUM_THREADS did not say. Idempotent, not
 * thread-safe: called under the first root's once, or while the library is loaded. */
void ort_env_finish(void);
/* Returns the name under which a variable is given for the host: its own name, or the name for all devices (OMP_X_ALL)
 * where only that is given. */
const char *ort_env_name(const char *name, const char *for_all);
/* Whether the process was built for libomp: variables then have the defaults and meanings that libomp's users know,
 * else libgomp's. Set while the library is loaded, before the rest. */
extern bool ort_env_as_libomp;
/* Reads an ABI's own variables after the core has read OpenMP's, and may change the result. Set while the library is
 * loaded, before the rest. */
extern void (*ort_env_hook)(void);
/* Reads a switch: true, false, yes, 1, on, T, .true. and so on. false: it is not given, or is unreadable, which is
 * said. */
bool ort_env_bool(const char *name, bool *out, const char *instead);
/* Reads a number. One that is too large becomes the largest. One that is too small, or none, leaves *out as it is,
 * which is said. false: not given. */
bool ort_env_number(const char *name, long min, long max, long *out);
/* Reads the size of members' stacks, in units of `unit` bytes. false: it is not given, or is unreadable, which is
 * said. */
bool ort_env_stack_size(const char *name, size_t unit, const char *instead);
#define ORT_ENV_NAME(name) ort_env_name(name, name "_ALL")

/* Called before settings are used for which no root has been made: in a process built for libomp the variables count as
 * they are at the first use. */
extern _Atomic bool ort_env_open; /* they may still be read again */
void ort_env_settle(void);
static inline void ort_env_ask(void)
{
    if (PS_UNLIKELY(ps_load_acquire(&ort_env_open)))
        ort_env_settle();
}
/* Set while the library is loaded, where needed. ort_env_changed: whether variables differ from what they were at its
 * last call. ort_env_forget: gives an ABI's own settings the values that they have without variables; these are read
 * again. */
extern bool (*ort_env_changed)(void);
extern void (*ort_env_forget)(void);

/* libomp reads the environment at the first OpenMP call, and programs set OMP_SCHEDULE before it: reads the variable
 * then, where it was not there while the library was loaded. Called by the first thread that asks in libomp's way,
 * once. */
void ort_env_read_late(void);

#endif
