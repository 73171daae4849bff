/* LLVM entry points: ordered(n) with depend(source) and depend(sink), doacross(source:) and doacross(sink:).
 *
 * Here the nest is apart from the loop that hands its iterations out (which may be static, without any state): so each
 * nest has a bit for each iteration, numbered in the order of the nest, set when the iteration has been posted. Who
 * waits long sleeps on the bit's word.
 *
 * The bits are got by the member that comes first; the others find them through the construct's slot, which all leave
 * at once. The last member that finishes the nest frees them.
 * Shared fields: bits (fetch-or, release; read with acquire), left (acq_rel: the last has seen that nobody looks any
 * more).
 * Failures: no memory: aborts with one line. A position outside of the nest is no dependence (OpenMP 5.2 section
 * 15.9.6).
 * Cost: two allocations a nest; a read-modify-write and a fence a post. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "emergency_pool.h"
#include "kmpc.h"
#include "race.h"

struct nest {
    _Atomic uint32_t left;
    _Atomic uint32_t bits[];
};

/* The calling member's view. */
struct kmpc_doacross {
    struct kmpc_doacross *outer;
    struct nest *nest; /* NULL: a team of one, or no iterations */
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

static struct nest *make_nest(uint64_t iterations, unsigned members)
{
    struct nest *nest = NULL;
    uint64_t words = iterations / 32 + 1;
    if (words < SIZE_MAX / 8)
        nest = ort_mem_zeroed(sizeof *nest + words * sizeof nest->bits[0]);
    PS_CHECK(nest != NULL, "no memory for a doacross nest of %llu iterations", (unsigned long long)iterations);
    atomic_init(&nest->left, members);
    return nest;
}

/* The nest that the members share: of the first one that comes. */
static struct nest *meet(struct ort_thread *t, uint64_t iterations)
{
    void *mem = (void *)sizeof(struct nest *);
    struct ort_loop_extra extra = {.mem = &mem};
    bool first = ort_ws_enter(t);
    ort_ws_extra(t, &extra, first);
    struct nest *nest;
    if (first) {
        nest = make_nest(iterations, t->team->n);
        memcpy(mem, &nest, sizeof nest);
        ort_ws_ready(t);
    } else {
        memcpy(&nest, mem, sizeof nest);
    }
    ort_ws_leave(t);
    return nest;
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
    d->nest = t->team->n > 1 && iterations != 0 ? meet(t, iterations) : NULL;
    struct kmpc_thread *k = kmpc_thread(ort_self());
    d->outer = k->doacross;
    k->doacross = d;
}

/* The bit of a position; false: it is outside of the nest. */
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

PS_EXPORT void __kmpc_doacross_wait(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid, const int64_t *position)
{
    KMPC_NOT_NULL(at, position, "the position");
    const struct kmpc_doacross *d = kmpc_thread(ort_self())->doacross;
    uint64_t number;
    if (d == NULL || d->nest == NULL || !kmpc_position_number(d, position, &number))
        return;
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_position(ort_self(), false, (const uint64_t *)position, d->dims);
    _Atomic uint32_t *word = &d->nest->bits[number / 32];
    uint32_t bit = UINT32_C(1) << number % 32;
    for (uint32_t seen; !((seen = ps_load_acquire(word)) & bit);)
        ee_wait(word, seen);
    ps_race_acquire(word);
}

PS_EXPORT void __kmpc_doacross_post(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid, const int64_t *position)
{
    KMPC_NOT_NULL(at, position, "the position");
    const struct kmpc_doacross *d = kmpc_thread(ort_self())->doacross;
    uint64_t number;
    if (d == NULL || d->nest == NULL || !kmpc_position_number(d, position, &number))
        return;
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_position(ort_self(), true, (const uint64_t *)position, d->dims);
    _Atomic uint32_t *word = &d->nest->bits[number / 32];
    ps_race_release(word);
    ps_or_acq_rel(word, UINT32_C(1) << number % 32);
    ee_wake(word, UINT_MAX);
}

PS_EXPORT void __kmpc_doacross_fini(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid)
{
    struct kmpc_thread *k = kmpc_thread(ort_self());
    struct kmpc_doacross *d = k->doacross;
    if (d == NULL)
        return;
    k->doacross = d->outer;
    if (d->nest != NULL && ps_sub_acq_rel(&d->nest->left, 1) == 1)
        ort_mem_free(d->nest);
    ort_mem_free(d);
}
