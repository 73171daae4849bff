/* The environment: what other modules of this room need of env.c. */
#ifndef PS_ORT_ENV_H
#define PS_ORT_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "atomic.h"
#include "compiler.h"

/* Before nthreads-var is used: counts the processors if OMP_NUM_THREADS did not say. Idempotent, not thread-safe: under
 * the first root's once, or in the loader. */
void ort_env_finish(void);
/* The name under which a variable is given for the host: its own, or the one for all devices (OMP_X_ALL) where that
 * alone is given. */
const char *ort_env_name(const char *name, const char *for_all);
/* The process was built for libomp: variables have the defaults and meanings that its users know. Else libgomp's. Set
 * in the loader, before the rest. */
extern bool ort_env_as_libomp;
/* Set in the loader, before the rest: reads an ABI's own variables when the core has read OpenMP's, and so may change
 * what came of those. */
extern void (*ort_env_hook)(void);
/* A switch: true, false, yes, 1, on, T, .true. and so on. false: not given, or unreadable, which is said. */
bool ort_env_bool(const char *name, bool *out, const char *instead);
/* A number: one that is too large is the largest; one that is too small, or none, leaves *out as it is, which is said.
 * false: not given. */
bool ort_env_number(const char *name, long min, long max, long *out);
/* The size of members' stacks, in units of `unit` bytes; false: not given, or unreadable, which is said. */
bool ort_env_stack_size(const char *name, size_t unit, const char *instead);
#define ORT_ENV_NAME(name) ort_env_name(name, name "_ALL")

/* Before settings are used that no root has been made for: in a process built for libomp the variables count as they
 * are at the first use. */
extern _Atomic bool ort_env_open; /* they may still be read again */
void ort_env_settle(void);
static inline void ort_env_ask(void)
{
    if (PS_UNLIKELY(ps_load_acquire(&ort_env_open)))
        ort_env_settle();
}
/* Set in the loader, where so: whether variables are others than when this was asked last; an ABI's own settings become
 * what they are without variables, which are read again. */
extern bool (*ort_env_changed)(void);
extern void (*ort_env_forget)(void);

/* libomp reads the environment at the first OpenMP call, and programs set OMP_SCHEDULE before it: read then, where it
 * was not there in the loader. By the first thread that asks in libomp's way, once. */
void ort_env_read_late(void);

#endif
