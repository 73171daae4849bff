/* LLVM entry points: loops and sections for which compiled code asks for one chunk after the other.
 *
 * Bounds are inclusive. The core returns a chunk as its first value and the value after its last, both 64 bits wide. A
 * thread that gets no further chunk leaves the loop. From a cancelled loop compiled code jumps out, and clang 19 does
 * not call dispatch_deinit. The runtime then leaves the loop at the next barrier or loop, or, if no barrier follows a
 * combined construct's loop, at the region's end (kmpc_leave_cancelled_loop). Some schedules have chunks that are
 * multiples of a vector's length. For these the core hands out numbers that stand for `unit` iterations each. In an
 * ordered loop the core passes the turn from chunk to chunk, so dispatch_fini, which is called after each iteration,
 * has nothing to do.
 *
 * dispatch_next claims a chunk of a plain dynamic loop (workshare.h) inline, by one addition. In all other cases, the
 * loop's last chunk included, it jumps to a function that gets the arguments in the same registers. So the fast path
 * saves no registers. A loop of vectors is never a plain dynamic one, and its chunks are never claimed in batches. */
#include "kmpc.h"
#include "loop_steps.h"

bool kmpc_schedule_of(int32_t number, struct kmpc_schedule *out)
{
    /* Bit 29: monotonic, bit 30: nonmonotonic. A loop with neither bit is monotonic, as before OpenMP 5.0. */
    bool nonmonotonic = (number >> 29 & 3) == 2;
    number &= ~(3 << 29);
    if (number >= 160)
        number -= 128; /* schedules with "nomerge" have numbers from 160 on */
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
    case 34: /* static with and without a chunk size */
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
    case 38: /* auto: guided, as in libomp */
        out->sched = ORT_SCHED_GUIDED;
        return true;
    default:
        return false;
    }
}

/* Returns whether the schedule with this number has a chunk size. */
static bool has_chunk(int32_t number)
{
    number &= 0x1f; /* the number without modifiers, nomerge and ordered */
    return number != (34 & 0x1f) && number != (38 & 0x1f) && number != (40 & 0x1f) && number != (41 & 0x1f);
}

/* Returns the unit of a loop of vectors: how many iterations each number of the core stands for. That is the length of
 * a vector. With schedule(runtime) it is this length times the chunk size in run-sched-var. In this case the function
 * also stores the schedule in *s, and in *chunk the chunk size in units: 1, or 0 if run-sched-var has none. */
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

/* Starts a loop with a known schedule. unit: the number of iterations that each number of the core stands for. */
static PS_ALWAYS_INLINE void start_known(struct ort_thread *t, const struct kmpc_schedule *s, uint64_t first,
                                         uint64_t step, uint64_t trip, uint64_t chunk, uint64_t unit,
                                         const void *caller)
{
    struct ort_loop_desc d = {.n = unit == 1 ? trip : trip / unit + (trip % unit != 0),
                              .start = first,
                              .step = step * unit,
                              .chunk = chunk,
                              .end = first + trip * step,
                              .sched = (uint8_t)s->sched,
                              .ordered = s->ordered,
                              .nonmonotonic = s->nonmonotonic && unit == 1,
                              .units = unit != 1};
    t->loop.unit = unit;
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_caller(t, caller);
    ort_loop_start(t, &d, s->runtime, NULL, NULL, NULL);
}

static PS_NOINLINE void start_otherwise(const struct kmpc_location *at, const char *entry, int32_t number,
                                        uint64_t first, uint64_t step, uint64_t trip, int64_t chunk, const void *caller)
{
    struct kmpc_schedule s;
    if (!kmpc_schedule_of(number, &s) || s.distribute)
        kmpc_fatal(at, entry, "unknown schedule");
    struct ort_thread *t = ort_self();
    kmpc_leave_cancelled_loop(t);
    /* If neither OMP_SCHEDULE nor a call has set the schedule, it is static for programs built for libomp. */
    if (PS_UNLIKELY(s.runtime) && ort_icv(t)->sched == ORT_SCHED_UNSET) {
        s.runtime = false;
        chunk = s.vectors ? chunk : 0;
    }
    if (s.sched == ORT_SCHED_GUIDED && t->team->n == 1 && !s.ordered && !s.vectors) {
        s.sched = ORT_SCHED_STATIC; /* all in one chunk: there is no other member that could take a part */
        chunk = 0;
    }
    uint64_t unit = 1, of_unit = 0;
    if (PS_UNLIKELY(s.vectors) && !s.ordered)
        unit = vectors(t, &s, chunk, &of_unit);
    if (chunk > 0 && !s.vectors && has_chunk(number))
        of_unit = (uint64_t)chunk;
    start_known(t, &s, first, step, trip, of_unit, unit, caller);
}

/* Most loops are dynamic or guided, with a modifier or without. These start inline. */
static PS_ALWAYS_INLINE void start_dispatch(const struct kmpc_location *at, const char *entry, int32_t number,
                                            uint64_t first, uint64_t step, uint64_t trip, int64_t chunk)
{
    enum { DYNAMIC = 35, GUIDED = 36 };
    unsigned modifier = (unsigned)number >> 29, plain = (unsigned)number & ~(3u << 29);
    struct ort_thread *t = ee_local_inline();
    if (PS_UNLIKELY(plain - DYNAMIC > GUIDED - DYNAMIC) || PS_UNLIKELY(t == NULL) ||
        (plain == GUIDED && PS_UNLIKELY(t->team->n == 1))) {
        start_otherwise(at, entry, number, first, step, trip, chunk, ORT_CALLER);
        return;
    }
    kmpc_leave_cancelled_loop(t);
    struct kmpc_schedule s = {.sched = plain == DYNAMIC ? ORT_SCHED_DYNAMIC : ORT_SCHED_GUIDED,
                              .nonmonotonic = modifier == 2};
    start_known(t, &s, first, step, trip, chunk > 0 ? (uint64_t)chunk : 0, 1, ORT_CALLER);
}

static PS_NOINLINE int32_t loop_over(struct ort_thread *t)
{
    ort_loop_leave(t);
    return 0;
}

static PS_COLD PS_NOINLINE int32_t no_loop(const struct kmpc_location *at, const char *entry, bool without_bounds)
{
    if (without_bounds)
        kmpc_fatal(at, entry, "a bound is a null pointer");
    return 0; /* a kernel thread that is no OpenMP thread is in no loop, and gets no chunk */
}

#define DISPATCH_TEXT(name) DISPATCH_TEXT_OF(name)
#define DISPATCH_TEXT_OF(name) #name
#define DISPATCH_NAME(name) name##_4
#define BOUND int32_t
#define WIDTH uint32_t
#define STEP int32_t
#include "dispatch_template.h"
#undef DISPATCH_NAME
#undef BOUND
#define DISPATCH_NAME(name) name##_4u
#define BOUND uint32_t
#include "dispatch_template.h"
#undef DISPATCH_NAME
#undef BOUND
#undef WIDTH
#undef STEP
#define DISPATCH_NAME(name) name##_8
#define BOUND int64_t
#define WIDTH uint64_t
#define STEP int64_t
#include "dispatch_template.h"
#undef DISPATCH_NAME
#undef BOUND
#define DISPATCH_NAME(name) name##_8u
#define BOUND uint64_t
#include "dispatch_template.h"

PS_EXPORT void __kmpc_dispatch_deinit(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid)
{
    kmpc_leave_cancelled_loop(ort_self_inline());
}

/* --- sections: numbers 0 .. n-1; n when none is left --- */

/* Takes no work-share slot: the number of sections is known only at the first __kmpc_next_section, which takes the
 * slot. */
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
