/* GNU entry points: sections, single, scope, ordered, doacross's post and wait. */
#include <stdarg.h>

#include "check.h"
#include "gomp.h"

/* --- sections --------------------------------------------------------------------------------------------------------------- */

PS_EXPORT unsigned GOMP_sections_start(unsigned count) { return ort_sections_start(ort_self(), count, NULL); }

PS_EXPORT unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **mem)
{
    struct ort_loop_extra extra = {.reductions = reductions, .mem = mem};
    return ort_sections_start(ort_self(), count, &extra);
}

PS_EXPORT unsigned GOMP_sections_next(void) { return ort_sections_next(ort_self()); }

PS_EXPORT void GOMP_sections_end(void)
{
    struct ort_thread *t = ort_self();
    ort_loop_leave(t);
    ort_barrier(t);
}

PS_EXPORT void GOMP_sections_end_nowait(void) { ort_loop_leave(ort_self()); }

/* --- single, scope ------------------------------------------------------------------------------------------------------------ */

PS_EXPORT bool GOMP_single_start(void) { return ort_single(ort_self()); }

PS_EXPORT void *GOMP_single_copy_start(void) { return ort_single_copy_start(ort_self()); }

PS_EXPORT void GOMP_single_copy_end(void *data) { ort_single_copy_end(ort_self(), data); }

PS_EXPORT void GOMP_scope_start(uintptr_t *reductions) { ort_scope_start(ort_self(), reductions); }

/* --- ordered ------------------------------------------------------------------------------------------------------------------ */

PS_EXPORT void GOMP_ordered_start(void) { ort_ordered_start(ort_self()); }

PS_EXPORT void GOMP_ordered_end(void) {}

/* More loops in a nest than any program has; each needs a place on the stack. */
#define DIMS_MAX 64

#define WAIT(name, type)                                                                                 \
    PS_EXPORT void GOMP_doacross_##name(type first, ...)                                                 \
    {                                                                                                    \
        struct ort_thread *t = ort_self();                                                               \
        unsigned dims = ort_doacross_dims(t);                                                            \
        if (dims == 0)                                                                                   \
            return;                                                                                      \
        PS_CHECK(dims <= DIMS_MAX, "ordered(%u): more than %u loops are not supported", dims, DIMS_MAX); \
        uint64_t position[DIMS_MAX];                                                                     \
        position[0] = (uint64_t)first;                                                                   \
        va_list rest;                                                                                    \
        va_start(rest, first);                                                                           \
        for (unsigned i = 1; i < dims; i++)                                                              \
            position[i] = (uint64_t)va_arg(rest, type);                                                  \
        va_end(rest);                                                                                    \
        ort_doacross_wait(t, position);                                                                  \
    }

WAIT(wait, long)
WAIT(ull_wait, unsigned long long)

PS_EXPORT void GOMP_doacross_post(long *position) { ort_doacross_post(ort_self(), (uint64_t *)position); }

PS_EXPORT void GOMP_doacross_ull_post(unsigned long long *position)
{
    ort_doacross_post(ort_self(), (uint64_t *)position);
}
