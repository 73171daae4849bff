/* x86-64: sets the x87 unit's control word, and its status flags if they are kept. cpu.h has the contract. */
#include "atomic.h"
#include "cpu.h"

_Atomic bool cpu_x86_keeps_flags; /* also read by switch.S */

struct environment { /* the layout that fnstenv writes */
    uint16_t control, unused, status, unused_too;
    uint32_t rest[5];
};

void cpu_x86_set_x87(const struct cpu_float *state)
{
    struct environment x87;
    if (!cpu_float_flags_kept()) {
        __asm__ volatile("fldcw %0" : : "m"(state->x87cw));
        return;
    }
    __asm__ volatile("fnstenv %0" : "=m"(x87));
    x87.control = state->x87cw;
    x87.status = (uint16_t)((x87.status & ~0xffu) | state->x87sw);
    __asm__ volatile("fldenv %0" : : "m"(x87));
}
