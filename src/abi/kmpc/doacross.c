/* LLVM entry points: ordered(n) with depend(source) and depend(sink), doacross(source:) and doacross(sink:).
 *
 * Here the nest is apart from the loop that hands its iterations out: the core's doacross_nest.h. Compiled code names
 * an iteration by the values of its variables; these functions number it.
 * Failures: no memory: aborts with one line. A position outside of the nest is no dependence (OpenMP 5.2 section
 * 15.9.6). */
#include "doacross_nest.h"
#include "emergency_pool.h"
#include "kmpc.h"

/* The calling member's view. */
struct kmpc_doacross {
    struct kmpc_doacross *outer;
    struct ort_nest *nest; /* NULL: a team of one, or no iterations */
    unsigned dims;
    struct {
        int64_t lower, stride;
        uint64_t count;
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
    struct kmpc_doacross *d = ort_mem_get(sizeof *d + (size_t)n * sizeof d->dim[0]);
    PS_CHECK(d != NULL, "no memory for a doacross nest of %d loops", n);
    uint64_t iterations = 1;
    d->dims = (unsigned)n;
    for (int32_t i = 0; i < n; i++) {
        d->dim[i].lower = dims[i].lower;
        d->dim[i].stride = dims[i].stride;
        d->dim[i].count = trip(&dims[i]);
        PS_CHECK(!__builtin_mul_overflow(iterations, d->dim[i].count, &iterations),
                 "a doacross nest has more iterations than 64 bits count");
    }
    d->nest = t->team->n > 1 && iterations != 0 ? ort_nest_enter(t, iterations) : NULL;
    struct kmpc_thread *k = kmpc_thread(ort_self());
    d->outer = k->doacross;
    k->doacross = d;
}

/* The number of the iteration at a position; false: the position is outside of the nest. */
static bool kmpc_position_number(const struct kmpc_doacross *d, const int64_t *position, uint64_t *number)
{
    *number = 0;
    for (unsigned i = 0; i < d->dims; i++) {
        int64_t stride = d->dim[i].stride;
        uint64_t distance = (uint64_t)position[i] - (uint64_t)d->dim[i].lower, step = (uint64_t)stride;
        bool before = stride > 0 ? position[i] < d->dim[i].lower : position[i] > d->dim[i].lower;
        if (stride < 0) {
            distance = 0 - distance;
            step = 0 - step;
        }
        if (before || distance / step >= d->dim[i].count)
            return false;
        *number = *number * d->dim[i].count + distance / step;
    }
    return true;
}

/* The iteration at a position, and the nest that it is in; NULL: no member posts it or waits for it. post: for a
 * tool. */
static struct ort_nest *doacross_iteration(const int64_t *position, bool post, uint64_t *number)
{
    const struct kmpc_doacross *d = kmpc_thread(ort_self())->doacross;
    if (d == NULL || d->nest == NULL || !kmpc_position_number(d, position, number))
        return NULL;
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_position(ort_self(), post, (const uint64_t *)position, d->dims);
    return d->nest;
}

PS_EXPORT void __kmpc_doacross_wait(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid, const int64_t *position)
{
    KMPC_NOT_NULL(at, position, "the position");
    uint64_t number;
    struct ort_nest *nest = doacross_iteration(position, false, &number);
    if (nest != NULL)
        ort_nest_wait(nest, number);
}

PS_EXPORT void __kmpc_doacross_post(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid, const int64_t *position)
{
    KMPC_NOT_NULL(at, position, "the position");
    uint64_t number;
    struct ort_nest *nest = doacross_iteration(position, true, &number);
    if (nest != NULL)
        ort_nest_post(nest, number);
}

PS_EXPORT void __kmpc_doacross_fini(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid)
{
    struct kmpc_thread *k = kmpc_thread(ort_self());
    struct kmpc_doacross *d = k->doacross;
    if (d == NULL)
        return;
    k->doacross = d->outer;
    if (d->nest != NULL)
        ort_nest_leave(d->nest);
    ort_mem_free(d);
}
