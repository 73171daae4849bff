/* Jumps, which may leave a handler of a thread that waits: ../leave.h. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

#include "../handler_mask.h"
#include "../leave.h"
#include <setjmp.h>
#include <string.h>

NEXT(siglongjmp, void(struct __jmp_buf_tag *, int));
NEXT(longjmp, void(struct __jmp_buf_tag *, int));
NEXT(_longjmp, void(struct __jmp_buf_tag *, int));
NEXT(__longjmp_chk, void(struct __jmp_buf_tag *, int));

/* Where the stack is that env was made for. The C library keeps it mixed with a secret, which is in each thread's
 * block. */
static uintptr_t stack_of(const struct __jmp_buf_tag *env)
{
    enum { JB_RSP = 6 };
    uintptr_t sp = (uintptr_t)env->__jmpbuf[JB_RSP];
    __asm__("ror $17, %0\n\txor %%fs:48, %0" : "+r"(sp));
    return sp;
}

static bool leaves(uintptr_t to) { return ps_leaves_handler(to) && !ps_in_vfork_child(); }

static const void *mask_kept_in(const struct __jmp_buf_tag *env)
{
    return env->__mask_was_saved ? &env->__saved_mask : NULL;
}

/* The thread has left its handler, and has gone on since. */
static void tell_late(uintptr_t to, const void *mask)
{
    uint64_t now = os_signal_mask();
    ps_handler_jumps(to, mask ? mask : &now);
}

static void jump_late(struct ps_jump *jump);

static PS_NOINLINE PS_NORETURN void leave_by_jump(const struct __jmp_buf_tag *env, int value)
{
    ps_handler_is_left();
    struct ps_jump jump = {.make = jump_late, .value = value};
    _Static_assert(sizeof *env <= sizeof jump.context, "ps_jump");
    memcpy(jump.context, env, sizeof *env);
    ps_leave_handler(&jump);
}

/* It may leave another handler, in which the first one's thread waited. */
static void jump_late(struct ps_jump *jump)
{
    struct __jmp_buf_tag *env = (struct __jmp_buf_tag *)(void *)jump->context;
    if (leaves(stack_of(env)))
        leave_by_jump(env, jump->value);
    tell_late(stack_of(env), mask_kept_in(env));
    CALL_NEXT(siglongjmp)(env, jump->value);
}

#define ANSWER_JUMP(name, node)                                                                               \
    PS_UNUSED __attribute__((used)) static void *ready_for_##name(const struct __jmp_buf_tag *env, int value) \
    {                                                                                                         \
        if (PS_UNLIKELY(leaves(stack_of(env))))                                                               \
            leave_by_jump(env, value);                                                                        \
        if (PS_UNLIKELY(ps_handler.frame || env->__mask_was_saved))                                           \
            ps_handler_jumps(stack_of(env), mask_kept_in(env));                                               \
        return (void *)CALL_NEXT(name);                                                                       \
    }                                                                                                         \
    JUMP(name, ready_for_##name);                                                                             \
    VERSIONS(name, node)
ANSWER_JUMP(siglongjmp, "GLIBC_2.2.5");
ANSWER_JUMP(longjmp, "GLIBC_2.2.5");
ANSWER_JUMP(_longjmp, "GLIBC_2.2.5");
ANSWER_JUMP(__longjmp_chk, "GLIBC_2.11");

/* --- setcontext --- */

#ifndef PS_SWITCHES_BY_CONTEXT
NEXT(setcontext, int(const ucontext_t *));

/* jump->value: the context names a place of its own for the state of floating point. */
static void set_context_late(struct ps_jump *jump)
{
    ucontext_t *context = (ucontext_t *)(void *)jump->context;
    if (jump->value)
        context->uc_mcontext.fpregs = &context->__fpregs_mem;
    ps_leave_by_context(context);
    tell_late(0, &context->uc_sigmask);
    CALL_NEXT(setcontext)(context);
}

static PS_NOINLINE PS_NORETURN void leave_for_context(const ucontext_t *context)
{
    ps_handler_is_left();
    struct ps_jump jump = {.make = set_context_late, .value = context->uc_mcontext.fpregs == &context->__fpregs_mem};
    _Static_assert(sizeof *context <= sizeof jump.context, "ps_jump");
    memcpy(jump.context, context, sizeof *context);
    ps_leave_handler(&jump);
}

void ps_leave_by_context(const void *ucontext)
{
    const ucontext_t *context = ucontext;
    uintptr_t to = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
    if (PS_UNLIKELY(leaves(to)))
        leave_for_context(context);
    if (PS_UNLIKELY(ps_handler.frame))
        ps_handler_jumps(to, &context->uc_sigmask);
}
#endif
