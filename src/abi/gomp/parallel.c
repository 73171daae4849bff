/* GNU entry points: parallel, and the constructs combined with it; the host's teams construct.
 *
 * `flags` are GCC's: bits 0-2 are the value of proc_bind (0: no clause). A combined construct (parallel for, parallel
 * sections) calls ort_parallel like a plain region, with a description of its loop. The number of threads does not
 * depend on the loop. */
#include <limits.h>

#include "gomp.h"

/* Describes the region of the entry point. Inlined, so that ORT_CALLER and ORT_FRAME are the entry point's. */
static PS_ALWAYS_INLINE struct ort_parallel region(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags,
                                                   const struct ort_loop_desc *loop)
{
    return (struct ort_parallel){
        .fn = fn,
        .data = data,
        .caller = ORT_CALLER,
        .frame = ORT_FRAME,
        .num_threads = num_threads,
        .bind = (flags & 7) != 0 ? (enum ort_bind)(flags & 7) : ORT_BIND_UNSET,
        .loop = loop,
    };
}

static PS_ALWAYS_INLINE void parallel(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags,
                                      const struct ort_loop_desc *loop)
{
    struct ort_parallel r = region(fn, data, num_threads, flags, loop);
    ort_parallel(&r);
}

static PS_ALWAYS_INLINE void parallel_start(void (*fn)(void *), void *data, unsigned num_threads,
                                            const struct ort_loop_desc *loop)
{
    struct ort_parallel r = region(fn, data, num_threads, 0, loop);
    ort_parallel_start(&r);
}

/* Called by GOMP_parallel on the manycore, when the region is not like the last one. */
static PS_NOINLINE PS_UNUSED void parallel_anew(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags)
{
    if (!ort_parallel_turn(fn, data, num_threads, flags))
        parallel(fn, data, num_threads, flags, NULL);
}

PS_EXPORT void GOMP_parallel(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags)
{
    if (!ORT_MEMBERS_APART)
        parallel(fn, data, num_threads, flags, NULL);
    /* ort_parallel_again takes all of `flags` for proc_bind, because compilers set no other bit today. If another bit
     * is set, ort_parallel_again returns false, and `region` masks the bit. */
    else if (!ort_parallel_again(fn, data, num_threads, flags))
        parallel_anew(fn, data, num_threads, flags);
}

PS_EXPORT void GOMP_parallel_start(void (*fn)(void *), void *data, unsigned num_threads)
{
    parallel_start(fn, data, num_threads, NULL);
}

PS_EXPORT void GOMP_parallel_end(void) { ort_parallel_end(); }

PS_EXPORT unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags)
{
    struct ort_parallel r = region(fn, data, num_threads, flags, NULL);
    r.reductions = *(uintptr_t **)data;
    return ort_parallel(&r);
}

/* --- parallel for --- */

#define PARALLEL_LOOP(name, kind)                                                                              \
    PS_EXPORT void GOMP_parallel_loop_##name(void (*fn)(void *), void *data, unsigned num_threads, long start, \
                                             long end, long incr, long chunk, unsigned flags)                  \
    {                                                                                                          \
        struct ort_loop_desc d = gomp_loop(start, end, incr, kind, chunk);                                     \
        parallel(fn, data, num_threads, flags, &d);                                                            \
    }

PARALLEL_LOOP(static, ORT_SCHED_STATIC)
PARALLEL_LOOP(dynamic, ORT_SCHED_DYNAMIC)
PARALLEL_LOOP(guided, ORT_SCHED_GUIDED)
PARALLEL_LOOP(nonmonotonic_dynamic, ORT_SCHED_DYNAMIC | NONMONOTONIC)
PARALLEL_LOOP(nonmonotonic_guided, ORT_SCHED_GUIDED)

#define PARALLEL_LOOP_RUNTIME(name, modifier)                                                                  \
    PS_EXPORT void GOMP_parallel_loop_##name(void (*fn)(void *), void *data, unsigned num_threads, long start, \
                                             long end, long incr, unsigned flags)                              \
    {                                                                                                          \
        struct ort_loop_desc d = gomp_loop(start, end, incr, ORT_SCHED_STATIC | (modifier), 0);                \
        ort_loop_apply_runtime(ort_self(), &d);                                                                \
        parallel(fn, data, num_threads, flags, &d);                                                            \
    }

PARALLEL_LOOP_RUNTIME(runtime, 0)
PARALLEL_LOOP_RUNTIME(nonmonotonic_runtime, NONMONOTONIC)
PARALLEL_LOOP_RUNTIME(maybe_nonmonotonic_runtime, NONMONOTONIC)

#define PARALLEL_LOOP_START(name, kind)                                                                                \
    PS_EXPORT void GOMP_parallel_loop_##name##_start(void (*fn)(void *), void *data, unsigned num_threads, long start, \
                                                     long end, long incr, long chunk)                                  \
    {                                                                                                                  \
        struct ort_loop_desc d = ort_loop_desc_long(start, end, incr, kind, chunk);                                    \
        parallel_start(fn, data, num_threads, &d);                                                                     \
    }

PARALLEL_LOOP_START(static, ORT_SCHED_STATIC)
PARALLEL_LOOP_START(dynamic, ORT_SCHED_DYNAMIC)
PARALLEL_LOOP_START(guided, ORT_SCHED_GUIDED)

PS_EXPORT void GOMP_parallel_loop_runtime_start(void (*fn)(void *), void *data, unsigned num_threads, long start,
                                                long end, long incr)
{
    struct ort_loop_desc d = ort_loop_desc_long(start, end, incr, ORT_SCHED_STATIC, 0);
    ort_loop_apply_runtime(ort_self(), &d);
    parallel_start(fn, data, num_threads, &d);
}

/* --- parallel sections --- */

PS_EXPORT void GOMP_parallel_sections(void (*fn)(void *), void *data, unsigned num_threads, unsigned count,
                                      unsigned flags)
{
    struct ort_loop_desc d = {.n = count, .sched = ORT_SCHED_DYNAMIC};
    parallel(fn, data, num_threads, flags, &d);
}

PS_EXPORT void GOMP_parallel_sections_start(void (*fn)(void *), void *data, unsigned num_threads, unsigned count)
{
    struct ort_loop_desc d = {.n = count, .sched = ORT_SCHED_DYNAMIC};
    parallel_start(fn, data, num_threads, &d);
}

/* --- teams --- */

/* Without a num_teams clause, omp_set_num_teams and OMP_NUM_TEAMS decide. If none of them gives a number, there are
 * three teams, as in libgomp: programs that print the number then print the same. */
PS_EXPORT void GOMP_teams_reg(void (*fn)(void *), void *data, unsigned num_teams, unsigned thread_limit,
                              PS_UNUSED unsigned flags)
{
    if (num_teams == 0)
        num_teams = ort_settings.num_teams != 0 ? ort_settings.num_teams : 3;
    struct ort_parallel p = {.fn = fn,
                             .data = data,
                             .num_threads = num_teams,
                             .bind = ORT_BIND_UNSET,
                             .caller = ORT_CALLER,
                             .frame = ORT_FRAME};
    ORT_TOOL_CALL(ort_self(), ort_league(&p, thread_limit));
}
