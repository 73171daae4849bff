/* AArch64: the thread pointer. */
#include "cpu.h"

bool cpu_tp_settable(void) { return true; }

void *cpu_get_tp(void)
{
    void *tp;
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(tp));
    return tp;
}

void cpu_set_tp(void *tp) { __asm__ volatile("msr tpidr_el0, %0" : : "r"(tp) : "memory"); }
