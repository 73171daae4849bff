/* Contexts by setjmp and longjmp; the first frame by makecontext. See cpu_port.h.
 *
 * Rejected: the first frame by a signal handler on an alternate stack. That way needs no ucontext functions, but
 * borrows a signal and its disposition from the process. Another thread may use these at that moment. */
#define _GNU_SOURCE    /* femode_t */
#undef _FORTIFY_SOURCE /* its longjmp refuses to leave the stack, which is the very purpose here */
#include "cpu.h"

#include <errno.h>
#include <fenv.h>
#include <string.h>
#include <ucontext.h>

/* makecontext passes ints only: the context's address comes in two halves. */
_Static_assert(sizeof(femode_t) <= sizeof((struct cpu_context){0}.mode), "room for femode_t");

static void sjlj_first(unsigned high, unsigned low)
{
    CPU_UNWINDING_ENDS();
    struct cpu_context *ctx = (struct cpu_context *)((uintptr_t)high << 32 | low);
    if (_setjmp(ctx->base) == 0)
        setcontext(ctx->creator);
    fesetmode((femode_t *)ctx->mode);
    ctx->entry(ctx->transfer, ctx->arg);
    __builtin_unreachable();
}

static int make_first_frame(struct cpu_context *ctx, void *stack, size_t bytes)
{
    ucontext_t here, there;
    if (getcontext(&there) != 0)
        return errno;
    there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = bytes};
    there.uc_link = NULL;
    makecontext(&there, (void (*)(void))sjlj_first, 2, (unsigned)((uintptr_t)ctx >> 32), (unsigned)(uintptr_t)ctx);
    ctx->creator = &here;
    if (swapcontext(&here, &there) != 0)
        return errno;
    ctx->creator = NULL;
    ctx->stack = stack;
    return 0;
}

int cpu_context_init(struct cpu_context *ctx, void *stack, size_t bytes, cpu_entry_fn *entry, void *arg)
{
    int error = ctx->stack == stack ? 0 : make_first_frame(ctx, stack, bytes);
    if (error != 0)
        return error;
    memcpy(&ctx->here, &ctx->base, sizeof ctx->here);
    fegetmode((femode_t *)ctx->mode);
    ctx->entry = entry;
    ctx->arg = arg;
    return 0;
}

int cpu_context_adopt(struct cpu_context *ctx)
{
    ctx->stack = NULL; /* the rest is filled by the first switch away */
    return 0;
}

void cpu_context_fini(struct cpu_context *ctx) { ctx->stack = NULL; }

void *cpu_switch(struct cpu_context *save, struct cpu_context *to, void *transfer)
{
    to->transfer = transfer;
    fegetmode((femode_t *)save->mode);
    if (_setjmp(save->here) == 0)
        _longjmp(to->here, 1);
    fesetmode((femode_t *)save->mode);
    return save->transfer;
}
