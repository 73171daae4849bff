/* Settings that KMP_ variables make. They are written while the library is loaded, when a variable is read late, and by
 * kmp_ routines; see env.c. */
#ifndef PS_ABI_KMPC_ENV_H
#define PS_ABI_KMPC_ENV_H

#include <stddef.h>

#include "atomic.h"
#include "compiler.h"

enum kmpc_library { KMPC_SERIAL = 1, KMPC_TURNAROUND = 2, KMPC_THROUGHPUT = 3 };
#define KMPC_BLOCKTIME_INFINITE INT32_MAX
struct kmpc_time {
    int32_t amount; /* as it was given: ms, or microseconds if `us` is set; KMPC_BLOCKTIME_INFINITE */
    bool us;
};
struct kmpc_settings {
    bool deterministic; /* KMP_DETERMINISTIC_REDUCTION */
    bool no_affinity;   /* KMP_AFFINITY=disabled: queries find no places and no masks */
    /* KMP_AFFINITY=reset. It changes two answers to a root. Before its first region a root is told that it has no
     * place. Outside of regions a root is told its kernel thread's mask, not the processors of its place. */
    bool reset;
    bool show; /* KMP_SETTINGS: show the settings when a thread first calls a libomp entry point */
    enum kmpc_library library;
    struct kmpc_time blocktime;
    unsigned teams_threads; /* KMP_TEAMS_THREAD_LIMIT: for all teams of a league together; 0: no limit */
};
extern struct kmpc_settings kmpc_settings;

/* Sets one setting by its variable's name. Returns false if the value cannot be read, or if the setting cannot be
 * changed any more after the library was loaded. */
bool kmpc_set_default(const char *name, const char *value);

/* Shows the settings as KMP_SETTINGS does. */
void kmpc_settings_show(void);
/* Shows the environment in libomp's form, for OMP_DISPLAY_ENV and omp_display_env. */
void kmpc_display_env(bool verbose);
/* Returns the size of a thread's stack; if none was set, libomp's default. */
size_t kmpc_stack_bytes(void);

/* True: the program has asked for a pause, and no region has been opened since by __kmpc_fork_call or
 * __kmpc_fork_call_if (answers.c). */
extern _Atomic bool kmpc_paused;
/* Pauses the runtime; kind is 1 (soft) or 2 (hard). Returns 0; 1: another kind, or a pause lasts already. */
int kmpc_pause(int kind);

/* Reads KMP_AFFINITY, or forgets what was read. */
void kmpc_affinity_env_read(void);
void kmpc_affinity_forget(void);
/* Called while the library is loaded. Makes the core read KMP_HW_SUBSET when it first counts processors. */
void kmpc_affinity_restricts(void);
/* Called at the first call of a libomp entry point. Reads the KMP_ variables, unless they were read when the library
 * was loaded. */
void kmpc_env_read_late(void);

#endif
