/* GNU entry points: for, over long. */
#include "gomp.h"

static PS_ALWAYS_INLINE bool start_loop(long from, long to, long incr, unsigned kind, long chunk, bool runtime,
                                        bool ordered, const struct ort_loop_extra *extra, long *lo, long *hi)
{
    struct ort_loop_desc d = gomp_loop(from, to, incr, kind, chunk);
    d.ordered = ordered;
    struct ort_thread *t = ort_self();
    ORT_TOOL_CALLER(t);
    return GOMP_BOUNDS(long, lo, hi, ort_loop_start(t, &d, runtime, extra, lo == NULL ? NULL : lo_, hi_));
}

#define START(name, kind, ordered)                                                                         \
    PS_EXPORT bool GOMP_loop_##name##_start(long from, long to, long incr, long chunk, long *lo, long *hi) \
    {                                                                                                      \
        return start_loop(from, to, incr, kind, chunk, false, ordered, NULL, lo, hi);                      \
    }
#define START_RUNTIME(name, modifier, ordered)                                                            \
    PS_EXPORT bool GOMP_loop_##name##_start(long from, long to, long incr, long *lo, long *hi)            \
    {                                                                                                     \
        return start_loop(from, to, incr, ORT_SCHED_STATIC | (modifier), 0, true, ordered, NULL, lo, hi); \
    }
#define NEXT(name)                                                             \
    PS_EXPORT bool GOMP_loop_##name##_next(long *lo, long *hi)                 \
    {                                                                          \
        return GOMP_BOUNDS(long, lo, hi, ort_loop_next(ort_self(), lo_, hi_)); \
    }

START(static, ORT_SCHED_STATIC, false)
START(dynamic, ORT_SCHED_DYNAMIC, false)
START(guided, ORT_SCHED_GUIDED, false)
START(nonmonotonic_dynamic, ORT_SCHED_DYNAMIC | NONMONOTONIC, false)
START(nonmonotonic_guided, ORT_SCHED_GUIDED, false)
START(ordered_static, ORT_SCHED_STATIC, true)
START(ordered_dynamic, ORT_SCHED_DYNAMIC, true)
START(ordered_guided, ORT_SCHED_GUIDED, true)
START_RUNTIME(runtime, 0, false)
START_RUNTIME(nonmonotonic_runtime, NONMONOTONIC, false)
START_RUNTIME(maybe_nonmonotonic_runtime, NONMONOTONIC, false)
START_RUNTIME(ordered_runtime, 0, true)
NEXT(static)
NEXT(dynamic)
NEXT(guided)
NEXT(runtime)
NEXT(nonmonotonic_dynamic)
NEXT(nonmonotonic_guided)
NEXT(nonmonotonic_runtime)
NEXT(maybe_nonmonotonic_runtime)
NEXT(ordered_static)
NEXT(ordered_dynamic)
NEXT(ordered_guided)
NEXT(ordered_runtime)

/* sched: 0 means runtime. */
PS_EXPORT bool GOMP_loop_start(long from, long to, long incr, long sched, long chunk, long *lo, long *hi,
                               uintptr_t *reductions, void **mem)
{
    struct ort_loop_extra extra = {.reductions = reductions, .mem = mem};
    unsigned kind = (unsigned)sched & ~ORT_SCHED_MONOTONIC;
    return start_loop(from, to, incr, kind, chunk, kind == 0, false, &extra, lo, hi);
}

PS_EXPORT bool GOMP_loop_ordered_start(long from, long to, long incr, long sched, long chunk, long *lo, long *hi,
                                       uintptr_t *reductions, void **mem)
{
    struct ort_loop_extra extra = {.reductions = reductions, .mem = mem};
    unsigned kind = (unsigned)sched & ~ORT_SCHED_MONOTONIC;
    return start_loop(from, to, incr, kind, chunk, kind == 0, true, &extra, lo, hi);
}

/* --- the end, of unsigned loops as well --- */

PS_EXPORT void GOMP_loop_end(void)
{
    struct ort_thread *t = ort_self();
    ort_loop_leave(t);
    ORT_TOOL_TWIN(t, ort_tool_barrier(t, ORT_SYNC_BARRIER_WORKSHARE), ort_barrier(t));
}

PS_EXPORT void GOMP_loop_end_nowait(void) { ort_loop_leave(ort_self()); }

/* --- doacross --- */

static PS_ALWAYS_INLINE bool doacross(unsigned dims, const long *counts, unsigned kind, long chunk, bool runtime,
                                      const struct ort_loop_extra *extra, long *lo, long *hi)
{
    uint64_t wide[GOMP_WIDE_DIMS];
    const uint64_t *n = gomp_wide(counts, dims, wide);
    return GOMP_BOUNDS(
        long, lo, hi,
        ort_doacross_start(ort_self(), dims, n, kind, chunk > 0 ? (uint64_t)chunk : 0, runtime, extra, lo_, hi_));
}

#define DOACROSS(name, kind)                                                                                      \
    PS_EXPORT bool GOMP_loop_doacross_##name##_start(unsigned dims, long *counts, long chunk, long *lo, long *hi) \
    {                                                                                                             \
        return doacross(dims, counts, kind, chunk, false, NULL, lo, hi);                                          \
    }

DOACROSS(static, ORT_SCHED_STATIC)
DOACROSS(dynamic, ORT_SCHED_DYNAMIC)
DOACROSS(guided, ORT_SCHED_GUIDED)

PS_EXPORT bool GOMP_loop_doacross_runtime_start(unsigned dims, long *counts, long *lo, long *hi)
{
    return doacross(dims, counts, ORT_SCHED_STATIC, 0, true, NULL, lo, hi);
}

PS_EXPORT bool GOMP_loop_doacross_start(unsigned dims, long *counts, long sched, long chunk, long *lo, long *hi,
                                        uintptr_t *reductions, void **mem)
{
    struct ort_loop_extra extra = {.reductions = reductions, .mem = mem};
    unsigned kind = (unsigned)sched & ~ORT_SCHED_MONOTONIC;
    return doacross(dims, counts, kind == 0 ? ORT_SCHED_STATIC : kind, chunk, kind == 0, &extra, lo, hi);
}
