/* RISC-V, 64 bits or 32: the thread pointer. */
#include "cpu.h"

bool cpu_tp_settable(void) { return true; }

void *cpu_get_tp(void)
{
    void *tp;
    __asm__ volatile("mv %0, tp" : "=r"(tp));
    return tp;
}

void cpu_set_tp(void *tp) { __asm__ volatile("mv tp, %0" : : "r"(tp) : "tp", "memory"); }
