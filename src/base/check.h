/* Broken invariants and one-line reports.
 *
 * ps_fatal reports a broken invariant, or a wrong use after which the program cannot go on: it writes one line to
 * standard error, then calls abort().
 * ps_warn reports that the runtime does not do what the program or its user asked for; the program goes on. It writes
 * one line to standard error. Both write the line by one write(2), allocate nothing and keep errno. They may be called
 * on any stack with about 800 free bytes, and in a signal handler. Lines begin with "psthreads: "; a warning has
 * ps_warn_mark before that. A line longer than 511 bytes loses its middle. Conversions: %s %d %u %x with or without l,
 * ll (z: %zu), %p, %%; no flags, widths or precisions. */
#ifndef PS_CHECK_H
#define PS_CHECK_H

#include "compiler.h"

PS_NORETURN PS_COLD void ps_fatal(const char *fmt, ...) PS_PRINTF(1, 2);
/* The beginning of each warning, by which tools for another OpenMP runtime find it; or "". A constructor of this
 * library writes it. */
extern const char *ps_warn_mark;
/* True: ps_warn writes nothing. Set by KMP_WARNINGS, or by a call of the program. */
extern bool ps_warn_quiet;
PS_COLD void ps_warn(const char *fmt, ...) PS_PRINTF(1, 2);

/* Checked in every build: for invariants that are cheap to check. */
#define PS_CHECK(cond, ...)        \
    do {                           \
        if (PS_UNLIKELY(!(cond)))  \
            ps_fatal(__VA_ARGS__); \
    } while (0)

/* Checked only in the checked build (-DPS_CHECKED=1: debug and sanitizer presets). */
#if PS_CHECKED
#define PS_ASSERT(cond) PS_CHECK(cond, "%s:%d: broken invariant: %s", __FILE__, __LINE__, #cond)
#else
#define PS_ASSERT(cond) ((void)0)
#endif

#endif
