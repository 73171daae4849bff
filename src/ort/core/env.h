/* The parts of environment/env.c that other modules of this room, and the ABIs, use. */
#ifndef PS_ORT_ENV_H
#define PS_ORT_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "atomic.h"
#include "compiler.h"

/* Called before nthreads-var is used. Counts the processors if OMP_NUM_THREADS has not set the variable. Idempotent,
 * but not thread-safe. Callers: the thread that makes the first root, and ort_display_env_text. */
void ort_env_finish(void);
/* Returns the name of the variable that is in force for the host: `name`, unless only the name for all devices
 * (`for_all`, OMP_X_ALL) is set. */
const char *ort_env_name(const char *name, const char *for_all);
/* true: the process was built for libomp. Then variables have libomp's defaults and meanings, else libgomp's. Set while
 * the library is loaded, before variables are read. */
extern bool ort_env_as_libomp;
/* Reads an ABI's own variables after the core has read OpenMP's; it may change the core's settings. Set while the
 * library is loaded, before variables are read. NULL: none. */
extern void (*ort_env_hook)(void);
/* Reads a switch: true, yes, on, 1, .true., t and their opposites. Returns true if it has set *out. Returns false if
 * the variable is not set, or if its value is unreadable; then one line says that `instead` is used. */
bool ort_env_bool(const char *name, bool *out, const char *instead);
/* Reads a whole number. A number above max becomes max. If the value is unreadable or below min, *out stays, and one
 * line says so. Returns false if the variable is not set. */
bool ort_env_number(const char *name, long min, long max, long *out);
/* Reads the size of members' stacks, in units of `unit` bytes. Returns true if it has set the size. Returns false if
 * the variable is not set, or if its value is unreadable or too small; then one line says that `instead` is used. */
bool ort_env_stack_size(const char *name, size_t unit, const char *instead);
#define ORT_ENV_NAME(name) ort_env_name(name, name "_ALL")

/* Called before settings are read by a thread that may not be a root yet. A process that was built for libomp reads its
 * variables again at its first OpenMP call, if they have changed since the library was loaded. */
extern _Atomic bool ort_env_open; /* true: they may be read again; ort_env_settle clears it */
void ort_env_settle(void);
static inline void ort_env_ask(void)
{
    if (PS_UNLIKELY(ps_load_acquire(&ort_env_open)))
        ort_env_settle();
}
/* For processes that read variables again; set while the library is loaded. ort_env_changed returns true if the
 * variables differ from what they were at its last call. ort_env_forget resets an ABI's own settings to their defaults,
 * before the variables are read again. */
extern bool (*ort_env_changed)(void);
extern void (*ort_env_forget)(void);

/* Reads OMP_SCHEDULE if it was not set while the library was loaded. libomp reads the environment at the first OpenMP
 * call, and programs set OMP_SCHEDULE before that call. Called once, by the first thread that makes a call of libomp's
 * interface. */
void ort_env_read_late(void);

#endif
