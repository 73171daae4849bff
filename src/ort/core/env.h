/* The parts of environment/env.c that other files of this room, and the ABIs, use. */
#ifndef PS_ORT_ENV_H
#define PS_ORT_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "atomic.h"
#include "compiler.h"

/* Called before nthreads-var is used. If OMP_NUM_THREADS gives no number for the outermost level, sets nthreads-var to
 * ort_places_limit(), or, if that is 0, to the number of processors. May be called again, but not by two threads at
 * once. Callers: the thread that makes the first root, and ort_display_env_text. */
void ort_env_finish(void);
/* Returns the name of the variable that is in force for the host: `for_all` (OMP_X_ALL) if only that one is set,
 * otherwise `name` (OMP_X). */
const char *ort_env_name(const char *name, const char *for_all);
/* true: the process was built for libomp, and variables have libomp's defaults and meanings; false: libgomp's. Set
 * while the library is loaded, before variables are read. */
extern bool ort_env_as_libomp;
/* A function of an ABI that reads the ABI's own variables after the core has read OpenMP's. It may change the core's
 * settings. Set while the library is loaded, before variables are read. NULL: none. */
extern void (*ort_env_hook)(void);
/* Reads a switch into *out: true, yes, on, 1, .true. and the like, or their opposites (spelling_says_true). In
 * libgomp's programs the value of a variable OMP_... must begin with t or f. Returns true if it has set *out. Returns
 * false if the variable is not set, or if its value is unreadable. In the second case one line says that `instead` is
 * used. */
bool ort_env_bool(const char *name, bool *out, const char *instead);
/* Reads a whole number into *out. A number above max becomes max. If the value is unreadable or below min, *out stays.
 * One line says so in each of these cases. Returns false if the variable is not set, and true otherwise. */
bool ort_env_number(const char *name, long min, long max, long *out);
/* Reads the size of members' stacks; a number without a unit counts `unit` bytes. Returns true if it has set the size.
 * Returns false if the variable is not set, or if its value is unreadable or too small. In the second case one line
 * says that `instead` is used. */
bool ort_env_stack_size(const char *name, size_t unit, const char *instead);
#define ORT_ENV_NAME(name) ort_env_name(name, name "_ALL")

/* ort_env_ask is called before a thread that may not be a root yet reads or changes settings. In a process that was
 * built for libomp its first call reads the variables again (ort_env_settle), if they have changed since the library
 * was loaded. */
extern _Atomic bool ort_env_open; /* true: the variables may still be read again; ort_env_settle clears it */
void ort_env_settle(void);
static inline void ort_env_ask(void)
{
    if (PS_UNLIKELY(ps_load_acquire(&ort_env_open)))
        ort_env_settle();
}
/* Functions of an ABI for processes that read variables again; set while the library is loaded. ort_env_changed returns
 * true if the variables differ from what they were at its last call. ort_env_forget resets the ABI's own settings to
 * their defaults, before the variables are read again. */
extern bool (*ort_env_changed)(void);
extern void (*ort_env_forget)(void);

/* Reads OMP_SCHEDULE if it was not set when variables were read. libomp reads the environment at the first OpenMP call,
 * and programs set OMP_SCHEDULE before that call. Called once, by the first thread that makes a call of libomp's
 * interface. */
void ort_env_read_late(void);

#endif
