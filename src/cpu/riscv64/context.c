/* RISC-V, 64 bits or 32: the first frame of a context, and the thread pointer. Layout: cpu_port.h. */
#include "cpu.h"

struct frame {
    uintptr_t s0;
    void *s1, *s2;
    uintptr_t s3_to_s11[9];
    void *ra;
    uintptr_t frm;
    uintptr_t fs0_to_fs11[12];
    uintptr_t unused[2];
};

void cpu_first(void);

int cpu_context_init(struct cpu_context *ctx, void *stack, size_t bytes, cpu_entry_fn *entry, void *arg)
{
    uintptr_t top = ((uintptr_t)stack + bytes) & ~(uintptr_t)15;
    struct frame *f = (struct frame *)(top - sizeof *f);
    _Static_assert(sizeof(struct frame) == 28 * sizeof(uintptr_t) &&
                       offsetof(struct frame, fs0_to_fs11) == 14 * sizeof(uintptr_t),
                   "frame");
    *f = (struct frame){.s1 = (void *)entry, .s2 = arg, .ra = (void *)cpu_first};
#ifdef __riscv_flen
    __asm__ volatile("frrm %0" : "=r"(f->frm));
#endif
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
    __asm__ volatile("mv %0, tp" : "=r"(tp));
    return tp;
}

void cpu_set_tp(void *tp) { __asm__ volatile("mv tp, %0" : : "r"(tp) : "tp", "memory"); }
