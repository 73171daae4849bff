/* The environment: what other modules of this room need of env.c. */
#ifndef PS_ORT_ENV_H
#define PS_ORT_ENV_H

#include <stdbool.h>

/* Once, while the library is loaded, in this order: variables of their own; then (OMP_PROC_BIND known) the number of active levels. */
void ort_env_read(void);
void ort_env_read_levels(void);
/* Before nthreads-var is used: counts the processors if OMP_NUM_THREADS did not say. Idempotent, not thread-safe: under the first root's
 * once, or in the loader. */
void ort_env_finish(void);
/* The name under which a variable is given for the host: its own, or the one for all devices (OMP_X_ALL) where that alone is given. */
const char *ort_env_name(const char *name, const char *for_all);
/* The process has loaded this library by libomp's name: what stands in the place of an unreadable value is libomp's choice. Set in the loader,
 * before the rest. */
extern bool ort_env_as_libomp;
#define ORT_ENV_NAME(name) ort_env_name(name, name "_ALL")

/* libomp reads the environment at the first OpenMP call, and programs set OMP_SCHEDULE before it: read then, where it was not there in the loader. By
 * the first thread that asks in libomp's way, once. */
void ort_env_read_late(void);

#endif
