/* For calls.py: loops with a static schedule and atomic operations, each kind in a function of its own (measured_...)
 * that runs in a team of two, where nothing takes the short way of a serialized region. */
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

typedef double _Complex complex16;
void __kmpc_atomic_fixed4_add(void *at, int32_t gtid, int32_t *target, int32_t value);
void __kmpc_atomic_fixed8_xor(void *at, int32_t gtid, int64_t *target, int64_t value);
void __kmpc_atomic_float8_mul(void *at, int32_t gtid, double *target, double value);
void __kmpc_atomic_float10_add(void *at, int32_t gtid, long double *target, long double value);
void __kmpc_atomic_cmplx8_add(void *at, int32_t gtid, complex16 *target, complex16 value);
int32_t __kmpc_global_thread_num(void *at);

static int32_t i4;
static int64_t i8;
static double f8 = 1;
static long double f10;
static complex16 c8;
static volatile long sink;

NOINLINE void measured_static(long n)
{
    for (long r = 0; r < n; r++) {
#pragma omp for schedule(static) nowait
        for (int i = 0; i < 2; i++)
            sink = i;
    }
}
NOINLINE void measured_chunked(long n)
{
    for (long r = 0; r < n; r++) {
#pragma omp for schedule(static, 1) nowait
        for (int i = 0; i < 2; i++)
            sink = i;
    }
}
NOINLINE void measured_unsigned_long(long n)
{
    for (long r = 0; r < n; r++) {
#pragma omp for schedule(static) nowait
        for (uint64_t i = 0; i < 2; i++)
            sink = (long)i;
    }
}
#define ATOMIC(name, call)                             \
    NOINLINE void measured_##name(long n)              \
    {                                                  \
        int32_t gtid = __kmpc_global_thread_num(NULL); \
        for (long r = 0; r < n; r++)                   \
            call;                                      \
    }
ATOMIC(fixed4, __kmpc_atomic_fixed4_add(NULL, gtid, &i4, 1))
ATOMIC(fixed8, __kmpc_atomic_fixed8_xor(NULL, gtid, &i8, r))
ATOMIC(float8, __kmpc_atomic_float8_mul(NULL, gtid, &f8, 1.0))
ATOMIC(float10, __kmpc_atomic_float10_add(NULL, gtid, &f10, 1.0L))
ATOMIC(cmplx8, __kmpc_atomic_cmplx8_add(NULL, gtid, &c8, 1.0))

int main(int argc, char **argv)
{
    static void (*const kinds[])(long n) = {measured_static, measured_chunked, measured_unsigned_long, measured_fixed4,
                                            measured_fixed8, measured_float8,  measured_float10,       measured_cmplx8};
    long n = argc > 1 ? atol(argv[1]) : 1;
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
#pragma omp parallel num_threads(2)
        for (int turn = 0; turn < 2; turn++) { /* one after the other: no thread waits for a lock */
            if (turn == omp_get_thread_num())
                kinds[k](n);
#pragma omp barrier
        }
    }
    return 0;
}
