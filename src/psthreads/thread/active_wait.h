/* Spinning: a thread that waits for another thread polls for a while before it blocks. It spins for about the time of
 * two context switches (balder-threads-2004 section 2).
 *
 *   for (unsigned left = ps_spin_budget(); left; left = ps_spin_round(left))
 *       if (it has happened)
 *           return;
 *   ... block
 *
 * A thread does not spin where spinning cannot pay: in a passive configuration, and while other threads are ready
 * behind it on its vp. It stops spinning when another thread becomes ready there. A PS_PORTABLE build never spins: a
 * thread that waits blocks at once (src/lockfree/spin_posix.c says why). */
#ifndef PS_ACTIVE_WAIT_H
#define PS_ACTIVE_WAIT_H

#include "cpu.h"
#include "scheduler.h"

/* Returns how many rounds the caller should spin before it blocks; 0 where it should not spin. */
static inline unsigned ps_spin_budget(void)
{
#if PS_PORTABLE
    return 0;
#else
    return ps_spin_useful() ? ps_spin_limit() : 0;
#endif
}

/* Spins one round: pauses the processor, and returns how many rounds are left. In every 16th round it returns 0 if
 * another thread is ready behind the caller. */
static inline unsigned ps_spin_round(unsigned left)
{
    cpu_pause();
    left--;
    return left % 16 || ps_spin_useful() ? left : 0;
}

#endif
