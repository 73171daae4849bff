/* AArch64: the first frame of a context, and the thread pointer. Layout: cpu_port.h. */
#include "cpu.h"

struct frame {
    uint64_t x29;
    void *x30;
    void *x19, *x20;
    uint64_t x21_to_x28[8];
    uint64_t d8_to_d15[8];
    uint64_t fpcr, unused;
};

void cpu_first(void);

int cpu_context_init(struct cpu_context *ctx, void *stack, size_t bytes, cpu_entry_fn *entry, void *arg)
{
    uintptr_t top = ((uintptr_t)stack + bytes) & ~(uintptr_t)15;
    struct frame *f = (struct frame *)(top - sizeof *f);
    _Static_assert(sizeof(struct frame) == 176, "frame");
    *f = (struct frame){.x30 = (void *)cpu_first, .x19 = (void *)entry, .x20 = arg};
    __asm__ volatile("mrs %0, fpcr" : "=r"(f->fpcr));
    ctx->sp = f;
    return 0;
}

int cpu_context_adopt(struct cpu_context *ctx)
{
    ctx->sp = NULL; /* filled by the first switch away */
    return 0;
}

void cpu_context_fini(struct cpu_context *ctx) { (void)ctx; }

bool cpu_tp_settable(void) { return true; }

void *cpu_get_tp(void)
{
    void *tp;
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(tp));
    return tp;
}

void cpu_set_tp(void *tp) { __asm__ volatile("msr tpidr_el0, %0" : : "r"(tp) : "memory"); }
