/* What address sanitizer, thread sanitizer and Valgrind must be told about stacks. The sanitizers may be those of this
 * build, or of a program that runs on a build without any. Their functions are weak symbols, looked up once (san_find).
 * Where there are none, a switch costs two predictable branches. Valgrind's requests are some instructions where a
 * stack is mapped; outside of Valgrind they do nothing.
 *
 * Address sanitizer: start_switch before a switch (with the bounds of the stack to come), finish_switch after it. A
 * stack that is used anew is unpoisoned if frames that never returned were left on it. An ended thread leaves such
 * frames (UTH_SPOILED), and so does the vp's loop in a build of ours with the sanitizer.
 * Thread sanitizer: each context has a fiber, and each member of a team except member 0 has one
 * (psthreads/team/team_fork.c), as members that run one after the other on one stack are different threads. So a switch
 * returns to the fiber that was current when the context was left.
 * - In a build of ours with thread sanitizer, a switch synchronises the context that is left with the one that is
 *   entered. One kernel thread runs both, and what a vp owns is passed between its uths without atomics. Between kernel
 *   threads `running` orders them, which the sanitizer sees. Members have no fibers of their own there.
 * - In other builds a switch orders nothing: base/race.h tells the sanitizer what OpenMP orders.
 * - A fiber's shadow call stack must be empty where a context begins: a build of ours makes a new fiber each time.
 * C++ keeps the exceptions that are being handled in thread-local storage. Threads share their kernel thread's storage
 * in a program with a sanitizer, and on a port that cannot set the thread pointer. In these cases a switch saves these
 * exceptions with the context.
 * The port whose contexts are kernel threads tells the sanitizers nothing: they know kernel threads by themselves.
 * Valgrind: stacks are registered by address, so it need not guess from the stack pointer. */
#ifndef PS_UTH_SANITIZERS_H
#define PS_UTH_SANITIZERS_H

#include "uth_struct.h"

#include <string.h>

#if defined(__has_include) && !PS_ASAN && !PS_TSAN
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define PS_VALGRIND 1
#endif
#endif

extern void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t bytes) __attribute__((weak));
extern void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *bytes) __attribute__((weak));
extern void __asan_unpoison_memory_region(const volatile void *at, size_t bytes) __attribute__((weak));
extern void __lsan_init(void) __attribute__((weak));
extern void __lsan_register_root_region(const void *at, size_t bytes) __attribute__((weak));
extern void __lsan_unregister_root_region(const void *at, size_t bytes) __attribute__((weak));
extern void *__tsan_create_fiber(unsigned flags) __attribute__((weak));
extern void __tsan_destroy_fiber(void *fiber) __attribute__((weak));
extern void *__tsan_get_current_fiber(void) __attribute__((weak));
extern void __tsan_switch_to_fiber(void *fiber, unsigned flags) __attribute__((weak));
/* A function of the C++ ABI. Returns where the calling thread keeps its exceptions: those that are caught, and the
 * number of those in flight. */
extern void *__cxa_get_globals(void) __attribute__((weak));
extern void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));
#define SAN_SWITCH_ORDERS (PS_TSAN ? 0u : 1u /* __tsan_switch_to_fiber_no_sync */)

enum { SAN_ADDRESS = 1, SAN_THREAD = 2, SAN_EXCEPTIONS = 4 };
/* SAN_... bits: which sanitizers are there; SAN_EXCEPTIONS: a switch saves C++'s exceptions. Written by san_find before
 * there are contexts. */
extern __attribute__((visibility("hidden"))) unsigned char uth_sanitizers;

static inline void san_find(void)
{
    if (CPU_CARRIES_TLS)
        return;
    uth_sanitizers =
        (unsigned char)((__sanitizer_start_switch_fiber && __asan_unpoison_memory_region ? SAN_ADDRESS : 0) |
                        (__tsan_create_fiber && __tsan_switch_to_fiber ? SAN_THREAD : 0));
    if (__cxa_get_globals && (uth_sanitizers || __lsan_init || !cpu_tp_settable()))
        uth_sanitizers |= SAN_EXCEPTIONS;
}
static PS_ALWAYS_INLINE bool san_any(void) { return PS_UNLIKELY(uth_sanitizers != 0); }

/* Makes the thread sanitizer ignore, or no longer ignore, what a fiber of the runtime's loop does: `reads` and `writes`
 * are the sanitizer's functions for that. The sanitizer intercepts the C library's functions, which the loop calls as
 * well, but these calls do not concern the program. A fiber must not end while it is ignored. */
static inline void san_ignore(void *fiber, void (*reads)(const char *, int), void (*writes)(const char *, int))
{
    void *here = __tsan_get_current_fiber();
    if (PS_TSAN || !reads || !writes)
        return;
    __tsan_switch_to_fiber(fiber, SAN_SWITCH_ORDERS);
    reads(__FILE__, __LINE__);
    writes(__FILE__, __LINE__);
    __tsan_switch_to_fiber(here, SAN_SWITCH_ORDERS);
}
static inline void *san_loop_fiber_make(void)
{
    void *fiber = __tsan_create_fiber(0);
    san_ignore(fiber, AnnotateIgnoreReadsBegin, AnnotateIgnoreWritesBegin);
    return fiber;
}
static inline void san_loop_fiber_end(void *fiber)
{
    san_ignore(fiber, AnnotateIgnoreReadsEnd, AnnotateIgnoreWritesEnd);
    __tsan_destroy_fiber(fiber);
}

/* Tells the leak sanitizer that this memory of the runtime's may hold pointers to blocks of malloc, so that it does not
 * report these blocks. san_root_gone ends that. */
static inline void san_root_made(const void *at, size_t bytes)
{
    if (__lsan_register_root_region)
        __lsan_register_root_region(at, bytes);
}
static inline void san_root_gone(const void *at, size_t bytes)
{
    if (__lsan_unregister_root_region)
        __lsan_unregister_root_region(at, bytes);
}

static inline void san_stack_made(struct uth *u)
{
    u->san_stack = u->stack;
    u->san_stack_bytes = (size_t)((char *)u - (char *)u->stack);
#if PS_VALGRIND
    u->valgrind_id = VALGRIND_STACK_REGISTER(u->stack, (char *)u->stack + u->stack_bytes);
#endif
}

/* How much of a stack is cleared for address sanitizer, which keeps a byte for every eight bytes of it. A stack may be
 * reserved for terabytes, so only the frames nearest the top are cleared. The sanitizer's own runtime does the same
 * where a function never returns. */
#define SAN_CLEARED_BYTES ((size_t)64 << 20)

static inline void san_clear_stack(struct uth *u)
{
    size_t bytes = u->san_stack_bytes < SAN_CLEARED_BYTES ? u->san_stack_bytes : SAN_CLEARED_BYTES;
    __asan_unpoison_memory_region((char *)u->san_stack + u->san_stack_bytes - bytes, bytes);
}

static inline void san_stack_gone(struct uth *u)
{
#if PS_VALGRIND
    VALGRIND_STACK_DEREGISTER(u->valgrind_id);
#endif
    if (u->loop_fiber != NULL)
        san_loop_fiber_end(u->loop_fiber);
    if (u->piece_fiber != NULL)
        __tsan_destroy_fiber(u->piece_fiber);
    if (uth_sanitizers & SAN_ADDRESS)
        san_clear_stack(u);
}

static inline void san_context_starts(struct uth *u)
{
    bool spoiled = PS_ASAN || PS_TSAN || u->flags & UTH_SPOILED;
    u->flags &= ~UTH_SPOILED;
    if (!san_any())
        return;
    memset(u->exceptions, 0, sizeof u->exceptions);
    if (uth_sanitizers & SAN_THREAD) {
        if (u->fiber != u->loop_fiber) /* the fiber of the thread that has ended here */
            __tsan_destroy_fiber(u->fiber);
        if (PS_TSAN && u->loop_fiber != NULL) {
            __tsan_destroy_fiber(u->loop_fiber);
            u->loop_fiber = NULL;
        }
        if (u->loop_fiber == NULL)
            u->loop_fiber = san_loop_fiber_make();
        u->fiber = u->loop_fiber;
    }
    if (uth_sanitizers & SAN_ADDRESS) {
        if (spoiled)
            san_clear_stack(u);
        u->fake_stack = NULL;
    }
}

static inline void san_leave_traced(struct uth *from, struct uth *to, bool dying)
{
    from->shares_exceptions = uth_sanitizers & SAN_EXCEPTIONS && !from->tls && !to->tls;
    if (from->shares_exceptions)
        memcpy(from->exceptions, __cxa_get_globals(), sizeof from->exceptions);
    if (uth_sanitizers & SAN_ADDRESS)
        __sanitizer_start_switch_fiber(dying ? NULL : &from->fake_stack, to->san_stack, to->san_stack_bytes);
    if (uth_sanitizers & SAN_THREAD) {
        from->fiber = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(to->fiber, SAN_SWITCH_ORDERS);
    }
}

static PS_ALWAYS_INLINE void san_leave(struct uth *from, struct uth *to, bool dying)
{
    if (san_any())
        san_leave_traced(from, to, dying);
}

static inline void san_arrived_traced(struct uth *from, struct uth *self)
{
    const void *bottom;
    size_t bytes;
    if (from->shares_exceptions)
        memcpy(__cxa_get_globals(), self->exceptions, sizeof self->exceptions);
    if (!(uth_sanitizers & SAN_ADDRESS))
        return;
    __sanitizer_finish_switch_fiber(self->fake_stack, &bottom, &bytes);
    /* An adopted stack's bounds can be learnt only here. That is early enough: the stack is left before any switch to
     * it. */
    if (from->flags & UTH_ADOPTED) {
        from->san_stack = bottom;
        from->san_stack_bytes = bytes;
    }
}

static PS_ALWAYS_INLINE void san_arrived(struct uth *from, struct uth *self)
{
    if (san_any())
        san_arrived_traced(from, self);
}

/* The functions from here on are for threads that run on one stack, one after the other: each of them has a fiber of
 * its own. san_fiber_make stores a new fiber in *fiber if the program has thread sanitizer and *fiber is NULL. In a
 * build of ours with thread sanitizer it does nothing. */
static inline void san_fiber_make(void **fiber)
{
    if (!PS_TSAN && uth_sanitizers & SAN_THREAD && *fiber == NULL)
        *fiber = __tsan_create_fiber(0);
}
/* Makes `fiber` current. Returns the fiber that was current, for san_fiber_leave; NULL where `fiber` is NULL. */
static inline void *san_fiber_enter(void *fiber)
{
    void *outer = NULL;
    if (fiber != NULL) {
        outer = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(fiber, SAN_SWITCH_ORDERS);
    }
    return outer;
}
static inline void san_fiber_leave(void *outer)
{
    if (outer != NULL)
        __tsan_switch_to_fiber(outer, SAN_SWITCH_ORDERS);
}
static inline void san_fiber_end(void **fiber)
{
    if (*fiber != NULL)
        __tsan_destroy_fiber(*fiber);
    *fiber = NULL;
}

#endif
