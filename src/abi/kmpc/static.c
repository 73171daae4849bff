/* LLVM entry points: loops with a static schedule. They compute bounds; nothing is shared, and nothing is kept.
 *
 * Bounds are inclusive. Compiled code passes a loop's whole range, and gets the calling thread's first chunk and the
 * distance to its next one. Compiled code itself cuts the last chunk at the range's end. A thread without iterations
 * gets a lower bound beyond the upper one, and compiled code runs nothing. distribute: the range is divided among the
 * league's teams. dist_for: first among the teams, then each team's part among its threads. All arithmetic is that of
 * unsigned 64-bit numbers, in which a stride that overflows the loop's type wraps around as the type would. */
#include "kmpc.h"

/* A range in 64-bit numbers: `trip` iterations; `first` and `step` modulo 2^64. */
struct range {
    uint64_t first, step, trip;
};
/* A thread's first chunk of a range: the iterations [from, from + count). Its next chunk begins `jump` iterations
 * further. last: the thread's chunks have the range's last iteration. */
struct share {
    uint64_t from, count, jump;
    bool last;
};

static PS_ALWAYS_INLINE struct share contiguous(uint64_t trip, uint64_t id, uint64_t n)
{
    uint64_t q = trip / n, r = trip % n;
    struct share s = {.from = q * id + (id < r ? id : r), .count = q + (id < r), .jump = trip};
    s.last = s.count != 0 && s.from + s.count == trip;
    return s;
}

static struct share chunked(uint64_t trip, uint64_t id, uint64_t n, uint64_t chunk)
{
    if (chunk > trip)
        chunk = trip;
    uint64_t chunks = (trip - 1) / chunk + 1;
    if (n > chunks)
        n = chunks; /* keeps the stride, n * chunk, from being much longer than the range */
    struct share s = {.from = id * chunk, .jump = n * chunk};
    if (id < n)
        s.count = trip - s.from < chunk ? trip - s.from : chunk;
    s.last = s.count != 0 && (chunks - 1) % n == id;
    return s;
}

static PS_NOINLINE struct share share_otherwise(int32_t kind, uint64_t trip, uint64_t id, uint64_t n, int64_t chunk)
{
    if (kind == KMPC_SCHED_STATIC_CHUNKED || kind == KMPC_DISTRIBUTE_CHUNKED)
        return chunked(trip, id, n, chunk > 0 ? (uint64_t)chunk : 1);
    return contiguous(trip, id, n);
}
/* In most loops each thread has one contiguous share. */
static PS_ALWAYS_INLINE struct share share_of(int32_t kind, uint64_t trip, uint64_t id, uint64_t n, int64_t chunk)
{
    return PS_LIKELY(kind == KMPC_SCHED_STATIC) ? contiguous(trip, id, n) : share_otherwise(kind, trip, id, n, chunk);
}

/* Returns the static schedule that divides a loop with the schedule `number`. A distribute schedule stays as it is. The
 * schedules 33, 65 (ordered) and 45 (in multiples of a vector's length) have chunks. All others get contiguous shares.
 * Numbers from 160 on are the same schedules with "nomerge". */
static PS_NOINLINE int32_t static_kind_otherwise(const struct kmpc_location *at, const char *entry, int32_t number)
{
    struct kmpc_schedule s;
    if (!kmpc_schedule_of(number, &s))
        kmpc_fatal(at, entry, "unknown schedule");
    number &= 0xff;
    if (number >= 160)
        number -= 128;
    if (s.distribute)
        return number;
    return number == 33 || number == 45 || number == 65 ? KMPC_SCHED_STATIC_CHUNKED : KMPC_SCHED_STATIC;
}

static PS_ALWAYS_INLINE int32_t static_kind(const struct kmpc_location *at, const char *entry, int32_t number)
{
    return PS_LIKELY(number == KMPC_SCHED_STATIC) ? number : static_kind_otherwise(at, entry, number);
}

/* Returns the kind of work that a tool is told, by the location's flags. */
static int work_of(const struct kmpc_location *at, bool distribute)
{
    enum { SECTIONS = 0x400, DISTRIBUTE = 0x800 };
    if (at != NULL && (at->flags & SECTIONS))
        return ORT_WORK_SECTIONS;
    return distribute || (at != NULL && (at->flags & DISTRIBUTE)) ? ORT_WORK_DISTRIBUTE : ORT_WORK_LOOP_STATIC;
}

static PS_NOINLINE void tell_begin(const struct kmpc_location *at, bool distribute, uint64_t trip, const void *caller)
{
    ort_tool_work(ort_self(), work_of(at, distribute), ORT_SCOPE_BEGIN, trip, caller);
}

static PS_NOINLINE void tell_chunk(const struct kmpc_location *at, bool distribute, uint64_t start, uint64_t n,
                                   const void *caller)
{
    struct ort_thread *t = ort_self();
    int work = work_of(at, distribute);
    ort_tool_caller(t, caller);
    if (work == ORT_WORK_SECTIONS)
        ort_tool_section(t);
    else
        ort_tool_chunk(t, work == ORT_WORK_DISTRIBUTE ? ORT_CHUNK_DISTRIBUTE : ORT_CHUNK_LOOP, start, n);
}

/* The struct range of a loop whose bounds have type T (U: unsigned, of the same width). trip is 0 if the loop has no
 * iterations. A range of all 2^64 values is not supported, as in libomp, because its trip count does not fit. */
#define RANGE(T, U, lower, upper, incr) \
    ((struct range){                    \
        .first = (uint64_t)(lower), .step = (uint64_t)(int64_t)(incr), .trip = KMPC_TRIP(U, lower, upper, incr)})

/* Defines an entry point for each type of bounds. ENTRY's arguments: the suffix, the type, and the unsigned and the
 * signed type of the same width. */
#define FOR_EACH_TYPE(ENTRY)               \
    ENTRY(4, int32_t, uint32_t, int32_t)   \
    ENTRY(4u, uint32_t, uint32_t, int32_t) \
    ENTRY(8, int64_t, uint64_t, int64_t)   \
    ENTRY(8u, uint64_t, uint64_t, int64_t)

static const char null_bound[] = "a bound or the stride is a null pointer";

#define FOR_STATIC(suffix, T, U, S)                                                                                    \
    PS_EXPORT void __kmpc_for_static_init_##suffix(struct kmpc_location *at, PS_UNUSED int32_t gtid, int32_t schedule, \
                                                   int32_t *last, T *lower, T *upper, S *stride, S incr, S chunk)      \
    {                                                                                                                  \
        int32_t kind = static_kind(at, "__kmpc_for_static_init_" #suffix, schedule);                                   \
        const struct ort_thread *t = ort_self_inline();                                                                \
        if (PS_UNLIKELY((lower == NULL) | (upper == NULL) | (stride == NULL)))                                         \
            kmpc_fatal(at, "__kmpc_for_static_init_" #suffix, null_bound);                                             \
        if (incr == 0)                                                                                                 \
            kmpc_fatal(at, "__kmpc_for_static_init_" #suffix, "the increment is 0");                                   \
        struct range r = RANGE(T, U, *lower, *upper, incr);                                                            \
        bool distribute = kind >= KMPC_DISTRIBUTE_CHUNKED;                                                             \
        if (PS_UNLIKELY(ort_tool_on()))                                                                                \
            tell_begin(at, distribute, r.trip, ORT_CALLER);                                                            \
        if (r.trip == 0) {                                                                                             \
            if (last != NULL)                                                                                          \
                *last = 0;                                                                                             \
            *stride = incr;                                                                                            \
            return;                                                                                                    \
        }                                                                                                              \
        const struct ort_group *league = t->team->contention;                                                          \
        uint64_t id = distribute ? league->team_num : t->id, n = distribute ? league->num_teams : t->team->n;          \
        struct share s = share_of(kind, r.trip, id, n, chunk);                                                         \
        if (last != NULL)                                                                                              \
            *last = s.last;                                                                                            \
        *stride = (S)(s.jump * r.step);                                                                                \
        if (s.count == 0) {                                                                                            \
            *lower = (T)((U)*upper + (U)incr);                                                                         \
            return;                                                                                                    \
        }                                                                                                              \
        *lower = (T)(r.first + s.from * r.step);                                                                       \
        *upper = (T)((U)*lower + (U)((s.count - 1) * r.step));                                                         \
        if (PS_UNLIKELY(ort_tool_on()))                                                                                \
            tell_chunk(at, distribute, (uint64_t)*lower, s.count, ORT_CALLER);                                         \
    }

FOR_EACH_TYPE(FOR_STATIC)

PS_EXPORT void __kmpc_for_static_fini(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid)
{
    if (PS_UNLIKELY(ort_tool_on())) {
        struct ort_thread *t = ort_self();
        ort_tool_caller(t, ORT_CALLER);
        ort_tool_loop_ends(t);
    }
}

/* --- distribute parallel for in one --- */

#define DIST_FOR_STATIC(suffix, T, U, S)                                                                     \
    PS_EXPORT void __kmpc_dist_for_static_init_##suffix(struct kmpc_location *at, PS_UNUSED int32_t gtid,    \
                                                        int32_t schedule, int32_t *last, T *lower, T *upper, \
                                                        T *upper_of_team, S *stride, S incr, S chunk)        \
    {                                                                                                        \
        int32_t kind = static_kind(at, "__kmpc_dist_for_static_init_" #suffix, schedule);                    \
        if (PS_UNLIKELY((lower == NULL) | (upper == NULL) | (upper_of_team == NULL) | (stride == NULL)))     \
            kmpc_fatal(at, "__kmpc_dist_for_static_init_" #suffix, null_bound);                              \
        const struct ort_thread *t = ort_self();                                                             \
        const struct ort_group *league = t->team->contention;                                                \
        if (incr == 0)                                                                                       \
            kmpc_fatal(at, "__kmpc_dist_for_static_init_" #suffix, "the increment is 0");                    \
        struct range r = RANGE(T, U, *lower, *upper, incr);                                                  \
        *stride = incr;                                                                                      \
        if (PS_UNLIKELY(ort_tool_on()))                                                                      \
            tell_begin(at, true, r.trip, ORT_CALLER);                                                        \
        *upper_of_team = *upper;                                                                             \
        struct share team = contiguous(r.trip, league->team_num, league->num_teams), s = {0};                \
        if (team.count != 0)                                                                                 \
            s = share_of(kind, team.count, t->id, t->team->n, chunk);                                        \
        if (last != NULL)                                                                                    \
            *last = team.last && s.last;                                                                     \
        if (s.count == 0) {                                                                                  \
            *lower = (T)((U)*upper + (U)incr);                                                               \
            return;                                                                                          \
        }                                                                                                    \
        uint64_t first = r.first + team.from * r.step;                                                       \
        *upper_of_team = (T)(first + (team.count - 1) * r.step);                                             \
        *stride = (S)(s.jump * r.step);                                                                      \
        *lower = (T)(first + s.from * r.step);                                                               \
        *upper = (T)((U)*lower + (U)((s.count - 1) * r.step));                                               \
        if (PS_UNLIKELY(ort_tool_on()))                                                                      \
            tell_chunk(at, true, (uint64_t)*lower, s.count, ORT_CALLER);                                     \
    }

FOR_EACH_TYPE(DIST_FOR_STATIC)

/* Stores the first chunk of the caller's team, for a loop whose chunks the league's teams take in turn. */
#define TEAM_STATIC(suffix, T, U, S)                                                                                 \
    PS_EXPORT void __kmpc_team_static_init_##suffix(struct kmpc_location *at, PS_UNUSED int32_t gtid, int32_t *last, \
                                                    T *lower, T *upper, S *stride, S incr, S chunk)                  \
    {                                                                                                                \
        const struct ort_group *league = ort_self()->team->contention;                                               \
        if (PS_UNLIKELY((lower == NULL) | (upper == NULL) | (stride == NULL)))                                       \
            kmpc_fatal(at, "__kmpc_team_static_init_" #suffix, null_bound);                                          \
        if (incr == 0)                                                                                               \
            kmpc_fatal(at, "__kmpc_team_static_init_" #suffix, "the increment is 0");                                \
        T end = *upper;                                                                                              \
        struct range r = RANGE(T, U, *lower, *upper, incr);                                                          \
        *stride = incr;                                                                                              \
        if (last != NULL)                                                                                            \
            *last = 0;                                                                                               \
        if (r.trip == 0)                                                                                             \
            return;                                                                                                  \
        struct share s = chunked(r.trip, league->team_num, league->num_teams, chunk > 0 ? (uint64_t)chunk : 1);      \
        if (last != NULL)                                                                                            \
            *last = s.last;                                                                                          \
        *stride = (S)(s.jump * r.step);                                                                              \
        if (s.count == 0) {                                                                                          \
            *lower = (T)((U)end + (U)incr);                                                                          \
            return;                                                                                                  \
        }                                                                                                            \
        *lower = (T)(r.first + s.from * r.step);                                                                     \
        *upper = (T)((U)*lower + (U)((s.count - 1) * r.step));                                                       \
    }

FOR_EACH_TYPE(TEAM_STATIC)
