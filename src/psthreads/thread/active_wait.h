/* Waiting actively for another thread, for a while, before blocking (balder-threads-2004 section 2: about two
 * switches).
 *
 *   for (unsigned left = ps_spin_budget(); left; left = ps_spin_round(left))
 *       if (it has happened)
 *           return;
 *   ... block
 *
 * There is no spinning where it cannot pay: while other threads are ready behind the caller (also if they become so
 * meanwhile), and in a passive configuration. A PS_PORTABLE build never spins: it waits in POSIX primitives and by
 * blocking only (src/lockfree/spin_posix.c). */
#ifndef PS_ACTIVE_WAIT_H
#define PS_ACTIVE_WAIT_H

#include "cpu.h"
#include "scheduler.h"

/* Rounds that a waiting call should spin before it blocks; 0 where it should not. */
static inline unsigned ps_spin_budget(void)
{
#if PS_PORTABLE
    return 0;
#else
    return ps_spin_useful() ? ps_spin_limit() : 0;
#endif
}

/* One round: pauses, returns the rounds left. Asks now and then whether another thread wants this vp. */
static inline unsigned ps_spin_round(unsigned left)
{
    cpu_pause();
    left--;
    return left % 16 || ps_spin_useful() ? left : 0;
}

#endif
