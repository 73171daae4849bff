/* LLVM entry points: atomic operations that compiled code does not do by itself.
 *
 * The functions are made from one list for each kind of type. <type>_<operation> updates. .._cpt ("capture") also
 * returns a value: the new one if `flag` is set, else the old one. .._rev exchanges the operands. .._swp exchanges
 * values, .._rd and .._wr read and write. Types of up to eight bytes are updated by compare-and-swap, sums of integers
 * by an atomic addition (acq_rel; compiled code adds the flushes that a seq_cst clause asks for). Larger types and
 * cmplx4 are updated under a lock, which the variable's address chooses. So all functions that get an address and lock
 * take the same lock for a variable, whatever they call its type. __kmpc_atomic_start and __kmpc_atomic_end get no
 * address: they use one lock of their own for all variables. Cost: a load and a compare-and-swap, or one addition;
 * under a lock two atomic operations, to take it and to free it. OpenMP 5.2 section 15.8.4. */
#include <complex.h>
#include <string.h>

#include "kmpc.h"
#include "lock.h"
#include "own_lock.h"

#define HEAD PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid

#define LOCKS 64
static struct {
    PS_LINE_ALIGNED _Atomic uint32_t word;
} locks[LOCKS];

ORT_CHILD_FREES(locks_of_a_child, locks, LOCKS, sizeof locks[0])

static _Atomic uint32_t *atomic_lock(const void *p) { return &locks[((uintptr_t)p >> 4) % LOCKS].word; }

/* Both replace the value at p by that of the expression: CAS by a compare-and-swap, LOCK under the lock of the
 * variable. `old` and `new` are the values before and after; the expression may use `old`. I: the integer type of T's
 * size, for CAS. */
#define CAS(T, I, p, expression)                \
    _Atomic I *word = (_Atomic I *)(void *)(p); \
    I seen = ps_load_relaxed(word), wanted;     \
    PS_UNUSED T old, new;                       \
    do {                                        \
        memcpy(&old, &seen, sizeof old);        \
        new = (T)(expression);                  \
        memcpy(&wanted, &new, sizeof wanted);   \
    } while (!ps_cas_acq_rel(word, &seen, wanted))
#define LOCK(T, I, p, expression)                  \
    _Atomic uint32_t *lock = atomic_lock(p);       \
    ort_lock_inline(lock);                         \
    PS_UNUSED T old = *(p), new = (T)(expression); \
    *(p) = new;                                    \
    ort_unlock_inline(lock)

#define PLAIN(how, T, I, name, R, expression) \
    PS_EXPORT void __kmpc_atomic_##name(HEAD, T *p, R rhs) { how(T, I, p, expression); }
#define CAPTURE(how, T, I, name, R, expression)                   \
    PS_EXPORT T __kmpc_atomic_##name(HEAD, T *p, R rhs, int flag) \
    {                                                             \
        how(T, I, p, expression);                                 \
        return flag ? new : old;                                  \
    }
#define OP(how, T, I, type, op, expression)      \
    PLAIN(how, T, I, type##_##op, T, expression) \
    CAPTURE(how, T, I, type##_##op##_cpt, T, expression)
#define OP_REV(how, T, I, type, op, expression)        \
    PLAIN(how, T, I, type##_##op##_rev, T, expression) \
    CAPTURE(how, T, I, type##_##op##_cpt_rev, T, expression)
#define ACCESS(how, T, I, type)                               \
    PS_EXPORT T __kmpc_atomic_##type##_rd(HEAD, T *p)         \
    {                                                         \
        how(T, I, p, old);                                    \
        return new;                                           \
    }                                                         \
    PS_EXPORT T __kmpc_atomic_##type##_swp(HEAD, T *p, T rhs) \
    {                                                         \
        how(T, I, p, rhs);                                    \
        return old;                                           \
    }                                                         \
    PS_EXPORT void __kmpc_atomic_##type##_wr(HEAD, T *p, T rhs) { how(T, I, p, rhs); }

/* --- integers: computed modulo 2^64, then cut to the type's size --- */

#define U64(x) ((uint64_t)(x))

/* Sums use the processor's atomic addition. by: what is added. */
#define SUM(T, I, type, op, by)                                                                                        \
    PS_EXPORT void __kmpc_atomic_##type##_##op(HEAD, T *p, T rhs) { ps_add_acq_rel((_Atomic I *)(void *)p, (I)(by)); } \
    PS_EXPORT T __kmpc_atomic_##type##_##op##_cpt(HEAD, T *p, T rhs, int flag)                                         \
    {                                                                                                                  \
        I seen = ps_add_acq_rel((_Atomic I *)(void *)p, (I)(by));                                                      \
        return (T)(flag ? (I)(seen + (I)(by)) : seen);                                                                 \
    }

#define INTEGER(type, T, I)                                \
    SUM(T, I, type, add, U64(rhs))                         \
    SUM(T, I, type, sub, -U64(rhs))                        \
    OP(CAS, T, I, type, mul, U64(old) * U64(rhs))          \
    OP(CAS, T, I, type, div, old / rhs)                    \
    OP(CAS, T, I, type, andb, old &rhs)                    \
    OP(CAS, T, I, type, orb, old | rhs)                    \
    OP(CAS, T, I, type, xor, old ^ rhs)                    \
    OP(CAS, T, I, type, shl, U64(old) << rhs)              \
    OP(CAS, T, I, type, shr, old >> rhs)                   \
    OP(CAS, T, I, type, andl, old &&rhs)                   \
    OP(CAS, T, I, type, orl, old || rhs)                   \
    OP(CAS, T, I, type, eqv, ~(old ^ rhs))                 \
    OP(CAS, T, I, type, neqv, old ^ rhs)                   \
    OP(CAS, T, I, type, min, rhs < old ? rhs : old)        \
    OP(CAS, T, I, type, max, rhs > old ? rhs : old)        \
    OP_REV(CAS, T, I, type, sub, U64(rhs) - U64(old))      \
    OP_REV(CAS, T, I, type, div, rhs / old)                \
    OP_REV(CAS, T, I, type, shl, U64(rhs) << old)          \
    OP_REV(CAS, T, I, type, shr, rhs >> old)               \
    PLAIN(CAS, T, I, type##_mul_float8, double, old *rhs)  \
    PLAIN(CAS, T, I, type##_div_float8, double, old / rhs) \
    ACCESS(CAS, T, I, type)

INTEGER(fixed1, int8_t, uint8_t)
INTEGER(fixed2, int16_t, uint16_t)
INTEGER(fixed4, int32_t, uint32_t)
INTEGER(fixed8, int64_t, uint64_t)

#define UNSIGNED(type, T)                   \
    OP(CAS, T, T, type, div, old / rhs)     \
    OP(CAS, T, T, type, shr, old >> rhs)    \
    OP_REV(CAS, T, T, type, div, rhs / old) \
    OP_REV(CAS, T, T, type, shr, rhs >> old)

UNSIGNED(fixed1u, uint8_t)
UNSIGNED(fixed2u, uint16_t)
UNSIGNED(fixed4u, uint32_t)
UNSIGNED(fixed8u, uint64_t)

/* --- floating point --- */

#define ARITHMETIC(how, type, T, I)         \
    OP(how, T, I, type, add, old + rhs)     \
    OP(how, T, I, type, sub, old - rhs)     \
    OP(how, T, I, type, mul, old *rhs)      \
    OP(how, T, I, type, div, old / rhs)     \
    OP_REV(how, T, I, type, sub, rhs - old) \
    OP_REV(how, T, I, type, div, rhs / old) \
    ACCESS(how, T, I, type)
#define ORDER(how, type, T, I)                      \
    OP(how, T, I, type, min, rhs < old ? rhs : old) \
    OP(how, T, I, type, max, rhs > old ? rhs : old)
#define MIXED(how, type, T, I, suffix, R)               \
    PLAIN(how, T, I, type##_add_##suffix, R, old + rhs) \
    PLAIN(how, T, I, type##_sub_##suffix, R, old - rhs) \
    PLAIN(how, T, I, type##_mul_##suffix, R, old *rhs)  \
    PLAIN(how, T, I, type##_div_##suffix, R, old / rhs)

ARITHMETIC(CAS, float4, float, uint32_t)
ARITHMETIC(CAS, float8, double, uint64_t)
ARITHMETIC(LOCK, float10, long double, )
ORDER(CAS, float4, float, uint32_t)
ORDER(CAS, float8, double, uint64_t)
ORDER(LOCK, float10, long double, )
MIXED(CAS, float4, float, uint32_t, float8, double)

ARITHMETIC(LOCK, cmplx8, double _Complex, )
ARITHMETIC(LOCK, cmplx10, long double _Complex, )

/* Variables of type cmplx4 have eight bytes, but need a lock, since they are aligned to four only. A captured value is
 * returned through a pointer, except by rd. */
typedef float _Complex cmplx4;
MIXED(LOCK, cmplx4, cmplx4, , cmplx8, double _Complex)

#define CAPTURE_OUT(name, expression)                                                       \
    PS_EXPORT void __kmpc_atomic_##name(HEAD, cmplx4 *p, cmplx4 rhs, cmplx4 *out, int flag) \
    {                                                                                       \
        LOCK(cmplx4, , p, expression);                                                      \
        *out = flag ? new : old;                                                            \
    }
#define OP_OUT(op, expression)                             \
    PLAIN(LOCK, cmplx4, , cmplx4_##op, cmplx4, expression) \
    CAPTURE_OUT(cmplx4_##op##_cpt, expression)
#define OP_OUT_REV(op, expression)                               \
    PLAIN(LOCK, cmplx4, , cmplx4_##op##_rev, cmplx4, expression) \
    CAPTURE_OUT(cmplx4_##op##_cpt_rev, expression)
OP_OUT(add, old + rhs)
OP_OUT(sub, old - rhs)
OP_OUT(mul, old *rhs)
OP_OUT(div, old / rhs)
OP_OUT_REV(sub, rhs - old)
OP_OUT_REV(div, rhs / old)

PLAIN(LOCK, cmplx4, , cmplx4_wr, cmplx4, rhs)
PS_EXPORT cmplx4 __kmpc_atomic_cmplx4_rd(HEAD, cmplx4 *p)
{
    LOCK(cmplx4, , p, old);
    return new;
}
PS_EXPORT void __kmpc_atomic_cmplx4_swp(HEAD, cmplx4 *p, cmplx4 rhs, cmplx4 *out)
{
    LOCK(cmplx4, , p, rhs);
    *out = old;
}

/* --- compare and swap --- */

/* Stores d if the value is e. Returns the old value. */
#define COMPARE(bytes, T)                                                                                           \
    static T compare_##bytes(T *p, T e, T d)                                                                        \
    {                                                                                                               \
        ps_cas_acq_rel((_Atomic T *)p, &e, d);                                                                      \
        return e;                                                                                                   \
    }                                                                                                               \
    PS_EXPORT bool __kmpc_atomic_bool_##bytes##_cas(HEAD, T *p, T e, T d) { return compare_##bytes(p, e, d) == e; } \
    PS_EXPORT T __kmpc_atomic_val_##bytes##_cas(HEAD, T *p, T e, T d) { return compare_##bytes(p, e, d); }          \
    /* Stores the old value in *captured if it is not e. */                                                         \
    PS_EXPORT bool __kmpc_atomic_bool_##bytes##_cas_cpt(HEAD, T *p, T e, T d, T *captured)                          \
    {                                                                                                               \
        T old = compare_##bytes(p, e, d);                                                                           \
        if (old != e)                                                                                               \
            *captured = old;                                                                                        \
        return old == e;                                                                                            \
    }                                                                                                               \
    /* Stores the value after the operation in *captured. */                                                        \
    PS_EXPORT T __kmpc_atomic_val_##bytes##_cas_cpt(HEAD, T *p, T e, T d, T *captured)                              \
    {                                                                                                               \
        T old = compare_##bytes(p, e, d);                                                                           \
        *captured = old == e ? d : old;                                                                             \
        return old;                                                                                                 \
    }
COMPARE(1, int8_t)
COMPARE(2, int16_t)
COMPARE(4, int32_t)
COMPARE(8, int64_t)

/* --- any operation: f(new, old, rhs) --- */

typedef void (*operation)(void *new, void *old, void *rhs);

#define ANY(bytes, I)                                                           \
    PS_EXPORT void __kmpc_atomic_##bytes(HEAD, void *p, void *rhs, operation f) \
    {                                                                           \
        _Atomic I *word = p;                                                    \
        I old = ps_load_relaxed(word), new;                                     \
        do                                                                      \
            f(&new, &old, rhs);                                                 \
        while (!ps_cas_acq_rel(word, &old, new));                               \
    }
ANY(1, uint8_t)
ANY(2, uint16_t)
ANY(4, uint32_t)
ANY(8, uint64_t)

#define ANY_LOCKED(bytes)                                                       \
    PS_EXPORT void __kmpc_atomic_##bytes(HEAD, void *p, void *rhs, operation f) \
    {                                                                           \
        _Atomic uint32_t *lock = atomic_lock(p);                                \
        ort_lock_inline(lock);                                                  \
        f(p, p, rhs);                                                           \
        ort_unlock_inline(lock);                                                \
    }
ANY_LOCKED(10)
ANY_LOCKED(16)
ANY_LOCKED(20)
ANY_LOCKED(32)

/* Compiled code calls these around operations that no function above does. */
static _Atomic uint32_t region;
ORT_CHILD_FREES(region_of_a_child, &region, 1, sizeof region)
PS_EXPORT void __kmpc_atomic_start(void) { ort_lock_inline(&region); }
PS_EXPORT void __kmpc_atomic_end(void) { ort_unlock_inline(&region); }
