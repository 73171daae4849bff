/* x86-64: a detour of an interrupted context. cpu.h has the contract, detour.S what runs.
 *
 * What processors save and restore of extended state at once is taken whole (xsave), since the interrupted code may be
 * anywhere in its own use of it. Processors without xsave have no detours. */
#define _GNU_SOURCE /* REG_RIP */
#include "atomic.h"
#include "cpu.h"

#include <cpuid.h>
#include <ucontext.h>

#define CPUID_OSXSAVE (1u << 27)
#define CPUID_XSAVE_AREA 0xd

/* Read by detour.S. Relaxed: the kernel thread that goes there has written them itself before, and every other one
 * writes the same values. */
__attribute__((visibility("hidden"))) _Atomic(cpu_detour_fn_type *) cpu_detour_fn;
__attribute__((visibility("hidden"))) _Atomic uint64_t cpu_detour_bytes;
__attribute__((visibility("hidden"))) _Atomic uint32_t cpu_detour_components;
void cpu_detour_entry(void);

uintptr_t cpu_detour(void *frame, cpu_detour_fn_type *fn)
{
    ucontext_t *uc = frame;
    uint32_t a, b, c, d, enabled;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & CPUID_OSXSAVE) ||
        !__get_cpuid_count(CPUID_XSAVE_AREA, 0, &a, &b, &c, &d))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(enabled), "=d"(d) : "c"(0));
    ps_store_relaxed(&cpu_detour_bytes, b);
    ps_store_relaxed(&cpu_detour_components, enabled);
    ps_store_relaxed(&cpu_detour_fn, fn);
    uintptr_t pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)cpu_detour_entry;
    return pc;
}
