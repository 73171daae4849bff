/* How long an idle vp searches before it parks: it learns how far apart work comes.
 *
 * A search that ends too early costs a sleep and a wake: a microsecond here, fifty in a virtual machine whose other
 * processor sleeps. A search that finds nothing burns the processor. So if a vp is woken while the longest search would
 * still have been on, it searches for twice that gap from then on. A vp that slept longer halves its search time,
 * because the search was in vain. So where regions are close together, the vp still searches when the next one comes. A
 * program that rests between regions burns some tens of microseconds a rest, not a millisecond.
 *
 * Does: the arithmetic. Callers: the vp's loop, after each sleep; the state is the vp's own. Where the program or the
 * user says how long to search (GOMP_SPINCOUNT, OMP_WAIT_POLICY), nothing is learnt. Cost: two readings of the clock a
 * sleep.
 * Rejected: a mean of the gaps (one long rest after a burst makes the whole next burst sleep). */
#ifndef PS_ADAPTIVE_SPIN_H
#define PS_ADAPTIVE_SPIN_H

#include <stdint.h>

#define PS_ADAPTIVE_SPIN_LEAST_NS UINT64_C(20000)

/* Returns the next search time, after a search of searched_ns that found nothing and a sleep of slept_ns. most_ns: the
 * first search time. */
static inline uint64_t ps_adaptive_spin_after(uint64_t searched_ns, uint64_t slept_ns, uint64_t most_ns)
{
    uint64_t gap = searched_ns + slept_ns, half = searched_ns / 2;
    if (gap <= most_ns)
        return gap > most_ns / 2 ? most_ns : gap * 2;
    return half > PS_ADAPTIVE_SPIN_LEAST_NS ? half : PS_ADAPTIVE_SPIN_LEAST_NS;
}

#endif
