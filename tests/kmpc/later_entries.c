/* Entry points and handles of LLVM's releases after 19, declared here as those headers do: memory spaces of devices
 * (none is available), the default space as 99, and graphs of tasks, whose bodies run each time. */
#include <omp.h>
#include <stdint.h>

#include "../omp/check.h"

/* Weak: the libomp that the program is linked with need not have them. */
#define LATER(type, name, parameters) type name parameters __attribute__((weak))
LATER(uintptr_t, omp_get_device_memspace, (int, uintptr_t));
LATER(uintptr_t, omp_get_devices_all_memspace, (uintptr_t));
LATER(uintptr_t, omp_get_devices_all_allocator, (uintptr_t));
LATER(uintptr_t, omp_get_devices_and_host_allocator, (int, const int *, uintptr_t));
LATER(uintptr_t, omp_get_submemspace, (uintptr_t, int, const int *));
LATER(int, omp_get_memspace_num_resources, (uintptr_t));
LATER(int32_t, __kmpc_start_record_task, (void *, int32_t, int32_t, int32_t));
LATER(void, __kmpc_end_record_task, (void *, int32_t, int32_t, int32_t));

enum { DEFAULT = 99, UNKNOWN = 77 };

/* None is available. */
static void spaces(void)
{
    const int host = omp_get_initial_device();
    CHECK(omp_get_device_memspace(host, DEFAULT) == 0 && omp_get_devices_all_memspace(DEFAULT) == 0);
    CHECK(omp_get_devices_and_host_allocator(1, &host, DEFAULT) == 0 && omp_get_devices_all_allocator(DEFAULT) == 0);
    CHECK(omp_get_memspace_num_resources(DEFAULT) == 0 && omp_get_submemspace(DEFAULT, 1, &host) == 0);
}

static void default_space(void)
{
    omp_alloctrait_t traits[] = {{omp_atk_alignment, 256}};
    omp_allocator_handle_t allocator = omp_init_allocator((omp_memspace_handle_t)DEFAULT, 1, traits);
    CHECK(allocator != omp_null_allocator);
    void *p = omp_alloc(1000, allocator);
    CHECK(p != NULL && (uintptr_t)p % 256 == 0);
    omp_free(p, allocator);
    omp_destroy_allocator(allocator);
    CHECK(omp_init_allocator((omp_memspace_handle_t)UNKNOWN, 0, NULL) == omp_null_allocator);
}

/* Its tasks have been done each time. */
static void graph(void)
{
    int done = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 1; round <= 20; round++) {
        CHECK(__kmpc_start_record_task(NULL, 0, 0, 0) == 1);
        for (int i = 0; i < 10; i++) {
#pragma omp task shared(done)
#pragma omp atomic
            done++;
        }
        __kmpc_end_record_task(NULL, 0, 0, 0);
        CHECK(done == 10 * round);
    }
}

int main(void)
{
    spaces();
    default_space();
    graph();
    return 0;
}
