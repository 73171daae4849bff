/* LLVM entry points: memory of allocators. The handles and traits are OpenMP's own, the same in both ABIs. */
#include "allocator.h"

#include "kmpc.h"

#define GTID PS_UNUSED int32_t gtid

PS_EXPORT void *__kmpc_alloc(GTID, size_t bytes, uintptr_t allocator) { return ort_alloc(0, bytes, allocator, false); }
PS_EXPORT void *__kmpc_aligned_alloc(GTID, size_t alignment, size_t bytes, uintptr_t allocator)
{
    return ort_alloc(alignment, bytes, allocator, false);
}
/* If n * bytes overflows, SIZE_MAX bytes are asked for. They cannot be allocated, so the allocator's fallback trait
 * decides. */
PS_EXPORT void *__kmpc_calloc(GTID, size_t n, size_t bytes, uintptr_t allocator)
{
    size_t all;
    return ort_alloc(0, __builtin_mul_overflow(n, bytes, &all) ? SIZE_MAX : all, allocator, true);
}
PS_EXPORT void *__kmpc_realloc(GTID, void *p, size_t bytes, uintptr_t allocator, PS_UNUSED uintptr_t free_allocator)
{
    return ort_realloc(p, bytes, allocator);
}
PS_EXPORT void __kmpc_free(GTID, void *p, PS_UNUSED uintptr_t allocator) { ort_free(p); }

PS_EXPORT uintptr_t __kmpc_init_allocator(GTID, uintptr_t memspace, int n, const struct ort_alloctrait *traits)
{
    return ort_allocator_make(memspace, n, traits);
}
PS_EXPORT void __kmpc_destroy_allocator(GTID, uintptr_t allocator) { ort_allocator_destroy(allocator); }
PS_EXPORT void __kmpc_set_default_allocator(GTID, uintptr_t allocator) { ort_allocator_set_default(allocator); }
PS_EXPORT uintptr_t __kmpc_get_default_allocator(GTID) { return ort_allocator_default(); }

/* The predefined handles are also variables, for code that declares them extern. */
#define HANDLE(name, value) PS_EXPORT const uintptr_t name = (value)
HANDLE(omp_null_allocator, ORT_ALLOCATOR_NULL);
HANDLE(omp_default_mem_alloc, ORT_ALLOCATOR_DEFAULT);
HANDLE(omp_large_cap_mem_alloc, 2);
HANDLE(omp_const_mem_alloc, 3);
HANDLE(omp_high_bw_mem_alloc, ORT_ALLOCATOR_HIGH_BW);
HANDLE(omp_low_lat_mem_alloc, 5);
HANDLE(omp_cgroup_mem_alloc, 6);
HANDLE(omp_pteam_mem_alloc, 7);
HANDLE(omp_thread_mem_alloc, 8);
HANDLE(omp_null_mem_space, 0); /* newer than omp_default_mem_space, which has the value 0 too */
HANDLE(omp_default_mem_space, ORT_MEMSPACE_DEFAULT);
HANDLE(omp_large_cap_mem_space, ORT_MEMSPACE_LARGE_CAP);
HANDLE(omp_const_mem_space, ORT_MEMSPACE_CONST);
HANDLE(omp_high_bw_mem_space, ORT_MEMSPACE_HIGH_BW);
HANDLE(omp_low_lat_mem_space, ORT_MEMSPACE_LOW_LAT);
