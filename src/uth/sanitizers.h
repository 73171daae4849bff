/* What address sanitizer, thread sanitizer and Valgrind want to be told of stacks; nothing in a plain build without Valgrind.
 *
 * Address sanitizer: start_switch before the switch (with the bounds of the stack to come), finish_switch after it. A stack
 * that is used anew is unpoisoned: the frames that a handed-off stack left behind never returned.
 * Thread sanitizer: a fiber for each context. A switch synchronises the one left with the one entered, as the kernel thread
 * that runs both orders them (what a vp owns passes through its uths without atomics); between kernel threads it is
 * `running` that orders, and the sanitizer sees for itself. A context that is started anew gets a fresh fiber, because
 * the old one's shadow call stack was left in the middle.
 * The port whose contexts are kernel threads tells none of this: both know kernel threads by themselves.
 * Valgrind: stacks are registered by address, so that its stack-pointer guess is not needed. */
#ifndef PS_UTH_SANITIZERS_H
#define PS_UTH_SANITIZERS_H

#include "uth.h"

#define PS_ASAN_FIBERS (PS_ASAN && !CPU_CARRIES_TLS)
#define PS_TSAN_FIBERS (PS_TSAN && !CPU_CARRIES_TLS)
#if PS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if PS_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__has_include) && !PS_ASAN && !PS_TSAN
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define PS_VALGRIND 1
#endif
#endif

static inline void san_stack_made(struct uth *u)
{
    u->san_stack = u->stack;
    u->san_stack_bytes = (size_t)((char *)u - (char *)u->stack);
#if PS_VALGRIND
    u->valgrind_id = VALGRIND_STACK_REGISTER(u->stack, (char *)u->stack + u->stack_bytes);
#endif
}

static inline void san_stack_gone(struct uth *u)
{
#if PS_VALGRIND
    VALGRIND_STACK_DEREGISTER(u->valgrind_id);
#endif
#if PS_TSAN_FIBERS
    if (u->fiber != NULL)
        __tsan_destroy_fiber(u->fiber);
#endif
#if PS_ASAN
    ASAN_UNPOISON_MEMORY_REGION(u->stack, u->stack_bytes);
#endif
    (void)u;
}

static inline void san_context_starts(struct uth *u)
{
#if PS_TSAN_FIBERS
    if (u->fiber != NULL)
        __tsan_destroy_fiber(u->fiber);
    u->fiber = __tsan_create_fiber(0);
#endif
#if PS_ASAN_FIBERS
    ASAN_UNPOISON_MEMORY_REGION(u->san_stack, u->san_stack_bytes);
    u->fake_stack = NULL;
#endif
    (void)u;
}

static inline void san_adopt(struct uth *u)
{
#if PS_TSAN_FIBERS
    u->fiber = __tsan_get_current_fiber();
#endif
    (void)u;
}

static PS_ALWAYS_INLINE void san_leave(struct uth *from, struct uth *to, bool dying)
{
#if PS_ASAN_FIBERS
    __sanitizer_start_switch_fiber(dying ? NULL : &from->fake_stack, to->san_stack, to->san_stack_bytes);
#endif
#if PS_TSAN_FIBERS
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
    (void)from;
    (void)to;
    (void)dying;
}

static PS_ALWAYS_INLINE void san_arrived(struct uth *from, struct uth *self)
{
#if PS_ASAN_FIBERS
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(self->fake_stack, &bottom, &bytes);
    /* The only way to learn an adopted stack's bounds, and soon enough: it is left before it is switched to. */
    if (from->flags & UTH_ADOPTED) {
        from->san_stack = bottom;
        from->san_stack_bytes = bytes;
    }
#endif
    (void)from;
    (void)self;
}

#endif
