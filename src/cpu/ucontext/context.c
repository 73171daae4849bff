/* Contexts by the ucontext functions. Limits and cost: cpu_port.h. */
#include "cpu.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* makecontext passes only ints to this function, so the address of the context comes in two halves. */
static void ucontext_first(unsigned high, unsigned low)
{
    CPU_UNWINDING_ENDS();
    struct cpu_context *ctx = (struct cpu_context *)((uintptr_t)high << 32 | low);
    ctx->entry(ctx->transfer, ctx->arg);
    __builtin_unreachable();
}

int cpu_context_init(struct cpu_context *ctx, void *stack, size_t bytes, cpu_entry_fn *entry, void *arg)
{
    if (getcontext(&ctx->machine) != 0)
        return errno;
    ctx->machine.uc_stack = (stack_t){.ss_sp = stack, .ss_size = bytes};
    ctx->machine.uc_link = NULL;
    ctx->entry = entry;
    ctx->arg = arg;
    makecontext(&ctx->machine, (void (*)(void))ucontext_first, 2, (unsigned)((uintptr_t)ctx >> 32),
                (unsigned)(uintptr_t)ctx);
    return 0;
}

int cpu_context_adopt(struct cpu_context *ctx)
{
    (void)ctx; /* The first cpu_switch away from this stack fills it in. */
    return 0;
}

void cpu_context_fini(struct cpu_context *ctx) { (void)ctx; }

void *cpu_switch(struct cpu_context *save, struct cpu_context *to, void *transfer)
{
    to->transfer = transfer;
    /* The signal mask belongs to the kernel thread, so the entered context must have the present mask. This is a direct
     * system call, because thread sanitizer takes a sigprocmask that writes here for a call by the program. */
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &to->machine.uc_sigmask, _NSIG / 8);
    swapcontext(&save->machine, &to->machine);
    return save->transfer;
}
