/* Linked to a program of the platform: threads are bound to no cluster (the runtime reads this at its start). */
#include <stddef.h>

extern const char *const manycore_environment[];
const char *const manycore_environment[] = {"OMP_PROC_BIND=false", NULL};
