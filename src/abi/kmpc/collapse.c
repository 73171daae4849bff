/* LLVM entry points: nests of loops that compiled code has the runtime collapse, bounds depending on an outer loop's
 * value or not.
 *
 * A level's bounds are lb0 + lb1 * v and ub0 + ub1 * v, v being the value of the loop outer_iv. All values are 64 bits
 * wide, made of the level's own type. The entry points bring comparisons to <= or >= in place (the compiler reads them
 * back) and write trip counts.
 * Rectangular: the number of the nest's iterations, and the values that belong to one of them.
 * Any: the calling thread's contiguous share; chunk->lb0 and ub0 are the values at its first and its last iteration,
 * and compiled code walks the nest from one to the other. The share's ends are found by walking the loops but the
 * innermost: cost, the iterations of those. Rejected: libomp's expansion to the enclosing parallelepiped, which divides
 * triangles unevenly.
 * Layout: bounds_info_t of openmp/runtime/src/kmp_collapse.h. Failures: no memory, or a step of 0: aborts with one
 * line. */
#include "kmpc.h"

struct bounds {
    int32_t type; /* what the bounds are: bit 0: signed, the others: log2 of its bytes */
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

/* A value of the type in 64 bits, with its sign. */
static uint64_t cut(int32_t type, uint64_t v)
{
    unsigned spare = 64 - (8u << (type >> 1));
    return type & 1 ? (uint64_t)((int64_t)(v << spare) >> spare) : v << spare >> spare;
}

static bool below(int32_t type, uint64_t a, uint64_t b) { return type & 1 ? (int64_t)a < (int64_t)b : a < b; }

static uint64_t lower_bound(const struct bounds *b, const uint64_t *ivs)
{
    return cut(b->type, b->lb0 + b->lb1 * ivs[b->outer]);
}

/* Iterations of the level, its outer loops at ivs. */
static uint64_t trips(const struct bounds *b, const uint64_t *ivs)
{
    uint64_t from = lower_bound(b, ivs), to = cut(b->type, b->ub0 + b->ub1 * ivs[b->outer]);
    if (b->comparison == LESS_OR_EQUAL)
        return below(b->type, to, from) ? 0 : (to - from) / (uint64_t)b->step + 1;
    return below(b->type, from, to) ? 0 : (from - to) / (0 - (uint64_t)b->step) + 1;
}

static void check(const struct kmpc_location *at, const char *entry, struct bounds *nest, uint32_t n)
{
    if (nest == NULL || n == 0 || n > LEVELS_MAX)
        kmpc_fatal(at, entry, "no nest of loops");
    for (uint32_t i = 0; i < n; i++) {
        struct bounds *b = &nest[i];
        if (b->step == 0 || b->type < 0 || b->type > 7 || b->outer >= n)
            kmpc_fatal(at, entry, "a loop of the nest has an increment of 0, or a type that there is not");
        if (b->comparison == NOT_EQUAL)
            b->comparison = b->step > 0 ? LESS : GREATER;
        if (b->comparison == LESS && !(b->type & 1) && b->ub0 == 0 && b->ub1 == 0)
            b->lb0 = 1, b->lb1 = 0; /* empty: there is nothing below 0 */
        else if (b->comparison == LESS)
            b->ub0--;
        else if (b->comparison == GREATER)
            b->ub0++;
        b->comparison = b->step > 0 ? LESS_OR_EQUAL : GREATER_OR_EQUAL;
    }
}

PS_EXPORT uint64_t __kmpc_process_loop_nest_rectang(struct kmpc_location *at, PS_UNUSED int32_t gtid,
                                                    struct bounds *nest, int32_t n)
{
    static const uint64_t none[LEVELS_MAX];
    uint64_t all = 1;
    check(at, "__kmpc_process_loop_nest_rectang", nest, (uint32_t)n);
    for (int32_t i = 0; i < n; i++)
        all *= nest[i].trip = trips(&nest[i], none);
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

/* Walks levels 0 .. n-2; *number is what is left of the iteration looked for, whose values ivs gets. Adds up what it
 * passes; true: found. */
static bool walk(const struct bounds *nest, uint32_t level, uint32_t n, uint64_t *ivs, uint64_t *number, uint64_t *all)
{
    uint64_t trip = trips(&nest[level], ivs), from = lower_bound(&nest[level], ivs);
    if (level + 1 == n) {
        *all += trip;
        if (*number >= trip) {
            *number -= trip;
            return false;
        }
        ivs[level] = cut(nest[level].iv_type, from + *number * (uint64_t)nest[level].step);
        return true;
    }
    for (uint64_t i = 0; i < trip; i++) {
        ivs[level] = cut(nest[level].iv_type, from + i * (uint64_t)nest[level].step);
        if (walk(nest, level + 1, n, ivs, number, all))
            return true;
    }
    return false;
}

static void find_iteration(const struct bounds *nest, uint32_t n, uint64_t number, uint64_t *ivs)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < n; i++)
        ivs[i] = 0;
    walk(nest, 0, n, ivs, &number, &all);
}

/* 1: the calling thread has iterations. */
PS_EXPORT int32_t __kmpc_for_collapsed_init(struct kmpc_location *at, PS_UNUSED int32_t gtid, struct bounds *nest,
                                            struct bounds *chunk, int32_t n, int32_t *last)
{
    const struct ort_thread *t = ort_self();
    uint64_t ivs[LEVELS_MAX] = {0}, all = 0, beyond = UINT64_MAX, levels = (uint64_t)n;
    check(at, "__kmpc_for_collapsed_init", nest, (uint32_t)n);
    if (chunk == NULL)
        kmpc_fatal(at, "__kmpc_for_collapsed_init", "the chunk is a null pointer");
    walk(nest, 0, (uint32_t)n, ivs, &beyond, &all);
    uint64_t q = all / t->team->n, r = all % t->team->n, from = q * t->id + (t->id < r ? t->id : r),
             count = q + (t->id < r);
    if (last != NULL)
        *last = count != 0 && from + count == all;
    if (count == 0)
        return 0;
    for (uint64_t i = 0; i < levels; i++) {
        chunk[i] = nest[i];
        chunk[i].lb1 = chunk[i].ub1 = 0;
    }
    find_iteration(nest, (uint32_t)n, from, ivs);
    for (uint64_t i = 0; i < levels; i++)
        chunk[i].lb0 = ivs[i];
    find_iteration(nest, (uint32_t)n, from + count - 1, ivs);
    for (uint64_t i = 0; i < levels; i++)
        chunk[i].ub0 = ivs[i];
    return 1;
}
