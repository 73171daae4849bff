/* Functions of the C library that set or tell what the kernel keeps for a thread, interposed for user-level threads.
 * This header has what the files of this folder share.
 *
 * The C library applies such a call to the kernel thread that runs the caller, or to the kernel thread whose number is
 * in a thread's descriptor. If the call sets something for the caller, our function first gives the caller a dedicated
 * kernel thread (dedicated.h), then calls the C library's function. If the call only asks, or is about another thread,
 * our function passes on the number of that thread's kernel thread. Cost: one load and a jump, if the caller's kernel
 * thread is in no block.
 *
 * The dynamic linker finds these functions before the C library's: it searches a program's libraries in order, and the
 * C library comes last. For a program in which the C library does not come last, psrun preloads the runtime. Each
 * function has the C library's version nodes for this processor (glibc_nodes.h, made by cmake/symbols.cmake). The
 * runtime itself asks the kernel (src/os/linux/raw.h). The files below are linked in together or not at all: if one
 * were missing, the kernel would get numbers that only the runtime knows (uth_tls_number_blocks).
 *
 *   state.c            what a kernel thread has: number, scheduling, name, time; handles.c: by a thread's handle
 *   signals.c          masks, waits for signals, the alternate stack; handlers.c: signals' handlers
 *   mutexes.c          mutexes whose owner the kernel compares
 *   blocking_calls.c   calls that wait in the kernel
 *   loader.c           objects whose code begins to run
 *   calls.c            looks up the C library's functions when the runtime is loaded
 *
 * A function is interposed if it sets or tells state of the calling kernel thread and programs are known to call it in
 * regions, if it makes a kernel thread, or if it waits. Every other function sees the kernel thread that carries the
 * caller. */
#ifndef PS_CALLS_H
#define PS_CALLS_H

#include <errno.h>
#include <signal.h>

#include "compiler.h"
#include "dedicated.h"
#include "glibc_nodes.h"
#include "inherited.h"
#include "tls.h"

/* The C library's headers declare these functions by other names. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* NEXT declares the C library's function that our function `name` stands before, and makes an entry for it in the
 * section ps_next. CALL_NEXT(name) is that function. All entries are looked up when the runtime is loaded. A look-up at
 * the time of the call could deadlock: dlsym waits for the dynamic linker's lock, and the thread that holds it may wait
 * for the caller. */
struct next {
    const char *name;
    void *function;
};
#define NEXT(name, type)                                                                                      \
    static struct next place_of_##name __attribute__((section("ps_next"), used, aligned(8))) = {#name, NULL}; \
    typedef __typeof__(type) next_##name
#define CALL_NEXT(name) ((next_##name *)ps_calls_next(&place_of_##name))
void *ps_calls_next(struct next *next);

/* Dedicates the caller, if it is in a block. When this returns, the kernel thread that runs the caller has the caller's
 * own state, unless the caller cannot be dedicated now (dedicated.h). */
static inline void be_dedicated(void)
{
    if (PS_UNLIKELY(uth_tls_current() != NULL))
        ps_dedicate_self();
}

#define VERSIONS(name, node) __asm__(".symver interposed_" #name "," #name "@@" node)
#define OLD_VERSION(name, node)                                             \
    extern __typeof__(interposed_##name) old_##name                         \
        __attribute__((alias("interposed_" #name), visibility("default"))); \
    __asm__(".symver old_" #name "," #name "@" node)
/* OLD_VERSION gives the interposed function an older version, too. OLD_VERSION_UNLESS does so unless this processor's C
 * library has the old and the new version under the same node, `newer`. */
#define OLD_VERSION_UNLESS(newer, name, node)                               \
    extern __typeof__(interposed_##name) old_##name                         \
        __attribute__((alias("interposed_" #name), visibility("default"))); \
    __asm__(".ifnc \"" node "\",\"" newer "\"\n\t.symver old_" #name "," #name "@" node "\n\t.endif")

/* Called after a call that has set what members of a region begin with (mask, processors): tells psthreads of the
 * change. Returns `result`. */
static inline int inherited(int result)
{
    ps_root_changed();
    return result;
}
/* Defines the function `name` in the C library's place, with the version `node`. The function does `before`, calls the
 * C library's function, and returns `after` of the result. */
#define INTERPOSE_AS(before, after, version, node, type, name, parameters, arguments) \
    NEXT(name, type parameters);                                                      \
    PS_EXPORT type interposed_##name parameters                                       \
    {                                                                                 \
        before;                                                                       \
        return after(CALL_NEXT(name) arguments);                                      \
    }                                                                                 \
    version(name, node)

/* Defines a call for which the caller becomes dedicated if `own` holds: then the call is about the caller's own
 * state. */
#define INTERPOSE_IF(own, node, type, name, parameters, arguments) \
    INTERPOSE_AS(if (own) be_dedicated(), , VERSIONS, node, type, name, parameters, arguments)
#define INTERPOSE(node, type, name, parameters, arguments) INTERPOSE_IF(true, node, type, name, parameters, arguments)
/* Defines a call that sets what members of a region begin with. */
#define INTERPOSE_INHERITED(node, type, name, parameters, arguments) \
    INTERPOSE_AS(be_dedicated(), inherited, VERSIONS, node, type, name, parameters, arguments)

#endif
