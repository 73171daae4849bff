/* x86-64: the thread pointer, by an instruction where the kernel allows it, else by the kernel. */
#include "atomic.h"
#include "cpu.h"

#include <sys/auxv.h>
#include <sys/syscall.h>

#define ARCH_SET_FS 0x1002 /* of arch_prctl; musl comes without the kernel's headers */
#define HWCAP2_FSGSBASE 2u /* the kernel lets user mode write fs's base */

enum { UNKNOWN, USER_MODE, BY_KERNEL };
_Atomic int cpu_x86_user_tp;
static _Atomic int how; /* relaxed: every writer writes the same value */

static bool user_mode(void)
{
    int known = ps_load_relaxed(&how);
    if (PS_UNLIKELY(known == UNKNOWN)) {
        known = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE ? USER_MODE : BY_KERNEL;
        ps_store_relaxed(&how, known);
        ps_store_relaxed(&cpu_x86_user_tp, known == USER_MODE);
    }
    return known == USER_MODE;
}

bool cpu_tp_settable(void)
{
    user_mode();
    return true; /* arch_prctl is always there */
}

void *cpu_get_tp(void)
{
    void *tp;
    __asm__ volatile("movq %%fs:0, %0" : "=r"(tp)); /* the ABI: the word there points to itself */
    return tp;
}

void cpu_set_tp(void *tp)
{
    if (PS_LIKELY(user_mode())) {
        __asm__ volatile("wrfsbase %0" : : "r"(tp) : "memory");
    } else { /* not by the C library: its thread is about to be another one */
        long result;
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(tp)
                         : "rcx", "r11", "memory");
    }
}
