/* LLVM entry points: nests of loops that the runtime collapses for compiled code. Bounds may depend on an outer loop's
 * value.
 *
 * A level's bounds are lb0 + lb1 * v and ub0 + ub1 * v, where v is the value of the loop with the number `outer`. All
 * values are 64 bits wide, extended from the level's own type. The entry points change comparisons to <= or >= in place
 * (compiled code reads them back). Rectangular nests (..._rectang): one entry point stores each level's trip count and
 * returns the number of the nest's iterations; the other computes the loops' variables from the number of an iteration.
 * Any nest (__kmpc_for_collapsed_init): the entry point returns the calling thread's contiguous share. chunk->lb0 and
 * ub0 are the values at the share's first and last iteration; compiled code walks the nest from one to the other. To
 * find the share's ends, the entry point walks all loops except the innermost, so its cost grows with the iterations of
 * these loops. Rejected: libomp's expansion to the enclosing parallelepiped, which divides triangles unevenly. Layout:
 * bounds_info_t of openmp/runtime/src/kmp_collapse.h. Failures: a null pointer, no loop or more than LEVELS_MAX, a step
 * of 0, an unknown type or outer loop end the program with one line. */
#include "kmpc.h"

struct bounds {
    int32_t type; /* type of the bounds: bit 0: signed; the other bits: log2 of its bytes */
    int32_t iv_type;
    int32_t comparison;
    uint32_t outer;
    uint64_t lb0, lb1, ub0, ub1;
    int64_t step;
    uint64_t trip;
};
_Static_assert(sizeof(struct bounds) == 64, "bounds_info_t has 64 bytes");
enum { LESS_OR_EQUAL, GREATER_OR_EQUAL, NOT_EQUAL, LESS, GREATER };
#define LEVELS_MAX 64

/* Cuts v to the size of the type, and extends it to 64 bits with the type's sign. */
static uint64_t cut(int32_t type, uint64_t v)
{
    unsigned spare = 64 - (8u << (type >> 1));
    return type & 1 ? (uint64_t)((int64_t)(v << spare) >> spare) : v << spare >> spare;
}

static bool below(int32_t type, uint64_t a, uint64_t b) { return type & 1 ? (int64_t)a < (int64_t)b : a < b; }

static uint64_t least_value(int32_t type) { return type & 1 ? UINT64_MAX << ((8u << (type >> 1)) - 1) : 0; }
static uint64_t greatest_value(int32_t type) { return cut(type, least_value(type) - 1); }

/* A nest after `check`. Bit i of strict: level i was compared by < or >, so `check` has moved its upper bound by one.
 * If the bound was the type's least value (<) or greatest value (>), it has wrapped around, and the level is empty. */
struct nest {
    const struct bounds *level;
    uint32_t n;
    uint64_t strict;
};

static uint64_t lower_bound(const struct bounds *b, const uint64_t *ivs)
{
    return cut(b->type, b->lb0 + b->lb1 * ivs[b->outer]);
}

/* Returns the number of iterations of level i, when the loops around it have the values `ivs`. */
static uint64_t trips(const struct nest *nest, uint32_t i, const uint64_t *ivs)
{
    const struct bounds *b = &nest->level[i];
    uint64_t from = lower_bound(b, ivs), to = cut(b->type, b->ub0 + b->ub1 * ivs[b->outer]);
    bool up = b->comparison == LESS_OR_EQUAL, strict = nest->strict >> i & 1;
    if (strict && to == (up ? greatest_value(b->type) : least_value(b->type)))
        return 0;
    if (up)
        return below(b->type, to, from) ? 0 : (to - from) / (uint64_t)b->step + 1;
    return below(b->type, from, to) ? 0 : (from - to) / (0 - (uint64_t)b->step) + 1;
}

static struct nest check(const struct kmpc_location *at, const char *entry, struct bounds *level, uint32_t n)
{
    struct nest nest = {.level = level, .n = n};
    if (level == NULL || n == 0 || n > LEVELS_MAX)
        kmpc_fatal(at, entry, "no nest of loops");
    for (uint32_t i = 0; i < n; i++) {
        struct bounds *b = &level[i];
        if (b->step == 0 || b->type < 0 || b->type > 7 || b->outer >= n)
            kmpc_fatal(at, entry, "a loop of the nest has an increment of 0, or a type that there is not");
        if (b->comparison == NOT_EQUAL)
            b->comparison = b->step > 0 ? LESS : GREATER;
        if (b->comparison == LESS || b->comparison == GREATER) {
            nest.strict |= UINT64_C(1) << i;
            b->ub0 -= b->comparison == LESS ? 1 : UINT64_MAX;
        }
        b->comparison = b->step > 0 ? LESS_OR_EQUAL : GREATER_OR_EQUAL;
    }
    return nest;
}

PS_EXPORT uint64_t __kmpc_process_loop_nest_rectang(struct kmpc_location *at, PS_UNUSED int32_t gtid,
                                                    struct bounds *levels, int32_t n)
{
    static const uint64_t none[LEVELS_MAX];
    uint64_t all = 1;
    struct nest nest = check(at, "__kmpc_process_loop_nest_rectang", levels, (uint32_t)n);
    for (uint32_t i = 0; i < nest.n; i++)
        all *= levels[i].trip = trips(&nest, i, none);
    return all;
}

PS_EXPORT void __kmpc_calc_original_ivs_rectang(PS_UNUSED struct kmpc_location *at, uint64_t number,
                                                const struct bounds *nest, uint64_t *ivs, int32_t n)
{
    KMPC_NOT_NULL(at, nest, "the nest");
    KMPC_NOT_NULL(at, ivs, "the list of variables");
    for (int32_t i = n - 1; i >= 0; i--) {
        uint64_t trip = nest[i].trip != 0 ? nest[i].trip : 1;
        ivs[i] = cut(nest[i].iv_type, nest[i].lb0 + number % trip * (uint64_t)nest[i].step);
        number /= trip;
    }
}

/* Looks for iteration *number of the nest that `level` and the levels inside it form. ivs has the values of the loops
 * around. Returns true if the nest has the iteration, and stores its values in ivs. Otherwise subtracts the nest's
 * number of iterations from *number, and returns false. Adds to *all the iterations of each innermost loop that the
 * search reaches. */
static bool walk(const struct nest *nest, uint32_t level, uint64_t *ivs, uint64_t *number, uint64_t *all)
{
    const struct bounds *b = &nest->level[level];
    uint64_t trip = trips(nest, level, ivs), from = lower_bound(b, ivs);
    if (level + 1 == nest->n) {
        *all += trip;
        if (*number >= trip) {
            *number -= trip;
            return false;
        }
        ivs[level] = cut(b->iv_type, from + *number * (uint64_t)b->step);
        return true;
    }
    for (uint64_t i = 0; i < trip; i++) {
        ivs[level] = cut(b->iv_type, from + i * (uint64_t)b->step);
        if (walk(nest, level + 1, ivs, number, all))
            return true;
    }
    return false;
}

static void find_iteration(const struct nest *nest, uint64_t number, uint64_t *ivs)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < nest->n; i++)
        ivs[i] = 0;
    walk(nest, 0, ivs, &number, &all);
}

/* Returns 1 if the calling thread has iterations, else 0. */
PS_EXPORT int32_t __kmpc_for_collapsed_init(struct kmpc_location *at, PS_UNUSED int32_t gtid, struct bounds *levels,
                                            struct bounds *chunk, int32_t n, int32_t *last)
{
    const struct ort_thread *t = ort_self();
    uint64_t ivs[LEVELS_MAX] = {0}, all = 0, beyond = UINT64_MAX;
    struct nest nest = check(at, "__kmpc_for_collapsed_init", levels, (uint32_t)n);
    if (chunk == NULL)
        kmpc_fatal(at, "__kmpc_for_collapsed_init", "the chunk is a null pointer");
    walk(&nest, 0, ivs, &beyond, &all);
    uint64_t q = all / t->team->n, r = all % t->team->n, from = q * t->id + (t->id < r ? t->id : r),
             count = q + (t->id < r);
    if (last != NULL)
        *last = count != 0 && from + count == all;
    if (count == 0)
        return 0;
    for (uint32_t i = 0; i < nest.n; i++) {
        chunk[i] = levels[i];
        chunk[i].lb1 = chunk[i].ub1 = 0;
    }
    find_iteration(&nest, from, ivs);
    for (uint32_t i = 0; i < nest.n; i++)
        chunk[i].lb0 = ivs[i];
    find_iteration(&nest, from + count - 1, ivs);
    for (uint32_t i = 0; i < nest.n; i++)
        chunk[i].ub0 = ivs[i];
    return 1;
}
