/* The atomic functions: what each computes, and that none loses an update. The functions are called by name, as
 * compilers do that do not make the operations themselves. */
#include <complex.h>
#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#include "../omp/check.h"

typedef long double extended;
typedef float _Complex complex4;
typedef double _Complex complex8;
typedef long double _Complex complex10;

/* T x; f(x, b) makes it x op b; with capture, the old or the new value. */
#define UPDATE(T, type, op, a, b, result)                                             \
    do {                                                                              \
        void __kmpc_atomic_##type##_##op(void *, int, T *, T);                        \
        T __kmpc_atomic_##type##_##op##_cpt(void *, int, T *, T, int);                \
        T x = (T)(a);                                                                 \
        __kmpc_atomic_##type##_##op(0, 0, &x, (T)(b));                                \
        CHECK(x == (T)(result));                                                      \
        x = (T)(a);                                                                   \
        CHECK(__kmpc_atomic_##type##_##op##_cpt(0, 0, &x, (T)(b), 0) == (T)(a));      \
        CHECK(x == (T)(result));                                                      \
        x = (T)(a);                                                                   \
        CHECK(__kmpc_atomic_##type##_##op##_cpt(0, 0, &x, (T)(b), 1) == (T)(result)); \
    } while (0)
#define REVERSED(T, type, op, a, b, result)                                          \
    do {                                                                             \
        void __kmpc_atomic_##type##_##op##_rev(void *, int, T *, T);                 \
        T __kmpc_atomic_##type##_##op##_cpt_rev(void *, int, T *, T, int);           \
        T x = (T)(a);                                                                \
        __kmpc_atomic_##type##_##op##_rev(0, 0, &x, (T)(b));                         \
        CHECK(x == (T)(result));                                                     \
        x = (T)(a);                                                                  \
        CHECK(__kmpc_atomic_##type##_##op##_cpt_rev(0, 0, &x, (T)(b), 0) == (T)(a)); \
        CHECK(x == (T)(result));                                                     \
    } while (0)
#define ACCESS(T, type, a, b)                                                         \
    do {                                                                              \
        T __kmpc_atomic_##type##_rd(void *, int, T *);                                \
        T __kmpc_atomic_##type##_swp(void *, int, T *, T);                            \
        void __kmpc_atomic_##type##_wr(void *, int, T *, T);                          \
        T x = (T)(a);                                                                 \
        CHECK(__kmpc_atomic_##type##_rd(0, 0, &x) == (T)(a));                         \
        CHECK(__kmpc_atomic_##type##_swp(0, 0, &x, (T)(b)) == (T)(a) && x == (T)(b)); \
        __kmpc_atomic_##type##_wr(0, 0, &x, (T)(a));                                  \
        CHECK(x == (T)(a));                                                           \
    } while (0)
#define WITH_DOUBLE(T, type, op, a, b, result)                               \
    do {                                                                     \
        void __kmpc_atomic_##type##_##op##_float8(void *, int, T *, double); \
        T x = (T)(a);                                                        \
        __kmpc_atomic_##type##_##op##_float8(0, 0, &x, (b));                 \
        CHECK(x == (T)(result));                                             \
    } while (0)

#define INTEGERS(T, type, most)                               \
    UPDATE(T, type, add, 17, 5, 22);                          \
    UPDATE(T, type, add, most, 1, (T)((uint64_t)(most) + 1)); \
    UPDATE(T, type, sub, 5, 17, -12);                         \
    UPDATE(T, type, mul, -7, 6, -42);                         \
    UPDATE(T, type, div, -43, 6, -7);                         \
    UPDATE(T, type, andb, 12, 10, 8);                         \
    UPDATE(T, type, orb, 12, 10, 14);                         \
    UPDATE(T, type, xor, 12, 10, 6);                          \
    UPDATE(T, type, neqv, 12, 10, 6);                         \
    UPDATE(T, type, eqv, 12, 10, ~6);                         \
    UPDATE(T, type, andl, 12, 0, 0);                          \
    UPDATE(T, type, andl, 12, 3, 1);                          \
    UPDATE(T, type, orl, 0, 3, 1);                            \
    UPDATE(T, type, orl, 0, 0, 0);                            \
    UPDATE(T, type, shl, 3, 4, 48);                           \
    UPDATE(T, type, shr, -48, 4, -3);                         \
    UPDATE(T, type, min, 5, -3, -3);                          \
    UPDATE(T, type, min, -3, 5, -3);                          \
    UPDATE(T, type, max, 5, -3, 5);                           \
    UPDATE(T, type, max, -3, 5, 5);                           \
    REVERSED(T, type, sub, 5, 17, 12);                        \
    REVERSED(T, type, div, 6, 43, 7);                         \
    REVERSED(T, type, shl, 4, 3, 48);                         \
    REVERSED(T, type, shr, 4, 48, 3);                         \
    WITH_DOUBLE(T, type, mul, 10, 2.55, 25);                  \
    WITH_DOUBLE(T, type, div, 10, 2.5, 4);                    \
    ACCESS(T, type, 11, -12)

#define UNSIGNEDS(T, type, most)                 \
    UPDATE(T, type, div, most, 2, (most) / 2);   \
    UPDATE(T, type, shr, most, 1, (most) >> 1);  \
    REVERSED(T, type, div, 2, most, (most) / 2); \
    REVERSED(T, type, shr, 1, most, (most) >> 1)

#define REALS(T, type)                       \
    UPDATE(T, type, add, 1.5, 2.25, 3.75);   \
    UPDATE(T, type, sub, 1.5, 2.25, -0.75);  \
    UPDATE(T, type, mul, 1.5, 2.5, 3.75);    \
    UPDATE(T, type, div, 7.5, 2.5, 3);       \
    REVERSED(T, type, sub, 1.5, 2.25, 0.75); \
    REVERSED(T, type, div, 2.5, 7.5, 3);     \
    ACCESS(T, type, 1.5, -2.5)
#define ORDERED(T, type)               \
    UPDATE(T, type, min, 1.5, -2, -2); \
    UPDATE(T, type, max, 1.5, -2, 1.5)
#define COMPLEXES(T, type)                                    \
    UPDATE(T, type, add, 1 + 2 * I, 3 - I, 4 + I);            \
    UPDATE(T, type, sub, 1 + 2 * I, 3 - I, -2 + 3 * I);       \
    UPDATE(T, type, mul, 1 + 2 * I, 3 - I, 5 + 5 * I);        \
    UPDATE(T, type, div, -2 + 6 * I, 2 + 2 * I, 1 + 2 * I);   \
    REVERSED(T, type, sub, 1 + 2 * I, 3 - I, 2 - 3 * I);      \
    REVERSED(T, type, div, 2 + 2 * I, -2 + 6 * I, 1 + 2 * I); \
    ACCESS(T, type, 1 + 2 * I, -2.5 * I)

static void complex_of_eight_bytes(void)
{
    void __kmpc_atomic_cmplx4_add(void *, int, complex4 *, complex4);
    void __kmpc_atomic_cmplx4_sub_cpt(void *, int, complex4 *, complex4, complex4 *, int);
    void __kmpc_atomic_cmplx4_div_cpt_rev(void *, int, complex4 *, complex4, complex4 *, int);
    void __kmpc_atomic_cmplx4_mul_cmplx8(void *, int, complex4 *, complex8);
    void __kmpc_atomic_cmplx4_swp(void *, int, complex4 *, complex4, complex4 *);
    void __kmpc_atomic_cmplx4_wr(void *, int, complex4 *, complex4);
    complex4 __kmpc_atomic_cmplx4_rd(void *, int, complex4 *);
    complex4 x = 1 + 2 * I, out = 0;
    __kmpc_atomic_cmplx4_add(0, 0, &x, 3 - I);
    CHECK(x == 4 + I && __kmpc_atomic_cmplx4_rd(0, 0, &x) == x);
    __kmpc_atomic_cmplx4_sub_cpt(0, 0, &x, 3 - I, &out, 0);
    CHECK(x == 1 + 2 * I && out == 4 + I);
    __kmpc_atomic_cmplx4_mul_cmplx8(0, 0, &x, 3 - I);
    CHECK(x == 5 + 5 * I);
    __kmpc_atomic_cmplx4_wr(0, 0, &x, 2 + 2 * I);
    __kmpc_atomic_cmplx4_div_cpt_rev(0, 0, &x, -2 + 6 * I, &out, 1);
    CHECK(x == 1 + 2 * I && out == x);
    __kmpc_atomic_cmplx4_swp(0, 0, &x, 7, &out);
    CHECK(x == 7 && out == 1 + 2 * I);
}

static void plus16(void *new, void *old, void *rhs)
{
    long *n = new, *o = old, *r = rhs, low = o[0] + r[0], high = o[1] + r[1];
    n[0] = low;
    n[1] = high;
}
static void plus4(void *new, void *old, void *rhs) { *(int *)new = *(int *)old + *(int *)rhs; }

/* Each member adds 1 a thousand times to variables of every size. */
static void nothing_is_lost(void)
{
    void __kmpc_atomic_fixed1_add(void *, int, signed char *, signed char);
    void __kmpc_atomic_fixed8_add(void *, int, long *, long);
    void __kmpc_atomic_float8_add(void *, int, double *, double);
    void __kmpc_atomic_float10_add(void *, int, extended *, extended);
    void __kmpc_atomic_cmplx8_add(void *, int, complex8 *, complex8);
    void __kmpc_atomic_4(void *, int, void *, void *, void (*)(void *, void *, void *));
    void __kmpc_atomic_16(void *, int, void *, void *, void (*)(void *, void *, void *));
    void __kmpc_atomic_start(void), __kmpc_atomic_end(void);
    int __kmpc_global_thread_num(void *);
    int members = 0, four = 0;
    struct {
        signed char before, one, after;
    } small = {1, 0, 2};
    long eight = 0, sixteen[2] = {0, 0}, plain = 0;
    double real = 0;
    extended ten = 0;
    complex8 both = 0;
#pragma omp parallel
    {
#pragma omp single
        members = omp_get_num_threads();
        int one = 1, gtid = __kmpc_global_thread_num(0); /* by which libomp knows the threads that wait for its locks */
        long pair[2] = {1, -1};
        for (int i = 0; i < 1000; i++) {
            __kmpc_atomic_fixed1_add(0, gtid, &small.one, 1);
            __kmpc_atomic_fixed8_add(0, gtid, &eight, 1);
            __kmpc_atomic_float8_add(0, gtid, &real, 0.5);
            __kmpc_atomic_float10_add(0, gtid, &ten, 0.5L);
            __kmpc_atomic_cmplx8_add(0, gtid, &both, 1 - I);
            __kmpc_atomic_4(0, gtid, &four, &one, plus4);
            __kmpc_atomic_16(0, gtid, sixteen, pair, plus16);
            __kmpc_atomic_start();
            plain++;
            __kmpc_atomic_end();
        }
    }
    long all = 1000L * members;
    CHECK(small.before == 1 && small.after == 2 && small.one == (signed char)all);
    CHECK(eight == all && four == all && plain == all && real == 0.5 * (double)all && ten == 0.5L * all);
    CHECK(sixteen[0] == all && sixteen[1] == -all && both == all - all * I);
}

static void compared(void)
{
    bool __kmpc_atomic_bool_4_cas(void *, int, int *, int, int);
    int __kmpc_atomic_val_4_cas(void *, int, int *, int, int);
    bool __kmpc_atomic_bool_2_cas_cpt(void *, int, short *, short, short, short *);
    long __kmpc_atomic_val_8_cas_cpt(void *, int, long *, long, long, long *);
    int x = 1;
    CHECK(!__kmpc_atomic_bool_4_cas(0, 0, &x, 2, 3) && x == 1);
    CHECK(__kmpc_atomic_bool_4_cas(0, 0, &x, 1, 3) && x == 3);
    CHECK(__kmpc_atomic_val_4_cas(0, 0, &x, 3, 4) == 3 && x == 4);
    short s = 7, v = 0;
    CHECK(!__kmpc_atomic_bool_2_cas_cpt(0, 0, &s, 8, 9, &v) && s == 7 && v == 7);
    v = 0;
    CHECK(__kmpc_atomic_bool_2_cas_cpt(0, 0, &s, 7, 9, &v) && s == 9 && v == 0);
    long l = 5, w = 0;
    CHECK(__kmpc_atomic_val_8_cas_cpt(0, 0, &l, 5, 6, &w) == 5 && l == 6 && w == 6);
    CHECK(__kmpc_atomic_val_8_cas_cpt(0, 0, &l, 5, 7, &w) == 6 && l == 6 && w == 6);
}

int main(void)
{
    omp_set_dynamic(0); /* libomp wants to have been called before */
    INTEGERS(signed char, fixed1, INT8_MAX);
    INTEGERS(short, fixed2, INT16_MAX);
    INTEGERS(int, fixed4, INT32_MAX);
    INTEGERS(long, fixed8, INT64_MAX);
    UNSIGNEDS(unsigned char, fixed1u, UINT8_MAX);
    UNSIGNEDS(unsigned short, fixed2u, UINT16_MAX);
    UNSIGNEDS(unsigned int, fixed4u, UINT32_MAX);
    UNSIGNEDS(unsigned long, fixed8u, UINT64_MAX);
    REALS(float, float4);
    REALS(double, float8);
    REALS(extended, float10);
    ORDERED(float, float4);
    ORDERED(double, float8);
    ORDERED(extended, float10);
    WITH_DOUBLE(float, float4, add, 1.5, 0.25, 1.75);
    WITH_DOUBLE(float, float4, sub, 1.5, 0.25, 1.25);
    COMPLEXES(complex8, cmplx8);
    COMPLEXES(complex10, cmplx10);
    complex_of_eight_bytes();
    compared();
    nothing_is_lost();
    return 0;
}
