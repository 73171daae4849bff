/* OpenMP 6.0's routines for memory spaces of devices (sections 27.1 to 27.4), as libomp has them from release 21 on.
 *
 * The only device is the host, and each of its memory spaces is one resource, number 0. A space or allocator that host
 * and any other device share cannot be had: the null handle. Newer headers number the default space 99, so that 0 can
 * be the null one. */
#include "allocator.h"

#include "kmpc.h"

#define NULL_SPACE 0

/* The host's number, or the number of devices, which is 0. */
static bool host(int device) { return device == -1 || device == 0; }

static bool hosts(int n, const int *devices)
{
    if (n < 0 || (n > 0 && devices == NULL))
        return false;
    for (int i = 0; i < n; i++)
        if (!host(devices[i]))
            return false;
    return true;
}

static bool is_known_space(uintptr_t space)
{
    return (space >= ORT_MEMSPACE_LARGE_CAP && space <= ORT_MEMSPACE_CGROUP) || space == ORT_MEMSPACE_LLVM_DEFAULT;
}

static uintptr_t space_if(bool had, uintptr_t space) { return had && is_known_space(space) ? space : NULL_SPACE; }

/* The predefined allocator of a space. */
static uintptr_t allocator_if(bool had, uintptr_t space)
{
    if (!had || !is_known_space(space))
        return ORT_ALLOCATOR_NULL;
    return space == ORT_MEMSPACE_LLVM_DEFAULT ? ORT_ALLOCATOR_DEFAULT : space + ORT_ALLOCATOR_DEFAULT;
}

#define BOTH_KINDS(E)     \
    E(memspace, space_if) \
    E(allocator, allocator_if)

#define ROUTINES(what, answer)                                                                                       \
    PS_EXPORT uintptr_t omp_get_devices_##what(int n, const int *devices, uintptr_t space)                           \
    {                                                                                                                \
        return answer(n > 0 && hosts(n, devices), space);                                                            \
    }                                                                                                                \
    PS_EXPORT uintptr_t omp_get_devices_##what##_(const int *n, const int *devices, const uintptr_t *space)          \
    {                                                                                                                \
        return answer(*n > 0 && hosts(*n, devices), *space);                                                         \
    }                                                                                                                \
    PS_EXPORT uintptr_t omp_get_device_##what(int device, uintptr_t space) { return answer(host(device), space); }   \
    PS_EXPORT uintptr_t omp_get_device_##what##_(const int *device, const uintptr_t *space)                          \
    {                                                                                                                \
        return answer(host(*device), *space);                                                                        \
    }                                                                                                                \
    PS_EXPORT uintptr_t omp_get_devices_and_host_##what(int n, const int *devices, uintptr_t space)                  \
    {                                                                                                                \
        return answer(hosts(n, devices), space);                                                                     \
    }                                                                                                                \
    PS_EXPORT uintptr_t omp_get_devices_and_host_##what##_(const int *n, const int *devices, const uintptr_t *space) \
    {                                                                                                                \
        return answer(hosts(*n, devices), *space);                                                                   \
    }                                                                                                                \
    PS_EXPORT uintptr_t omp_get_device_and_host_##what(int device, uintptr_t space)                                  \
    {                                                                                                                \
        return answer(host(device), space);                                                                          \
    }                                                                                                                \
    PS_EXPORT uintptr_t omp_get_device_and_host_##what##_(const int *device, const uintptr_t *space)                 \
    {                                                                                                                \
        return answer(host(*device), *space);                                                                        \
    }                                                                                                                \
    PS_EXPORT uintptr_t omp_get_devices_all_##what(uintptr_t space) { return answer(true, space); }                  \
    PS_EXPORT uintptr_t omp_get_devices_all_##what##_(const uintptr_t *space) { return answer(true, *space); }
BOTH_KINDS(ROUTINES)

PS_EXPORT int omp_get_memspace_num_resources(uintptr_t space) { return is_known_space(space); }
PS_EXPORT int omp_get_memspace_num_resources_(const uintptr_t *space) { return is_known_space(*space); }

/* Of the one resource: the space itself. */
PS_EXPORT uintptr_t omp_get_submemspace(uintptr_t space, int n, const int *resources)
{
    return space_if(n == 1 && resources != NULL && resources[0] == 0, space);
}
PS_EXPORT uintptr_t omp_get_submemspace_(const uintptr_t *space, const int *n, const int *resources)
{
    return omp_get_submemspace(*space, *n, resources);
}
