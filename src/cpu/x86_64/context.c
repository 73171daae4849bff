/* x86-64: the first frame of a context, and the thread pointer. Layout: cpu_port.h. */
#include "atomic.h"
#include "cpu.h"

#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#define HWCAP2_FSGSBASE 2u /* the kernel lets user mode write fs's base */

struct frame {
    uint32_t mxcsr;
    uint16_t x87cw;
    uint16_t unused;
    uint64_t r15, r14;
    void *r13, *r12;
    uint64_t rbx, rbp;
    void *return_address;
    uint64_t above[4]; /* zeros: what a reader past the outermost frame finds; keeps the alignment */
};

void cpu_first(void);

int cpu_context_init(struct cpu_context *ctx, void *stack, size_t bytes, cpu_entry_fn *entry, void *arg)
{
    uintptr_t top = ((uintptr_t)stack + bytes) & ~(uintptr_t)15;
    /* `above` begins where the caller's frame of cpu_first would: on a multiple of 16, so that its call aligns
     * rightly. */
    struct frame *f = (struct frame *)(top - sizeof *f);
    _Static_assert(sizeof(struct frame) % 16 == 0 && offsetof(struct frame, above) == 64, "frame");
    *f = (struct frame){.r13 = arg, .r12 = (void *)entry, .return_address = (void *)cpu_first};
    f->mxcsr = __builtin_ia32_stmxcsr();
    __asm__ volatile("fnstcw %0" : "=m"(f->x87cw));
    ctx->sp = f;
    return 0;
}

int cpu_context_adopt(struct cpu_context *ctx)
{
    ctx->sp = NULL; /* filled by the first switch away */
    return 0;
}

void cpu_context_fini(struct cpu_context *ctx) { (void)ctx; }

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
