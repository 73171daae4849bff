/* x86-64: the thread pointer is set by an instruction if the kernel allows that, and by a system call if not. */
#include "atomic.h"
#include "cpu.h"

#include <sys/auxv.h>
#include <sys/syscall.h>

#define ARCH_SET_FS 0x1002 /* arch_prctl's code; musl comes without the kernel's header that has it */
#define HWCAP2_FSGSBASE 2u /* bit of HWCAP2: user mode may write the base of fs */

enum { UNKNOWN, USER_MODE, BY_KERNEL };
_Atomic int cpu_x86_user_tp;
static _Atomic int how; /* relaxed: every thread that writes it writes the same value */

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
    return true; /* without wrfsbase there is arch_prctl */
}

void *cpu_get_tp(void)
{
    void *tp;
    __asm__ volatile("movq %%fs:0, %0" : "=r"(tp)); /* by the ABI this word holds its own address */
    return tp;
}

void cpu_set_tp(void *tp)
{
    if (PS_LIKELY(user_mode())) {
        __asm__ volatile("wrfsbase %0" : : "r"(tp) : "memory");
    } else {
        /* A direct system call, not the C library's: once the thread pointer has changed, the C library takes its
         * caller for another thread. */
        long result;
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(tp)
                         : "rcx", "r11", "memory");
    }
}
