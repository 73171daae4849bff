/* How long an idle vp searches before it parks. The vp learns this time from the gaps between pieces of work.
 *
 * A search that ends too early costs a sleep and a wake-up: a microsecond on a real machine, fifty in a virtual machine
 * whose other processor sleeps. A search that finds nothing burns the processor. The gap is the time of the search and
 * of the sleep after it. If the gap is shorter than the longest search that is allowed, the vp's next search lasts
 * twice the gap, or as long as is allowed. If the gap is longer, the search was in vain, and the next one lasts half as
 * long, but at least 20 us. So where regions follow each other closely, the vp still searches when the next region
 * begins. A program that rests between regions burns some tens of microseconds in each rest, not a millisecond.
 *
 * Does: the arithmetic. Caller: a vp after each sleep, in its loop (search.c), or in the wait of a dedicated vp
 * (dedicated.c). The vp keeps the search time; no other vp reads it. Where the program or the user fixes the search
 * time (GOMP_SPINCOUNT, OMP_WAIT_POLICY), the vp learns nothing. Cost: each sleep reads the clock twice.
 * Rejected: a mean of the gaps. One long rest after a burst of regions would let the vp sleep during the whole next
 * burst. */
#ifndef PS_ADAPTIVE_SPIN_H
#define PS_ADAPTIVE_SPIN_H

#include <stdint.h>

#define PS_ADAPTIVE_SPIN_LEAST_NS UINT64_C(20000)

/* Returns the next search time in ns. The last search time was searched_ns, and nothing was found; then the vp slept
 * for slept_ns. most_ns: the longest search time that is allowed. A vp's first search lasts as long. */
static inline uint64_t ps_adaptive_spin_after(uint64_t searched_ns, uint64_t slept_ns, uint64_t most_ns)
{
    uint64_t gap = searched_ns + slept_ns, half = searched_ns / 2;
    if (gap <= most_ns)
        return gap > most_ns / 2 ? most_ns : gap * 2;
    return half > PS_ADAPTIVE_SPIN_LEAST_NS ? half : PS_ADAPTIVE_SPIN_LEAST_NS;
}

#endif
