/* Contexts emulated by kernel threads. See cpu_port.h.
 *
 * Life of a carrier, the kernel thread of a context: the first cpu_context_init creates it, and it waits for the baton.
 * The context's `order` says what the carrier does when it gets the baton. RESTART: the carrier runs the entry anew; if
 * it waits inside of an earlier run of the entry, a longjmp first takes it back to its base (carry). END: the carrier
 * returns, and cpu_context_fini joins it. A context's fields are written before its semaphore is posted, and read after
 * the wait; the semaphore orders them. cpu_context_init gives no baton: the first switch to the context does. */
#define _GNU_SOURCE    /* for femode_t */
#undef _FORTIFY_SOURCE /* The checked longjmp may refuse to jump on a stack that the C library did not make. */
#include "cpu.h"

#include <errno.h>
#include <fenv.h>

_Static_assert(sizeof(femode_t) <= sizeof((struct cpu_context){0}.mode), "room for femode_t");

static void await_baton(struct cpu_context *ctx)
{
    while (sem_wait(&ctx->baton) != 0)
        ; /* interrupted by a signal (EINTR) */
    if (ctx->order != CPU_POSIX_GO_ON)
        _longjmp(ctx->base, 1);
}

static void *carry(void *context)
{
    struct cpu_context *ctx = context;
    if (_setjmp(ctx->base) == 0)
        await_baton(ctx);
    if (ctx->order == CPU_POSIX_END)
        return NULL;
    ctx->order = CPU_POSIX_GO_ON;
    fesetmode((femode_t *)ctx->mode);
    ctx->entry(ctx->transfer, ctx->arg);
    __builtin_unreachable();
}

static int start_carrier(struct cpu_context *ctx, void *stack, size_t bytes)
{
    pthread_attr_t attr;
    int error = pthread_attr_init(&attr);
    if (error != 0)
        return error;
    uintptr_t base = ((uintptr_t)stack + 15) & ~(uintptr_t)15, top = ((uintptr_t)stack + bytes) & ~(uintptr_t)15;
    error = pthread_attr_setstack(&attr, (void *)base, top - base);
    if (error == 0)
        error = pthread_create(&ctx->carrier, &attr, carry, ctx);
    pthread_attr_destroy(&attr);
    return error;
}

int cpu_context_init(struct cpu_context *ctx, void *stack, size_t bytes, cpu_entry_fn *entry, void *arg)
{
    ctx->order = CPU_POSIX_RESTART;
    ctx->entry = entry;
    ctx->arg = arg;
    fegetmode((femode_t *)ctx->mode);
    if (ctx->state == CPU_POSIX_CARRIED)
        return 0;
    if (sem_init(&ctx->baton, 0, 0) != 0)
        return errno;
    int error = start_carrier(ctx, stack, bytes);
    if (error == 0)
        ctx->state = CPU_POSIX_CARRIED;
    else
        sem_destroy(&ctx->baton);
    return error;
}

int cpu_context_adopt(struct cpu_context *ctx)
{
    if (sem_init(&ctx->baton, 0, 0) != 0)
        return errno;
    ctx->state = CPU_POSIX_ADOPTED;
    ctx->order = CPU_POSIX_GO_ON;
    return 0;
}

void cpu_context_fini(struct cpu_context *ctx)
{
    if (ctx->state == CPU_POSIX_NONE)
        return;
    if (ctx->state == CPU_POSIX_CARRIED) {
        ctx->order = CPU_POSIX_END;
        sem_post(&ctx->baton);
        pthread_join(ctx->carrier, NULL);
    }
    sem_destroy(&ctx->baton);
    ctx->state = CPU_POSIX_NONE;
}

void *cpu_switch(struct cpu_context *save, struct cpu_context *to, void *transfer)
{
    to->transfer = transfer;
    sem_post(&to->baton);
    await_baton(save);
    return save->transfer;
}
