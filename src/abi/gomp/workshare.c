/* GNU entry points: sections, single, masked, scope, static shares, ordered, post and wait of doacross. */
#include <stdarg.h>

#include "check.h"
#include "gomp.h"

/* --- sections --- */

PS_EXPORT unsigned GOMP_sections_start(unsigned count)
{
    struct ort_thread *t = ort_self();
    ORT_TOOL_CALLER(t);
    return ort_sections_start(t, count, NULL);
}

PS_EXPORT unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **mem)
{
    struct ort_loop_extra extra = {.reductions = reductions, .mem = mem};
    struct ort_thread *t = ort_self();
    ORT_TOOL_CALLER(t);
    return ort_sections_start(t, count, &extra);
}

PS_EXPORT unsigned GOMP_sections_next(void) { return ort_sections_next(ort_self_inline()); }

PS_EXPORT void GOMP_sections_end(void)
{
    struct ort_thread *t = ort_self_inline();
    ort_loop_leave(t);
    ORT_TOOL_TRACED(t, ort_tool_barrier(t, ORT_SYNC_BARRIER_WORKSHARE), ort_barrier(t));
}

PS_EXPORT void GOMP_sections_end_nowait(void) { ort_loop_leave(ort_self_inline()); }

/* --- single, scope --- */

static PS_ALWAYS_INLINE bool single(void)
{
    struct ort_thread *t = ort_self_inline();
    bool mine = ort_single(t);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_single(t, mine, ORT_CALLER);
    return mine;
}
PS_EXPORT bool GOMP_single_start(void) { return single(); }
PS_EXPORT bool GOMP_single_start_with_end(void) { return single(); }
PS_EXPORT void GOMP_single_end(void)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_loop_ends(ort_self());
}

PS_EXPORT void *GOMP_single_copy_start(void)
{
    struct ort_thread *t = ort_self();
    void *data;
    ORT_TOOL_TRACED(t, data = ort_tool_single_copy_start(t), data = ort_single_copy_start(t));
    return data;
}

PS_EXPORT void GOMP_single_copy_end(void *data)
{
    struct ort_thread *t = ort_self();
    ORT_TOOL_TRACED(t, ort_tool_single_copy_end(t, data), ort_single_copy_end(t, data));
}

PS_EXPORT void GOMP_scope_start(uintptr_t *reductions)
{
    struct ort_thread *t = ort_self();
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_work(t, ORT_WORK_SCOPE, ORT_SCOPE_BEGIN, 1, ORT_CALLER);
    ort_scope_start(t, reductions);
}

PS_EXPORT bool GOMP_has_masked_thread_num(int filter)
{
    struct ort_thread *t = ort_self();
    bool mine = filter == (int)t->id;
    if (PS_UNLIKELY(ort_tool_on()) && mine)
        ort_tool_masked(t, ORT_SCOPE_BEGIN, ORT_CALLER);
    return mine;
}
PS_EXPORT void GOMP_masked_end(void)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_masked(ort_self(), ORT_SCOPE_END, ORT_CALLER);
}

/* --- static shares: the compiler divides the work, and asks for the caller's number and the number of threads --- */

/* The result is a __complex__ int: `count` is its real part, `number` its imaginary part. The processors' ABIs return
 * it in one register, with the real part in the low half. */
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

/* Compiled code calls the functions with start, dispatch and end in their names for the sake of tools. Here they tell
 * tools nothing. */
#define STATIC_SHARES(construct, function)                                                      \
    PS_EXPORT uint64_t GOMP_##construct##_static_worksharing(void) { return function(); }       \
    PS_EXPORT uint64_t GOMP_##construct##_static_worksharing_start(void) { return function(); } \
    PS_EXPORT void GOMP_##construct##_static_worksharing_dispatch(void) {}                      \
    PS_EXPORT void GOMP_##construct##_static_worksharing_end(void) {}
STATIC_SHARES(loop, share_of_thread)
STATIC_SHARES(distribute, share_of_team)

/* --- ordered --- */

PS_EXPORT void GOMP_ordered_start(void)
{
    struct ort_thread *t = ort_self();
    ORT_TRACED(ort_tool_ordered_start(t, ORT_CALLER), ort_ordered_start(t));
}

PS_EXPORT void GOMP_ordered_end(void)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_ordered_end(ort_self(), ORT_CALLER);
}

/* Each wait has an array of this size on its stack. */
#define DIMS_MAX GOMP_DIMS_MAX

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
        if (PS_UNLIKELY(ort_tool_on()))                                                                  \
            ort_tool_position(t, false, position, dims);                                                 \
        ort_doacross_wait(t, position);                                                                  \
    }

WAIT(wait, long)
WAIT(ull_wait, unsigned long long)

static void post(const uint64_t *position)
{
    struct ort_thread *t = ort_self();
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_position(t, true, position, ort_doacross_dims(t));
    ort_doacross_post(t, position);
}

PS_EXPORT void GOMP_doacross_post(long *position)
{
    uint64_t wide[GOMP_WIDE_DIMS];
    post(gomp_wide(position, sizeof(long) == sizeof(uint64_t) ? 0 : ort_doacross_dims(ort_self()), wide));
}

PS_EXPORT void GOMP_doacross_ull_post(unsigned long long *position) { post((uint64_t *)position); }
