/* Functions of the C library that set or tell what the kernel keeps for a thread, interposed for user-level threads.
 * This header has what the files of this folder share.
 *
 * The C library applies such a call to the kernel thread that runs the caller, or to the one whose number stands in a
 * thread's descriptor. If the call sets something, the caller first gets a dedicated kernel thread (dedicated.h); then
 * the C library's own function does the rest. A call that only asks, or is about another thread, names the thread's
 * kernel thread by its number. Cost: where the caller's kernel thread is in no block, one load and a jump.
 *
 * The dynamic linker finds these functions before the C library's, since it searches a program's libraries in order,
 * and the C library comes last. Where the C library does not come last, psrun preloads the runtime. Each function has
 * the C library's version nodes for this processor (glibc_nodes.h, made by cmake/symbols.cmake). The runtime itself
 * asks the kernel (src/os/linux/raw.h). All files are loaded, or none: the thread numbers that the runtime writes into
 * descriptors mean nothing to the C library (uth_tls_number_blocks).
 *
 *   state.c            what a kernel thread has: number, scheduling, name, time; handles.c: by a thread's handle
 *   signals.c          masks, waits for signals, the alternate stack; handlers.c: signals' handlers
 *   mutexes.c          mutexes whose owner the kernel compares
 *   blocking_calls.c   calls that wait in the kernel
 *   loader.c           objects that begin
 *   calls.c            the C library's functions behind these, looked up when the runtime is loaded
 *
 * Interposed are functions that set or tell state of the calling kernel thread, if programs are known to call them in
 * regions; functions that make a kernel thread; and functions that wait. Others see the kernel thread that carries the
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

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the C library's headers have them by other names */

/* The C library's functions behind ours, by name. They stand in a section of their own, so that all are looked up when
 * the runtime is loaded. A look-up at the time of the call could deadlock: dlsym waits for the dynamic linker's lock,
 * and the thread that holds it may wait for the caller. */
struct next {
    const char *name;
    void *function;
};
#define NEXT(name, type)                                                                                      \
    static struct next place_of_##name __attribute__((section("ps_next"), used, aligned(8))) = {#name, NULL}; \
    typedef __typeof__(type) next_##name
#define CALL_NEXT(name) ((next_##name *)ps_calls_next(&place_of_##name))
void *ps_calls_next(struct next *next);

/* When this returns, the kernel thread that runs the caller has the caller's own state. */
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
/* The same, unless this processor's C library has both under one node, `newer`. */
#define OLD_VERSION_UNLESS(newer, name, node)                               \
    extern __typeof__(interposed_##name) old_##name                         \
        __attribute__((alias("interposed_" #name), visibility("default"))); \
    __asm__(".ifnc \"" node "\",\"" newer "\"\n\t.symver old_" #name "," #name "@" node "\n\t.endif")

/* After a call that sets what a region's threads begin with. */
static inline int inherited(int result)
{
    ps_root_changed();
    return result;
}
/* Defines the function `name` of the C library's, under this version: does `before`, then what the C library does;
 * `after` gets the result. */
#define INTERPOSE_AS(before, after, version, node, type, name, parameters, arguments) \
    NEXT(name, type parameters);                                                      \
    PS_EXPORT type interposed_##name parameters                                       \
    {                                                                                 \
        before;                                                                       \
        return after(CALL_NEXT(name) arguments);                                      \
    }                                                                                 \
    version(name, node)

/* Defines a call about the caller's own state, if `own` holds. */
#define INTERPOSE_IF(own, node, type, name, parameters, arguments) \
    INTERPOSE_AS(if (own) be_dedicated(), , VERSIONS, node, type, name, parameters, arguments)
#define INTERPOSE(node, type, name, parameters, arguments) INTERPOSE_IF(true, node, type, name, parameters, arguments)
/* Defines a call that sets what a region's threads begin with. */
#define INTERPOSE_INHERITED(node, type, name, parameters, arguments) \
    INTERPOSE_AS(be_dedicated(), inherited, VERSIONS, node, type, name, parameters, arguments)

#endif
