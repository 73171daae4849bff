/* GNU entry points: memory of the allocate clause and directive. As OpenMP 5.2 section 6.5 has it, they never return without memory. */
#include "allocator.h"
#include "check.h"
#include "gomp.h"

PS_EXPORT void *GOMP_alloc(size_t alignment, size_t bytes, uintptr_t allocator)
{
    void *p = ort_alloc(alignment, bytes, allocator, false);
    PS_CHECK(p != NULL || bytes == 0, "no memory: the allocator cannot give %zu bytes", bytes);
    return p;
}

PS_EXPORT void GOMP_free(void *p, PS_UNUSED uintptr_t allocator) { ort_free(p); }
