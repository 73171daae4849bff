/* GNU entry points of loops, for and doacross, over one type of bounds. loop.c and loop_ull.c include this file. Each
 * first defines:
 *   LOOP_VALUE      the type of bounds, steps and chunks
 *   LOOP_NAME(x)    the exported function x
 *   LOOP_STATIC(x)  the static function x
 *   LOOP_UP         the first parameter `bool up,` if the step's sign does not tell the direction, else nothing
 *   LOOP_UP_VALUE   the same as an argument
 *   LOOP_DESCRIBE   gomp_loop or gomp_loop_ull */
#include "gomp.h"
#include "loop_steps.h"

static PS_ALWAYS_INLINE bool LOOP_STATIC(begin)(LOOP_UP LOOP_VALUE from, LOOP_VALUE to, LOOP_VALUE incr, unsigned kind,
                                                LOOP_VALUE chunk, bool runtime, bool ordered,
                                                const struct ort_loop_extra *extra, LOOP_VALUE *lo, LOOP_VALUE *hi)
{
    struct ort_loop_desc d = LOOP_DESCRIBE(LOOP_UP_VALUE from, to, incr, kind, chunk);
    d.ordered = ordered;
    struct ort_thread *t = ort_self_inline();
    ORT_TOOL_CALLER(t);
    return GOMP_BOUNDS(LOOP_VALUE, lo, hi, ort_loop_start(t, &d, runtime, extra, lo == NULL ? NULL : lo_, hi_));
}

#define START(name, kind, ordered)                                                                                    \
    PS_EXPORT bool LOOP_NAME(name##_start)(LOOP_UP LOOP_VALUE from, LOOP_VALUE to, LOOP_VALUE incr, LOOP_VALUE chunk, \
                                           LOOP_VALUE * lo, LOOP_VALUE * hi)                                          \
    {                                                                                                                 \
        return LOOP_STATIC(begin)(LOOP_UP_VALUE from, to, incr, kind, chunk, false, ordered, NULL, lo, hi);           \
    }
#define START_RUNTIME(name, modifier, ordered)                                                                         \
    PS_EXPORT bool LOOP_NAME(name##_start)(LOOP_UP LOOP_VALUE from, LOOP_VALUE to, LOOP_VALUE incr, LOOP_VALUE * lo,   \
                                           LOOP_VALUE * hi)                                                            \
    {                                                                                                                  \
        return LOOP_STATIC(begin)(LOOP_UP_VALUE from, to, incr, ORT_SCHED_STATIC | (modifier), 0, true, ordered, NULL, \
                                  lo, hi);                                                                             \
    }
#define NEXT(name)                                                                          \
    PS_EXPORT bool LOOP_NAME(name##_next)(LOOP_VALUE * lo, LOOP_VALUE * hi)                 \
    {                                                                                       \
        return GOMP_BOUNDS(LOOP_VALUE, lo, hi, ort_loop_next(ort_self_inline(), lo_, hi_)); \
    }
static PS_NOINLINE bool LOOP_STATIC(next_otherwise)(struct ort_thread *t, LOOP_VALUE *lo, LOOP_VALUE *hi)
{
    return GOMP_BOUNDS(LOOP_VALUE, lo, hi, ort_loop_next_otherwise(t, lo_, hi_));
}
/* NEXT_DYNAMIC computes the next chunk of a plain dynamic loop inline, since most chunks are of this kind. Its caller
 * has begun the loop, so it is an OpenMP thread, which ee_local_inline finds. */
#define NEXT_DYNAMIC(name)                                                                              \
    PS_EXPORT bool LOOP_NAME(name##_next)(LOOP_VALUE * lo, LOOP_VALUE * hi)                             \
    {                                                                                                   \
        struct ort_thread *t = ee_local_inline();                                                       \
        const struct ort_loop *loop = ort_loop_begun(t);                                                \
        if (PS_UNLIKELY(loop->desc->plain != ORT_PLAIN_DYNAMIC))                                        \
            return LOOP_STATIC(next_otherwise)(t, lo, hi);                                              \
        return GOMP_BOUNDS(LOOP_VALUE, lo, hi, ort_next_plain_dynamic(loop->ws, loop->desc, lo_, hi_)); \
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
NEXT_DYNAMIC(dynamic)
NEXT(guided)
NEXT(runtime)
NEXT_DYNAMIC(nonmonotonic_dynamic)
NEXT(nonmonotonic_guided)
NEXT(nonmonotonic_runtime)
NEXT(maybe_nonmonotonic_runtime)
NEXT(ordered_static)
NEXT(ordered_dynamic)
NEXT(ordered_guided)
NEXT(ordered_runtime)

/* sched 0 means schedule(runtime). */
PS_EXPORT bool LOOP_NAME(start)(LOOP_UP LOOP_VALUE from, LOOP_VALUE to, LOOP_VALUE incr, long sched, LOOP_VALUE chunk,
                                LOOP_VALUE *lo, LOOP_VALUE *hi, uintptr_t *reductions, void **mem)
{
    struct ort_loop_extra extra = {.reductions = reductions, .mem = mem};
    unsigned kind = (unsigned)sched & ~ORT_SCHED_MONOTONIC;
    return LOOP_STATIC(begin)(LOOP_UP_VALUE from, to, incr, kind, chunk, kind == 0, false, &extra, lo, hi);
}

PS_EXPORT bool LOOP_NAME(ordered_start)(LOOP_UP LOOP_VALUE from, LOOP_VALUE to, LOOP_VALUE incr, long sched,
                                        LOOP_VALUE chunk, LOOP_VALUE *lo, LOOP_VALUE *hi, uintptr_t *reductions,
                                        void **mem)
{
    struct ort_loop_extra extra = {.reductions = reductions, .mem = mem};
    unsigned kind = (unsigned)sched & ~ORT_SCHED_MONOTONIC;
    return LOOP_STATIC(begin)(LOOP_UP_VALUE from, to, incr, kind, chunk, kind == 0, true, &extra, lo, hi);
}

/* --- doacross --- */

static PS_ALWAYS_INLINE bool LOOP_STATIC(begin_doacross)(unsigned dims, const LOOP_VALUE *counts, unsigned kind,
                                                         LOOP_VALUE chunk, bool runtime,
                                                         const struct ort_loop_extra *extra, LOOP_VALUE *lo,
                                                         LOOP_VALUE *hi)
{
    uint64_t wide[GOMP_WIDE_DIMS];
    const uint64_t *n = sizeof(LOOP_VALUE) == sizeof(uint64_t) ? (const uint64_t *)(const void *)counts
                                                               : gomp_wide((const void *)counts, dims, wide);
    return GOMP_BOUNDS(
        LOOP_VALUE, lo, hi,
        ort_doacross_start(ort_self(), dims, n, kind, chunk > 0 ? (uint64_t)chunk : 0, runtime, extra, lo_, hi_));
}

#define DOACROSS(name, kind)                                                                               \
    PS_EXPORT bool LOOP_NAME(doacross_##name##_start)(unsigned dims, LOOP_VALUE *counts, LOOP_VALUE chunk, \
                                                      LOOP_VALUE *lo, LOOP_VALUE *hi)                      \
    {                                                                                                      \
        return LOOP_STATIC(begin_doacross)(dims, counts, kind, chunk, false, NULL, lo, hi);                \
    }

DOACROSS(static, ORT_SCHED_STATIC)
DOACROSS(dynamic, ORT_SCHED_DYNAMIC)
DOACROSS(guided, ORT_SCHED_GUIDED)

PS_EXPORT bool LOOP_NAME(doacross_runtime_start)(unsigned dims, LOOP_VALUE *counts, LOOP_VALUE *lo, LOOP_VALUE *hi)
{
    return LOOP_STATIC(begin_doacross)(dims, counts, ORT_SCHED_STATIC, 0, true, NULL, lo, hi);
}

PS_EXPORT bool LOOP_NAME(doacross_start)(unsigned dims, LOOP_VALUE *counts, long sched, LOOP_VALUE chunk,
                                         LOOP_VALUE *lo, LOOP_VALUE *hi, uintptr_t *reductions, void **mem)
{
    struct ort_loop_extra extra = {.reductions = reductions, .mem = mem};
    unsigned kind = (unsigned)sched & ~ORT_SCHED_MONOTONIC;
    return LOOP_STATIC(begin_doacross)(dims, counts, kind == 0 ? ORT_SCHED_STATIC : kind, chunk, kind == 0, &extra, lo,
                                       hi);
}
