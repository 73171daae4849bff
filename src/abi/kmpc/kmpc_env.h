/* What KMP_ variables set. Written while the library is loaded, and by kmp_ routines; see env.c. */
#ifndef PS_ABI_KMPC_ENV_H
#define PS_ABI_KMPC_ENV_H

#include <stddef.h>

#include "compiler.h"

enum kmpc_library { KMPC_SERIAL = 1, KMPC_TURNAROUND = 2, KMPC_THROUGHPUT = 3 };
#define KMPC_BLOCKTIME_INFINITE INT32_MAX
/* Those that want no atomic operations come last. */
enum kmpc_reduce { KMPC_REDUCE_ANY, KMPC_REDUCE_ATOMIC, KMPC_REDUCE_LOCK, KMPC_REDUCE_IN_ORDER };
struct kmpc_settings {
    enum kmpc_reduce reduce; /* KMP_FORCE_REDUCTION, KMP_DETERMINISTIC_REDUCTION */
    bool deterministic;
    bool show; /* KMP_SETTINGS: shown at the first need */
    enum kmpc_library library;
    int32_t blocktime_ms;
};
extern struct kmpc_settings kmpc_settings;

/* One setting by its variable's name, after the loader too; false: not one that can be changed then, or unreadable. */
bool kmpc_set_default(const char *name, const char *value);

/* KMP_SETTINGS: what is set. */
void kmpc_settings_show(void);
/* OMP_DISPLAY_ENV and omp_display_env in libomp's form. */
void kmpc_display_env(bool verbose);
/* Of a thread, where nothing was said: libomp's default. */
size_t kmpc_stack_bytes(void);

/* KMP_AFFINITY; KMP_HW_SUBSET is read when processors are counted first. In the loader. */
void kmpc_affinity_env_read(void);

#endif
