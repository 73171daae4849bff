/* Tells the ThreadSanitizer of a program what orders the program's threads.
 *
 * The runtime is not compiled with the sanitizer. So the sanitizer does not see the runtime's atomics, by which the
 * start and end of a region, a barrier, a lock or a task order the program's reads and writes. Without these calls the
 * sanitizer would report races where there are none. ps_race_release publishes under an address what the caller has
 * done so far. ps_race_acquire orders the caller after everything that was published under the address. More order than
 * OpenMP gives would hide races; less would invent some. So src/ort makes its calls where the specification has a flush
 * and a happens-before (OpenMP 5.2 section 1.4.6). src/psthreads makes calls for the threads and objects of its own
 * interface.
 *
 * A constructor looks for the sanitizer when the runtime is loaded (race.c). Without it a call is a compare with memory
 * and a predictable branch. A build that is itself compiled with the sanitizer makes no calls: the sanitizer sees its
 * atomics.
 * Callers: any thread, on any stack. Never fails. */
#ifndef PS_RACE_H
#define PS_RACE_H

#include "compiler.h"

#include <stdlib.h>

#ifndef PS_RACE /* 0: a target without sanitizers */
#define PS_RACE !PS_TSAN
#endif
#if !PS_RACE
static inline bool ps_race_enabled(void) { return false; }
static inline void ps_race_acquire(const volatile void *at) { (void)at; }
static inline void ps_race_release(const volatile void *at) { (void)at; }
#else
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));
extern __attribute__((visibility(
    "hidden"))) unsigned char ps_race_traced; /* 1: the sanitizer is there; constant once the runtime is loaded */
static PS_ALWAYS_INLINE bool ps_race_enabled(void) { return PS_UNLIKELY(ps_race_traced != 0); }
static PS_ALWAYS_INLINE void ps_race_acquire(const volatile void *at)
{
    if (ps_race_enabled())
        __tsan_acquire((void *)(uintptr_t)at);
}
static PS_ALWAYS_INLINE void ps_race_release(const volatile void *at)
{
    if (ps_race_enabled())
        __tsan_release((void *)(uintptr_t)at);
}
#endif

#if PS_RACE || PS_TSAN
extern void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));
/* Frees memory of the runtime that another thread allocated or wrote. Without this the sanitizer would take free() for
 * a write by the caller, and report a race. */
static inline void ps_race_free(void *p)
{
    bool told = ps_race_enabled() && AnnotateIgnoreWritesBegin && AnnotateIgnoreWritesEnd;
    if (told)
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    free(p);
    if (told)
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}
#else
static inline void ps_race_free(void *p) { free(p); }
#endif

#endif
