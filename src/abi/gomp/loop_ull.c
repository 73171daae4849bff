/* GNU entry points: for, over unsigned long long. `up`: the loop counts upwards. */
#include "gomp.h"

typedef unsigned long long ull;

static PS_ALWAYS_INLINE bool start_loop_ull(bool up, ull from, ull to, ull incr, unsigned kind, ull chunk, bool runtime,
                                            bool ordered, const struct ort_loop_extra *extra, ull *lo, ull *hi)
{
    struct ort_loop_desc d = gomp_loop_ull(up, from, to, incr, kind, chunk);
    d.ordered = ordered;
    struct ort_thread *t = ort_self();
    ORT_TOOL_CALLER(t);
    return ort_loop_start(t, &d, runtime, extra, (uint64_t *)lo, (uint64_t *)hi);
}

#define START(name, kind, ordered)                                                                                \
    PS_EXPORT bool GOMP_loop_ull_##name##_start(bool up, ull from, ull to, ull incr, ull chunk, ull *lo, ull *hi) \
    {                                                                                                             \
        return start_loop_ull(up, from, to, incr, kind, chunk, false, ordered, NULL, lo, hi);                     \
    }
#define START_RUNTIME(name, modifier, ordered)                                                                    \
    PS_EXPORT bool GOMP_loop_ull_##name##_start(bool up, ull from, ull to, ull incr, ull *lo, ull *hi)            \
    {                                                                                                             \
        return start_loop_ull(up, from, to, incr, ORT_SCHED_STATIC | (modifier), 0, true, ordered, NULL, lo, hi); \
    }
#define NEXT(name)                                                        \
    PS_EXPORT bool GOMP_loop_ull_##name##_next(ull *lo, ull *hi)          \
    {                                                                     \
        return ort_loop_next(ort_self(), (uint64_t *)lo, (uint64_t *)hi); \
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
PS_EXPORT bool GOMP_loop_ull_start(bool up, ull from, ull to, ull incr, long sched, ull chunk, ull *lo, ull *hi,
                                   uintptr_t *reductions, void **mem)
{
    struct ort_loop_extra extra = {.reductions = reductions, .mem = mem};
    unsigned kind = (unsigned)sched & ~ORT_SCHED_MONOTONIC;
    return start_loop_ull(up, from, to, incr, kind, chunk, kind == 0, false, &extra, lo, hi);
}

PS_EXPORT bool GOMP_loop_ull_ordered_start(bool up, ull from, ull to, ull incr, long sched, ull chunk, ull *lo, ull *hi,
                                           uintptr_t *reductions, void **mem)
{
    struct ort_loop_extra extra = {.reductions = reductions, .mem = mem};
    unsigned kind = (unsigned)sched & ~ORT_SCHED_MONOTONIC;
    return start_loop_ull(up, from, to, incr, kind, chunk, kind == 0, true, &extra, lo, hi);
}

/* --- doacross --- */

#define DOACROSS(name, kind)                                                                                      \
    PS_EXPORT bool GOMP_loop_ull_doacross_##name##_start(unsigned dims, ull *counts, ull chunk, ull *lo, ull *hi) \
    {                                                                                                             \
        return ort_doacross_start(ort_self(), dims, (uint64_t *)counts, kind, chunk, false, NULL, (uint64_t *)lo, \
                                  (uint64_t *)hi);                                                                \
    }

DOACROSS(static, ORT_SCHED_STATIC)
DOACROSS(dynamic, ORT_SCHED_DYNAMIC)
DOACROSS(guided, ORT_SCHED_GUIDED)

PS_EXPORT bool GOMP_loop_ull_doacross_runtime_start(unsigned dims, ull *counts, ull *lo, ull *hi)
{
    return ort_doacross_start(ort_self(), dims, (uint64_t *)counts, ORT_SCHED_STATIC, 0, true, NULL, (uint64_t *)lo,
                              (uint64_t *)hi);
}

PS_EXPORT bool GOMP_loop_ull_doacross_start(unsigned dims, ull *counts, long sched, ull chunk, ull *lo, ull *hi,
                                            uintptr_t *reductions, void **mem)
{
    struct ort_loop_extra extra = {.reductions = reductions, .mem = mem};
    unsigned kind = (unsigned)sched & ~ORT_SCHED_MONOTONIC;
    return ort_doacross_start(ort_self(), dims, (uint64_t *)counts, kind == 0 ? ORT_SCHED_STATIC : kind, chunk,
                              kind == 0, &extra, (uint64_t *)lo, (uint64_t *)hi);
}
