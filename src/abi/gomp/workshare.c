/* GNU entry points: sections, single, masked, scope, static shares, ordered, doacross's post and wait. */
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
PS_EXPORT bool GOMP_single_start_with_end(void) { return ort_single(ort_self()); }
PS_EXPORT void GOMP_single_end(void) {}

PS_EXPORT void *GOMP_single_copy_start(void) { return ort_single_copy_start(ort_self()); }

PS_EXPORT void GOMP_single_copy_end(void *data) { ort_single_copy_end(ort_self(), data); }

PS_EXPORT void GOMP_scope_start(uintptr_t *reductions) { ort_scope_start(ort_self(), reductions); }

PS_EXPORT bool GOMP_has_masked_thread_num(int filter) { return filter == (int)ort_self()->id; }
PS_EXPORT void GOMP_masked_end(void) {}

/* --- static shares: the compiler divides, and asks who of how many the caller is ------------------------------------------------------ */

/* __complex__ int, as the processors' ABIs return it: the real part in the low half of a register. */
static uint64_t share(unsigned number, unsigned count) { return (uint64_t)number << 32 | count; }
static uint64_t share_of_thread(void)
{
    const struct ort_thread *t = ort_self();
    return share(t->id, t->team->n);
}
static uint64_t share_of_team(void)
{
    const struct ort_group *group = ort_self()->team->contention;
    return share(group->team_num, group->num_teams);
}

/* Those with start, dispatch and end are for tools. */
#define STATIC_SHARES(construct, function)                                                      \
    PS_EXPORT uint64_t GOMP_##construct##_static_worksharing(void) { return function(); }       \
    PS_EXPORT uint64_t GOMP_##construct##_static_worksharing_start(void) { return function(); } \
    PS_EXPORT void GOMP_##construct##_static_worksharing_dispatch(void) {}                      \
    PS_EXPORT void GOMP_##construct##_static_worksharing_end(void) {}
STATIC_SHARES(loop, share_of_thread)
STATIC_SHARES(distribute, share_of_team)

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
