/* Jumps, which may leave a handler of a thread that waits: ../leave.h. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

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

static void jump_late(struct ps_jump *jump);

static PS_NOINLINE PS_NORETURN void leave_by_jump(const struct __jmp_buf_tag *env, int value)
{
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
    CALL_NEXT(siglongjmp)(env, jump->value);
}

#define ANSWER_JUMP(name, node)                                                                               \
    PS_UNUSED __attribute__((used)) static void *ready_for_##name(const struct __jmp_buf_tag *env, int value) \
    {                                                                                                         \
        if (PS_UNLIKELY(leaves(stack_of(env))))                                                               \
            leave_by_jump(env, value);                                                                        \
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
    CALL_NEXT(setcontext)(context);
}

static PS_NOINLINE PS_NORETURN void leave_for_context(const ucontext_t *context)
{
    struct ps_jump jump = {.make = set_context_late, .value = context->uc_mcontext.fpregs == &context->__fpregs_mem};
    _Static_assert(sizeof *context <= sizeof jump.context, "ps_jump");
    memcpy(jump.context, context, sizeof *context);
    ps_leave_handler(&jump);
}

void ps_leave_by_context(const void *to)
{
    const ucontext_t *context = to;
    if (PS_UNLIKELY(leaves((uintptr_t)context->uc_mcontext.gregs[REG_RSP])))
        leave_for_context(context);
}
#endif
