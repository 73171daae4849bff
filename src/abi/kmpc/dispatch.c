/* LLVM entry points: loops and sections whose chunks are asked for one by one.
 *
 * Bounds are inclusive. The core hands out a chunk as its first value and the one behind its last, 64 bits wide. When
 * no chunk is left the thread leaves the loop. A cancelled loop is left early. This is seen at the next barrier or
 * loop; or at the region's end, where no barrier stands behind the loop of a combined construct
 * (kmpc_leave_cancelled_loop). clang 19 calls dispatch_deinit only where the loop was not cancelled. Schedules of
 * multiples of a vector's length hand out vectors (`unit` iterations each). An ordered loop's turn goes from chunk to
 * chunk in the core, so that dispatch_fini, called after each iteration, has nothing to do. */
#include "kmpc.h"

bool kmpc_schedule_of(int32_t number, struct kmpc_schedule *out)
{
    /* Bits 29 and 30: monotonic, nonmonotonic. Without either it is monotonic, as compilers meant it before OpenMP
     * 5.0. */
    bool nonmonotonic = (number >> 29 & 3) == 2;
    number &= ~(3 << 29);
    if (number >= 160)
        number -= 128; /* "nomerge" */
    *out = (struct kmpc_schedule){.sched = ORT_SCHED_STATIC, .nonmonotonic = nonmonotonic};
    out->ordered = number > 64 && number < 80;
    if (out->ordered)
        number -= 32;
    switch (number) {
    case KMPC_DISTRIBUTE_CHUNKED:
    case KMPC_DISTRIBUTE:
        out->distribute = true;
        return true;
    case 33:
    case 34: /* static */
    case 40:
    case 41: /* greedy, balanced */
        return true;
    case 45: /* balanced, in multiples of a vector's length */
        out->vectors = true;
        return true;
    case 35: /* dynamic */
    case 44: /* static_steal */
        out->sched = ORT_SCHED_DYNAMIC;
        return true;
    case 36: /* guided */
    case 39: /* trapezoidal */
    case 42:
    case 43: /* guided, iterative and analytical */
        out->sched = ORT_SCHED_GUIDED;
        return true;
    case 46: /* guided, in multiples of a vector's length */
        out->vectors = true;
        out->sched = ORT_SCHED_GUIDED;
        return true;
    case 37: /* runtime */
        out->runtime = true;
        return true;
    case 47: /* runtime, in multiples of a vector's length */
        out->vectors = true;
        out->runtime = true;
        return true;
    case 38: /* auto: what clang's users have of it elsewhere */
        out->sched = ORT_SCHED_GUIDED;
        return true;
    default:
        return false;
    }
}

/* Does the number carry a chunk size? */
static bool has_chunk(int32_t number)
{
    number &= 0x1f; /* without modifiers, nomerge and ordered */
    return number != (34 & 0x1f) && number != (38 & 0x1f) && number != (40 & 0x1f) && number != (41 & 0x1f);
}

/* Iterations in a vector of the loop's, or in a chunk of vectors where OMP_SCHEDULE has a chunk size; *chunk: of the
 * loop over them. */
static PS_NOINLINE uint64_t vectors(const struct ort_thread *t, struct kmpc_schedule *s, int64_t length,
                                    uint64_t *chunk)
{
    uint64_t unit = length > 1 ? (uint64_t)length : 1;
    if (s->runtime) {
        struct ort_loop_desc icv = {.nonmonotonic = s->nonmonotonic};
        ort_loop_apply_runtime(t, &icv);
        s->runtime = false;
        s->nonmonotonic = icv.nonmonotonic;
        s->sched = icv.sched;
        *chunk = icv.chunk != 0;
        unit *= icv.chunk != 0 ? icv.chunk : 1;
    }
    return unit;
}

static PS_ALWAYS_INLINE void start_dispatch(const struct kmpc_location *at, const char *entry, int32_t number,
                                            uint64_t first, uint64_t step, uint64_t trip, int64_t chunk)
{
    struct kmpc_schedule s;
    if (!kmpc_schedule_of(number, &s) || s.distribute)
        kmpc_fatal(at, entry, "unknown schedule");
    struct ort_thread *t = ort_self_inline();
    kmpc_leave_cancelled_loop(t);
    /* What the ICVs begin with is static for libomp's programs. */
    if (PS_UNLIKELY(s.runtime) && ort_icv(t)->sched == ORT_SCHED_UNSET) {
        s.runtime = false;
        chunk = s.vectors ? chunk : 0;
    }
    if (s.sched == ORT_SCHED_GUIDED && t->team->n == 1 && !s.ordered && !s.vectors) {
        s.sched = ORT_SCHED_STATIC; /* one chunk: nobody else would take what is left */
        chunk = 0;
    }
    uint64_t unit = 1, of_unit = 0;
    if (PS_UNLIKELY(s.vectors) && !s.ordered)
        unit = vectors(t, &s, chunk, &of_unit);
    struct ort_loop_desc d =
        ort_loop_desc_ull(true, 0, unit == 1 ? trip : trip / unit + (trip % unit != 0), 1, s.sched, of_unit);
    d.start = first;
    d.step = step * unit;
    d.end = first + trip * step;
    d.ordered = s.ordered;
    d.nonmonotonic = s.nonmonotonic;
    if (chunk > 0 && !s.vectors && has_chunk(number))
        d.chunk = (uint64_t)chunk;
    t->loop.unit = unit;
    ORT_TOOL_CALLER(t);
    ort_loop_start(t, &d, s.runtime, NULL, NULL, NULL);
}

/* The next chunk's values, *hi beyond the last; false: the loop has been left. */
static bool next_dispatch_chunk(struct ort_thread *t, uint64_t *lo, uint64_t *hi)
{
    if (ort_loop_next(t, lo, hi))
        return true;
    ort_loop_leave(t);
    return false;
}

#define TRIP(U, lower, upper, step)                                                                \
    ((step) > 0                                                                                    \
         ? ((upper) < (lower) ? 0 : (uint64_t)(U)((U)(upper) - (U)(lower)) / (uint64_t)(step) + 1) \
         : ((upper) > (lower) ? 0 : (uint64_t)(U)((U)(lower) - (U)(upper)) / (0 - (uint64_t)(int64_t)(step)) + 1))

#define DISPATCH(suffix, T, U, S)                                                                                    \
    PS_EXPORT void __kmpc_dispatch_init_##suffix(struct kmpc_location *at, PS_UNUSED int32_t gtid, int32_t schedule, \
                                                 T lower, T upper, S step, S chunk)                                  \
    {                                                                                                                \
        if (step == 0)                                                                                               \
            kmpc_fatal(at, "__kmpc_dispatch_init_" #suffix, "the increment is 0");                                   \
        start_dispatch(at, "__kmpc_dispatch_init_" #suffix, schedule, (uint64_t)lower, (uint64_t)(int64_t)step,      \
                       TRIP(U, lower, upper, step), chunk);                                                          \
    }                                                                                                                \
    /* distribute parallel for: the team's part of the range, of which its threads take chunks. */                   \
    PS_EXPORT void __kmpc_dist_dispatch_init_##suffix(struct kmpc_location *at, PS_UNUSED int32_t gtid,              \
                                                      int32_t schedule, int32_t *last, T lower, T upper, S step,     \
                                                      S chunk)                                                       \
    {                                                                                                                \
        if (step == 0)                                                                                               \
            kmpc_fatal(at, "__kmpc_dist_dispatch_init_" #suffix, "the increment is 0");                              \
        const struct ort_group *league = ort_self()->team->contention;                                               \
        uint64_t trip = TRIP(U, lower, upper, step), n = league->num_teams, id = league->team_num;                   \
        uint64_t q = trip / n, r = trip % n, from = q * id + (id < r ? id : r), count = q + (id < r);                \
        if (last != NULL)                                                                                            \
            *last = count != 0 && from + count == trip;                                                              \
        start_dispatch(at, "__kmpc_dist_dispatch_init_" #suffix, schedule,                                           \
                       (uint64_t)lower + from * (uint64_t)(int64_t)step, (uint64_t)(int64_t)step, count, chunk);     \
    }                                                                                                                \
    PS_EXPORT int32_t __kmpc_dispatch_next_##suffix(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid,      \
                                                    int32_t *last, T *lower, T *upper, S *stride)                    \
    {                                                                                                                \
        if (PS_UNLIKELY((lower == NULL) | (upper == NULL)))                                                          \
            kmpc_fatal(at, "__kmpc_dispatch_next_" #suffix, "a bound is a null pointer");                            \
        struct ort_thread *t = ort_self_inline();                                                                    \
        if (t->loop.ws == NULL && t->loop.desc != &t->loop.own)                                                      \
            return 0;                                                                                                \
        uint64_t lo, hi;                                                                                             \
        if (!next_dispatch_chunk(t, &lo, &hi))                                                                       \
            return 0;                                                                                                \
        const struct ort_loop_desc *d = t->loop.desc;                                                                \
        uint64_t step = d->step;                                                                                     \
        if (PS_UNLIKELY(t->loop.unit != 1))                                                                          \
            step = (uint64_t)((int64_t)step / (int64_t)t->loop.unit);                                                \
        *lower = (T)lo;                                                                                              \
        *upper = (T)(hi - step);                                                                                     \
        if (stride != NULL)                                                                                          \
            *stride = (S)step;                                                                                       \
        if (last != NULL)                                                                                            \
            *last = hi == d->end;                                                                                    \
        return 1;                                                                                                    \
    }                                                                                                                \
    PS_EXPORT void __kmpc_dispatch_fini_##suffix(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid) {}

DISPATCH(4, int32_t, uint32_t, int32_t)
DISPATCH(4u, uint32_t, uint32_t, int32_t)
DISPATCH(8, int64_t, uint64_t, int64_t)
DISPATCH(8u, uint64_t, uint64_t, int64_t)

PS_EXPORT void __kmpc_dispatch_deinit(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid)
{
    kmpc_leave_cancelled_loop(ort_self_inline());
}

/* --- sections: numbers 0 .. n-1, n when none is left --- */

/* The count comes with the first question: the slot is taken then. */
PS_EXPORT int32_t __kmpc_sections_init(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid)
{
    struct ort_thread *t = ort_self();
    kmpc_leave_cancelled_loop(t);
    return (int32_t)t->team->n;
}

PS_EXPORT int32_t __kmpc_next_section(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid, int32_t n)
{
    struct ort_thread *t = ort_self_inline();
    ORT_TOOL_CALLER(t);
    unsigned section = t->loop.ws == NULL ? ort_sections_start(t, (unsigned)n, NULL) : ort_sections_next(t);
    if (section != 0)
        return (int32_t)section - 1;
    ort_loop_leave(t);
    return n;
}

PS_EXPORT void __kmpc_end_sections(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid)
{
    kmpc_leave_cancelled_loop(ort_self());
}
