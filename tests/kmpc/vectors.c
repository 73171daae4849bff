/* RISC-V's V: members hold values in vector registers over what waits. The calling convention keeps none over a call.
 * So the compiler stores them, and the switch need not. */
#include "../check.h"

#include <omp.h>
#include <riscv_vector.h>

#define TURNS 100
#define MOST 2048 /* of 32 bits, in eight registers of 8192 bits */

static vint32m8_t made(int first, size_t n)
{
    vint32m8_t upwards = __riscv_vreinterpret_v_u32m8_i32m8(__riscv_vid_v_u32m8(n));
    return __riscv_vadd_vx_i32m8(upwards, first, n);
}

static void right(vint32m8_t values, int first, size_t n)
{
    static __thread int stored[MOST];
    CHECK(n <= MOST);
    __riscv_vse32_v_i32m8(stored, values, n);
    for (size_t i = 0; i < n; i++)
        CHECK(stored[i] == first + (int)i);
}

int main(void)
{
#pragma omp parallel num_threads(8)
    for (int turn = 0; turn < TURNS; turn++) {
        int mine = 1000 * omp_get_thread_num() + turn;
        size_t n = __riscv_vsetvlmax_e32m8();
        vint32m8_t values = made(mine, n);
#pragma omp barrier
        right(values, mine, n);
        values = made(-mine, n);
#pragma omp critical
        omp_get_level();
#pragma omp taskyield
        right(values, -mine, n);
    }
    return 0;
}
