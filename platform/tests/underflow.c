// Products and quotients about the least normal number, with the flags that they raise: where tininess is detected
// before rounding, some of them are others. kernels.py compares what two builds of the simulator print.
#include "manycore.h"
#include <stdio.h>

static const uint32_t numbers[] = {0x007fffff, 0x00800000, 0x00800001, 0x3f7fffff, 0x3f800000, 0x3f800001,
                                   0x3f7ffffe, 0x3f800002, 0x3effffff, 0x00ffffff, 0x40000001, 0x80800000};
#define N (sizeof numbers / sizeof *numbers)

#define DO(operation, mode, a, b, result, flags)                                                \
    __asm__ volatile("csrw fflags, zero\n " operation " %0, %2, %3, " mode "\n csrr %1, fflags" \
                     : "=f"(result), "=r"(flags)                                                \
                     : "f"(a), "f"(b))

int main(void)
{
    for (unsigned i = 0; i < N * N; i++) {
        union {
            uint32_t bits;
            float f;
        } a = {numbers[i / N]}, b = {numbers[i % N]}, r[4];
        uint32_t flags[4];
        DO("fmul.s", "rne", a.f, b.f, r[0].f, flags[0]);
        DO("fmul.s", "rup", a.f, b.f, r[1].f, flags[1]);
        DO("fdiv.s", "rne", a.f, b.f, r[2].f, flags[2]);
        DO("fmul.s", "rmm", a.f, b.f, r[3].f, flags[3]);
        for (int k = 0; k < 4; k++)
            printf("%08lx %lx ", (unsigned long)r[k].bits, (unsigned long)flags[k]);
    }
    return 0;
}
