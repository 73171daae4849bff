/* What KMP_ variables set. Written while the library is loaded, and by kmp_ routines; see env.c. */
#ifndef PS_ABI_KMPC_ENV_H
#define PS_ABI_KMPC_ENV_H

#include <stddef.h>

#include "atomic.h"
#include "compiler.h"

enum kmpc_library { KMPC_SERIAL = 1, KMPC_TURNAROUND = 2, KMPC_THROUGHPUT = 3 };
#define KMPC_BLOCKTIME_INFINITE INT32_MAX
struct kmpc_time {
    int32_t amount; /* ms, or where us is set microseconds, as it was given; KMPC_BLOCKTIME_INFINITE */
    bool us;
};
struct kmpc_settings {
    bool deterministic; /* KMP_DETERMINISTIC_REDUCTION */
    bool no_affinity;   /* KMP_AFFINITY=disabled: there are no places to be asked for, nor masks */
    /* KMP_AFFINITY=reset: before its first region a root is shown no place, and outside of regions its own mask. Its
     * kernel thread has its own mask there under any setting. */
    bool reset;
    bool show; /* KMP_SETTINGS: shown at the first need */
    enum kmpc_library library;
    struct kmpc_time blocktime;
    unsigned teams_threads; /* KMP_TEAMS_THREAD_LIMIT: of all teams of a league together; 0: no limit */
};
extern struct kmpc_settings kmpc_settings;

/* Sets one setting by its variable's name, also after the library was loaded. false: it cannot be changed then, or is
 * unreadable. */
bool kmpc_set_default(const char *name, const char *value);

/* KMP_SETTINGS: what is set. */
void kmpc_settings_show(void);
/* OMP_DISPLAY_ENV and omp_display_env in libomp's form. */
void kmpc_display_env(bool verbose);
/* Of a thread, where nothing was said: libomp's default. */
size_t kmpc_stack_bytes(void);

/* A pause has been asked for, and no region has been opened since (answers.c). */
extern _Atomic bool kmpc_paused;
int kmpc_pause(int kind);

/* KMP_AFFINITY. */
void kmpc_affinity_env_read(void);
void kmpc_affinity_forget(void);
/* Notes, while the library is loaded, that KMP_HW_SUBSET is to be read when processors are counted first. */
void kmpc_affinity_restricts(void);
/* Reads all variables, where the process was not built for libomp but a part of it is. */
void kmpc_env_read_late(void);

#endif
