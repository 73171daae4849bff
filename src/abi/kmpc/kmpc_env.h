/* What KMP_ variables set. Written while the library is loaded, and by kmp_ routines; see env.c. */
#ifndef PS_ABI_KMPC_ENV_H
#define PS_ABI_KMPC_ENV_H

#include "compiler.h"

enum kmpc_library { KMPC_SERIAL = 1, KMPC_TURNAROUND = 2, KMPC_THROUGHPUT = 3 };
#define KMPC_BLOCKTIME_INFINITE INT32_MAX
struct kmpc_settings {
    bool reduce_by_lock; /* KMP_DETERMINISTIC_REDUCTION, KMP_FORCE_REDUCTION */
    bool quiet;          /* KMP_WARNINGS */
    enum kmpc_library library;
    int32_t blocktime_ms;
};
extern struct kmpc_settings kmpc_settings;

/* One setting by its variable's name, after the loader too; false: not one that can be changed then, or unreadable. */
bool kmpc_set_default(const char *name, const char *value);

/* KMP_AFFINITY; KMP_HW_SUBSET is read when processors are counted first. In the loader. */
void kmpc_affinity_env_read(void);

#endif
