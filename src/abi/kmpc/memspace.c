/* OpenMP 6.0's routines for memory spaces of devices (sections 27.1 to 27.4), which libomp has from release 21 on. No
 * such space or allocator exists here, so they return the null handle. */
#include "allocator.h"

#include "kmpc.h"

/* Defines a routine for C and for Fortran. */
#define NONE(name)                                                \
    PS_EXPORT uintptr_t name(void) { return ORT_ALLOCATOR_NULL; } \
    PS_EXPORT uintptr_t name##_(void) { return ORT_ALLOCATOR_NULL; }
#define ROUTINES(what)                    \
    NONE(omp_get_devices_##what)          \
    NONE(omp_get_device_##what)           \
    NONE(omp_get_devices_and_host_##what) \
    NONE(omp_get_device_and_host_##what)  \
    NONE(omp_get_devices_all_##what)
ROUTINES(memspace)
ROUTINES(allocator)
NONE(omp_get_submemspace)

PS_EXPORT int omp_get_memspace_num_resources(void) { return 0; }
PS_EXPORT int omp_get_memspace_num_resources_(void) { return 0; }
