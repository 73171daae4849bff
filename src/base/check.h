/* Broken invariants and one-line reports.
 *
 * ps_fatal: a broken invariant or a wrong use that cannot go on: one line on standard error, then abort().
 * ps_warn: something was not as asked, the program goes on: one line on standard error.
 * Both write the line with one write(2), allocate nothing, keep errno, and may be called on any stack and from a
 * signal handler (about 800 bytes of it). Lines begin with "psthreads: ", warnings with ps_warn_mark before that; of
 * lines longer than 511 bytes the middle is left out. Conversions: %s %d %u %x with or without l, ll (z: %zu), %p, %%;
 * no flags, widths or precisions. */
#ifndef PS_CHECK_H
#define PS_CHECK_H

#include "compiler.h"

PS_NORETURN PS_COLD void ps_fatal(const char *fmt, ...) PS_PRINTF(1, 2);
/* A mark that tools of a peer's users look for in a warning; or "". Written by a constructor, before main. */
extern const char *ps_warn_mark;
/* True: warnings are off, as the program or its user asked (KMP_WARNINGS). Written by a constructor, or by a later call
 * of the program's. */
extern bool ps_warn_quiet;
PS_COLD void ps_warn(const char *fmt, ...) PS_PRINTF(1, 2);

/* Always on: for invariants that are cheap to check. */
#define PS_CHECK(cond, ...)        \
    do {                           \
        if (PS_UNLIKELY(!(cond)))  \
            ps_fatal(__VA_ARGS__); \
    } while (0)

/* Only in the checked build (-DPS_CHECKED=1: debug and sanitizer presets). */
#if PS_CHECKED
#define PS_ASSERT(cond) PS_CHECK(cond, "%s:%d: broken invariant: %s", __FILE__, __LINE__, #cond)
#else
#define PS_ASSERT(cond) ((void)0)
#endif

#endif
