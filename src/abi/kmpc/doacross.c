/* LLVM entry points: ordered(n) with depend(source) and depend(sink), doacross(source:) and doacross(sink:).
 *
 * With this ABI the nest is separate from the loop that hands out its iterations. The core's part of the nest is in
 * doacross_nest.h. Compiled code names an iteration by the values of its variables; these functions compute the
 * iteration's number. In a team of one no thread waits, so the calls do nothing. Failures: without memory the program
 * ends with one line. A position outside of the nest is no dependence (OpenMP 5.2 section 15.9.6). */
#include "doacross_nest.h"
#include "emergency_pool.h"
#include "kmpc.h"

/* What a member knows of an open nest. Only the member itself uses it. */
struct kmpc_doacross {
    struct kmpc_doacross *outer;
    struct ort_nest *nest; /* NULL: the nest has no iterations */
    unsigned dims;
    struct {
        int64_t lower, stride;
        /* count: the loop's iterations; weight: how many iterations of the nest one of them has */
        uint64_t count, weight;
    } dim[];
};

static uint64_t trip(const struct kmpc_dim *d)
{
    if (d->stride > 0)
        return d->upper < d->lower ? 0 : ((uint64_t)d->upper - (uint64_t)d->lower) / (uint64_t)d->stride + 1;
    return d->upper > d->lower ? 0 : ((uint64_t)d->lower - (uint64_t)d->upper) / (0 - (uint64_t)d->stride) + 1;
}

PS_EXPORT void __kmpc_doacross_init(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid, int32_t n,
                                    const struct kmpc_dim *dims)
{
    KMPC_NOT_NULL(at, dims, "the list of loops");
    struct ort_thread *t = ort_self();
    kmpc_leave_cancelled_loop(t);
    if (t->team->n == 1)
        return;
    struct kmpc_doacross *d = ort_mem_get(sizeof *d + (size_t)n * sizeof d->dim[0]);
    PS_CHECK(d != NULL, "no memory for a doacross nest of %d loops", n);
    uint64_t iterations = 1;
    d->dims = (unsigned)n;
    for (int32_t i = n - 1; i >= 0; i--) {
        d->dim[i].lower = dims[i].lower;
        d->dim[i].stride = dims[i].stride;
        d->dim[i].count = trip(&dims[i]);
        d->dim[i].weight = iterations;
        PS_CHECK(!__builtin_mul_overflow(iterations, d->dim[i].count, &iterations),
                 "a doacross nest has more iterations than 64 bits count");
    }
    d->nest = iterations != 0 ? ort_nest_enter(t, iterations) : NULL;
    struct kmpc_thread *k = kmpc_thread(ort_self());
    d->outer = k->doacross;
    k->doacross = d;
}

/* Stores in *n how many iterations of one loop come before `position`. Returns false if `position` is before the first.
 * Compilers mostly count by 1. That case has no division, which would take longer than the rest of this function. */
static PS_ALWAYS_INLINE bool iterations_before(int64_t position, int64_t lower, int64_t stride, uint64_t *n)
{
    if (PS_LIKELY(stride == 1)) {
        *n = (uint64_t)position - (uint64_t)lower;
        return position >= lower;
    }
    *n = stride > 0 ? ((uint64_t)position - (uint64_t)lower) / (uint64_t)stride
                    : ((uint64_t)lower - (uint64_t)position) / (0 - (uint64_t)stride);
    return stride > 0 ? position >= lower : position <= lower;
}

/* Stores in *number the number of the iteration at a position. Returns false if the position is outside of the nest. */
static PS_ALWAYS_INLINE bool kmpc_position_number(const struct kmpc_doacross *d, const int64_t *position,
                                                  uint64_t *number)
{
    uint64_t sum = 0, n;
    for (unsigned i = 0; i < d->dims; i++) {
        if (!iterations_before(position[i], d->dim[i].lower, d->dim[i].stride, &n) || n >= d->dim[i].count)
            return false;
        sum += n * d->dim[i].weight;
    }
    *number = sum;
    return true;
}

/* Returns the nest, and in *number the number of the iteration at a position. NULL: the nest has no such iteration, so
 * the call has nothing to post or to wait for. post: tells a tool whether the iteration is posted or waited for. */
static PS_ALWAYS_INLINE struct ort_nest *doacross_iteration(struct ort_thread *t, const int64_t *position, bool post,
                                                            uint64_t *number)
{
    const struct kmpc_doacross *d = kmpc_thread(t)->doacross;
    if (d == NULL || d->nest == NULL || !kmpc_position_number(d, position, number))
        return NULL;
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_position(t, post, (const uint64_t *)position, d->dims);
    return d->nest;
}

static PS_NOINLINE void wait_in_team(struct ort_thread *t, const int64_t *position)
{
    uint64_t number;
    struct ort_nest *nest = doacross_iteration(t, position, false, &number);
    if (nest != NULL)
        ort_nest_wait(nest, number);
}

static PS_NOINLINE void post_in_team(struct ort_thread *t, const int64_t *position)
{
    uint64_t number;
    struct ort_nest *nest = doacross_iteration(t, position, true, &number);
    if (nest != NULL)
        ort_nest_post(nest, number);
}

PS_EXPORT void __kmpc_doacross_wait(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid, const int64_t *position)
{
    KMPC_NOT_NULL(at, position, "the position");
    struct ort_thread *t = ort_self_inline();
    if (t->team->n > 1)
        wait_in_team(t, position);
}

PS_EXPORT void __kmpc_doacross_post(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid, const int64_t *position)
{
    KMPC_NOT_NULL(at, position, "the position");
    struct ort_thread *t = ort_self_inline();
    if (t->team->n > 1)
        post_in_team(t, position);
}

PS_EXPORT void __kmpc_doacross_fini(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid)
{
    struct ort_thread *t = ort_self();
    if (t->team->n == 1)
        return;
    struct kmpc_thread *k = kmpc_thread(t);
    struct kmpc_doacross *d = k->doacross;
    if (d == NULL)
        return;
    k->doacross = d->outer;
    if (d->nest != NULL)
        ort_nest_leave(d->nest);
    ort_mem_free(d);
}
