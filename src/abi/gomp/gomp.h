/* What all GNU entry points include. The entry points translate arguments and call the core (ort). They decide nothing,
 * and call no entry point of another ABI.
 *
 * The compiler knows the prototypes (they are GCC's builtins); no header of ours declares them. */
#ifndef PS_ABI_GOMP_H
#define PS_ABI_GOMP_H

#include "ort.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* A bit that the entry points of dynamic and runtime loops add to a schedule's kind if their name says that the loop
 * may be nonmonotonic. GOMP_loop_start never adds it: compiled code also calls that function for loops with a
 * conditional lastprivate, where a thread's chunks must be in ascending order. gomp_loop and gomp_loop_ull remove the
 * bit, and set `nonmonotonic` for the core. */
#define NONMONOTONIC 0x40000000u

static PS_ALWAYS_INLINE struct ort_loop_desc gomp_loop(long from, long to, long incr, unsigned kind, long chunk)
{
    struct ort_loop_desc d = ort_loop_desc_long(from, to, incr, kind & ~NONMONOTONIC, chunk);
    if (kind & NONMONOTONIC)
        d.nonmonotonic = true;
    return d;
}

/* Has the value of `call`, which asks the core for the next chunk: true if there is one. `call` stores the chunk's
 * bounds, of 64 bits each, at lo_ and hi_. If the program's type has 64 bits, lo_ and hi_ point to the program's
 * variables. Otherwise the macro copies the bounds of a chunk to these variables. */
#define GOMP_BOUNDS(type, lo, hi, call)                                 \
    __extension__({                                                     \
        uint64_t wide_lo_, wide_hi_;                                    \
        bool narrow_ = sizeof(type) != sizeof(uint64_t);                \
        uint64_t *lo_ = narrow_ ? &wide_lo_ : (uint64_t *)(void *)(lo); \
        uint64_t *hi_ = narrow_ ? &wide_hi_ : (uint64_t *)(void *)(hi); \
        bool some_ = (call);                                            \
        if (narrow_ && some_ && (lo) != NULL) {                         \
            *(lo) = (type)wide_lo_;                                     \
            *(hi) = (type)wide_hi_;                                     \
        }                                                               \
        some_;                                                          \
    })
/* gomp_wide returns the `dims` values, one for each loop, as 64 bits. If a long is narrower, it copies them to `wide`,
 * which has GOMP_WIDE_DIMS entries. */
#define GOMP_DIMS_MAX 64 /* a limit that no program's loop nest reaches */
static PS_ALWAYS_INLINE const uint64_t *gomp_wide(const long *values, unsigned dims, uint64_t *wide)
{
    if (sizeof(long) == sizeof(uint64_t))
        return (const uint64_t *)(const void *)values;
    for (unsigned i = 0; i < dims && i < GOMP_DIMS_MAX; i++)
        wide[i] = (uint64_t)values[i];
    return wide;
}
#define GOMP_WIDE_DIMS (sizeof(long) == sizeof(uint64_t) ? 1 : GOMP_DIMS_MAX)

/* Describes a loop over unsigned long long for the core, as gomp_loop does for a loop over long. up: the loop counts
 * upwards. */
static PS_ALWAYS_INLINE struct ort_loop_desc gomp_loop_ull(bool up, unsigned long long from, unsigned long long to,
                                                           unsigned long long incr, unsigned kind,
                                                           unsigned long long chunk)
{
    struct ort_loop_desc d = ort_loop_desc_ull(up, from, to, incr, kind & ~NONMONOTONIC, chunk);
    if (kind & NONMONOTONIC)
        d.nonmonotonic = true;
    return d;
}

#endif
