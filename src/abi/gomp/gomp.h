/* What all GNU entry points include. They translate arguments and call ort; they decide nothing and call no other entry
 * point.
 *
 * The prototypes are GCC's (builtins to the compiler): no header of ours declares them. */
#ifndef PS_ABI_GOMP_H
#define PS_ABI_GOMP_H

#include "ort.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* With a schedule's kind, of the entry points that say so in their name: the loop may be nonmonotonic. (GOMP_loop_start
 * never is: a thread's chunks must grow where what it got is conditional lastprivate.) The core is told apart from the
 * kind, which the next two functions see to. */
#define NONMONOTONIC 0x40000000u

static PS_ALWAYS_INLINE struct ort_loop_desc gomp_loop(long from, long to, long incr, unsigned kind, long chunk)
{
    struct ort_loop_desc d = ort_loop_desc_long(from, to, incr, kind & ~NONMONOTONIC, chunk);
    if (kind & NONMONOTONIC)
        d.nonmonotonic = true;
    return d;
}

/* up: the loop counts upwards. */
static PS_ALWAYS_INLINE struct ort_loop_desc gomp_loop_ull(bool up, unsigned long long from, unsigned long long to,
                                                           unsigned long long incr, unsigned kind,
                                                           unsigned long long chunk)
{
    struct ort_loop_desc d = ort_loop_desc_ull(up, from, to, incr, kind & ~NONMONOTONIC, chunk);
    if (kind & NONMONOTONIC)
        d.nonmonotonic = true;
    return d;
}

#endif
