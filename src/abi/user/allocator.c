/* Memory allocators. OpenMP 5.2 section 18.13. The free routines ignore their allocator argument, because each piece of
 * memory has a header that names its allocator. */
#include "allocator.h"

#include "user.h"

PS_EXPORT uintptr_t omp_init_allocator(uintptr_t memspace, int n, const struct ort_alloctrait *traits)
{
    return ort_allocator_make(memspace, n, traits);
}
PS_EXPORT intptr_t omp_init_allocator_(const intptr_t *memspace, const int32_t *n, const struct ort_alloctrait *traits)
{
    return (intptr_t)ort_allocator_make((uintptr_t)*memspace, *n, traits);
}
PS_EXPORT intptr_t omp_init_allocator_8_(const intptr_t *memspace, const int64_t *n,
                                         const struct ort_alloctrait *traits)
{
    return (intptr_t)ort_allocator_make((uintptr_t)*memspace, user_int(*n), traits);
}

PS_EXPORT void omp_destroy_allocator(uintptr_t allocator) { ort_allocator_destroy(allocator); }
PS_EXPORT void omp_destroy_allocator_(const intptr_t *allocator) { ort_allocator_destroy((uintptr_t)*allocator); }

PS_EXPORT void omp_set_default_allocator(uintptr_t allocator) { ort_allocator_set_default(allocator); }
PS_EXPORT void omp_set_default_allocator_(const intptr_t *allocator)
{
    ort_allocator_set_default((uintptr_t)*allocator);
}
PS_EXPORT uintptr_t omp_get_default_allocator(void) { return ort_allocator_default(); }
PS_EXPORT intptr_t omp_get_default_allocator_(void) { return (intptr_t)ort_allocator_default(); }

PS_EXPORT void *omp_alloc(size_t bytes, uintptr_t allocator) { return ort_alloc(1, bytes, allocator, false); }
PS_EXPORT void *omp_aligned_alloc(size_t alignment, size_t bytes, uintptr_t allocator)
{
    return ort_alloc(alignment, bytes, allocator, false);
}

/* Returns n * bytes, or SIZE_MAX if that overflows. SIZE_MAX bytes cannot be allocated, so the allocator's fallback
 * trait then decides. */
static size_t product(size_t n, size_t bytes)
{
    size_t all;
    return __builtin_mul_overflow(n, bytes, &all) ? SIZE_MAX : all;
}

PS_EXPORT void *omp_calloc(size_t n, size_t bytes, uintptr_t allocator)
{
    return ort_alloc(1, product(n, bytes), allocator, true);
}
PS_EXPORT void *omp_aligned_calloc(size_t alignment, size_t n, size_t bytes, uintptr_t allocator)
{
    return ort_alloc(alignment, product(n, bytes), allocator, true);
}

PS_EXPORT void *omp_realloc(void *p, size_t bytes, uintptr_t allocator, PS_UNUSED uintptr_t free_allocator)
{
    return ort_realloc(p, bytes, allocator);
}

PS_EXPORT void omp_free(void *p, PS_UNUSED uintptr_t allocator) { ort_free(p); }
