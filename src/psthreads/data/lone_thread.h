/* How often an idle vp looks into queues: less often while what it finds there are short threads, one at a time.
 *
 * A thread that is made and joined at once costs its maker some tens of nanoseconds, where the joiner calls it. A vp
 * that looks into the maker's queue meanwhile takes the queue's cache line away, at each look. Where it finds the
 * thread there, the maker waits for the line to come back: three to six times the cost of all the rest. So an idle vp
 * learns from what it takes:
 *   it took one fresh thread, no more came with it, and it was idle again within a microsecond, 16 times in a row:
 *       twice as many rounds of its search between two looks, up to PS_LONE_MOST
 *   it took anything else (a thread that has begun, a team's member, several threads), or was busy for longer:
 *       a look in each round
 * Looks go on, at most some three microseconds apart: a lone thread with real work waits that long for help, once. What
 * is for this vp alone (its slot, its handoff slot) is looked at in each round as ever. The parking proof (idle.h) does
 * not depend on this: the look before the sleep is always made.
 *
 * Does: the arithmetic. Callers: the vp's loop; the state is the vp's own. Cost: two readings of the cycle counter for
 * a fresh thread that is taken alone.
 * Rejected: a queue's lock that favours its owner (the atomics take 6 ns of 110, the cache line's transfer takes the
 * rest). A flag of the maker's that says "more than one": each insertion would have to look at it, and a lone thread
 * with real work would wait. A fixed pause before a lone thread is taken, as Go has: programs that make one thread
 * beside their own work pay it each time. */
#ifndef PS_LONE_THREAD_H
#define PS_LONE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#define PS_LONE_MOST 64u   /* rounds, a power of two */
#define PS_LONE_IN_ROW 16u /* before it looks less often: a queue of many threads has a last one, too */

struct ps_lone {
    uint64_t since;  /* cpu_cycles when it took a fresh thread alone; 0: it took something else last */
    unsigned rounds; /* of its search from look to look, a power of two; 0: as 1 */
    unsigned in_row; /* short ones that it took alone, one after the other, up to PS_LONE_IN_ROW */
};

/* Whether queues are looked at in this round, counted from 1. */
static inline bool ps_lone_due(const struct ps_lone *l, unsigned round)
{
    return l->rounds <= 1 || (round & (l->rounds - 1)) == 0;
}
/* Returns the first round in which queues are looked at. */
static inline unsigned ps_lone_first(const struct ps_lone *l) { return l->rounds <= 1 ? 1 : l->rounds; }

/* Notes that the vp has found something. fresh_alone: one fresh thread, and no more came with it. */
static inline void ps_lone_took(struct ps_lone *l, bool fresh_alone, uint64_t now)
{
    l->since = fresh_alone ? now : 0;
    if (!fresh_alone)
        l->rounds = l->in_row = 0;
}

/* Notes that the vp is idle again. most: cycles for which it is not worth while to take a thread. */
static inline void ps_lone_idle(struct ps_lone *l, uint64_t now, uint64_t most)
{
    if (now - l->since > most)
        l->rounds = l->in_row = 0;
    else if (l->in_row < PS_LONE_IN_ROW)
        l->in_row++;
    else if (l->rounds < PS_LONE_MOST)
        l->rounds = 2 * ps_lone_first(l);
    l->since = 0;
}

#endif
