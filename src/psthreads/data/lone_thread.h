/* How often an idle vp looks into queues: less often while it finds short threads there, one at a time.
 *
 * A thread that its maker joins at once costs the maker some tens of nanoseconds, because the joiner calls the thread
 * itself. If an idle vp looks into the maker's queue meanwhile, each look takes the queue's cache line away from the
 * maker. If the vp also takes the thread, the maker waits for the line to come back, which costs three to six times as
 * much as making and joining the thread. So an idle vp learns from what it takes:
 *   it took one fresh thread alone 16 times in a row, and was idle again within a microsecond each time:
 *       from then on each further such thread doubles the rounds between two looks, up to PS_LONE_MOST
 *   it took anything else (a thread that has begun, a team's member, several threads), or was busy for longer:
 *       it looks in each round again
 * The looks never stop: they are at most some three microseconds apart. So a thread that is alone in a queue and has
 * much work waits some three microseconds more before another vp takes it. The vp looks at its own pinned slot and
 * handoff slot in each round. A vp always looks everywhere once more before it sleeps, so the proof that no wake-up is
 * lost (idle.h) does not depend on this file.
 *
 * Does: the arithmetic. Caller: the vp's loop. Only the vp itself reads and writes its struct ps_lone. Cost: two
 * readings of the cycle counter for each fresh thread that the vp takes alone.
 * Rejected: a queue's lock that favours its owner (of 110 ns the atomics take 6, the transfer of the cache line the
 * rest). A flag by which the maker says that it has more than one thread: each insertion would read the flag, and a
 * lone thread with much work would still wait. A fixed pause before a lone thread is taken, as in Go: a program that
 * makes one thread beside its own work would pay for it each time. */
#ifndef PS_LONE_THREAD_H
#define PS_LONE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#define PS_LONE_MOST 64u /* the most rounds between two looks; a power of two */
/* After this many lone threads in a row the vp looks less often. One is not enough: the last thread of a long queue is
 * alone, too. */
#define PS_LONE_IN_ROW 16u

struct ps_lone {
    /* The time, in cpu_cycles, at which the vp took a fresh thread alone. 0: what it took last was something else. */
    uint64_t since;
    /* In a search the vp looks into queues in each `rounds`-th round. A power of two; 0 means 1. */
    unsigned rounds;
    /* How many short fresh threads the vp took alone, one after the other. Counted up to PS_LONE_IN_ROW. */
    unsigned in_row;
};

/* Returns true if the vp is to look into queues in this round of its search. The first round is 1. */
static inline bool ps_lone_due(const struct ps_lone *l, unsigned round)
{
    return l->rounds <= 1 || (round & (l->rounds - 1)) == 0;
}
/* Returns the first round of a search in which the vp looks into queues. */
static inline unsigned ps_lone_first(const struct ps_lone *l) { return l->rounds <= 1 ? 1 : l->rounds; }

/* Notes that the vp has found work. fresh_alone: the work is one thread that has not begun, and no other thread came
 * with it. now: the time in cpu_cycles; 0 if fresh_alone is false. */
static inline void ps_lone_took(struct ps_lone *l, bool fresh_alone, uint64_t now)
{
    l->since = fresh_alone ? now : 0;
    if (!fresh_alone)
        l->rounds = l->in_row = 0;
}

/* Notes that the vp is idle again, after it took a fresh thread alone (`since` is not 0). A thread that took the vp at
 * most `most` cycles was short: its maker would have run it sooner than it took to move it. */
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
