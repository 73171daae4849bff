/* Spin lock: test-and-test-and-set.
 *
 * Does: short critical sections between kernel threads. Does not: sleep, queue, count, or know user-level threads: a
 * holder must not switch to another context, and its critical section should be some tens of instructions.
 * Callers: any thread, on any stack; but not a signal handler that may have interrupted the holder.
 * States: 0 free, 1 held. Written by the thread that takes the lock (exchange) and by the holder (release store); read
 * by waiters.
 * Ordering: the release store of unlock pairs with the acquire of the exchange by which the next holder takes the lock
 * (in ps_spin_lock, ps_spin_try_lock or ps_spin_take).
 * Failures: none. Cost: lock, one exchange; unlock, one store; try_lock on a held lock, one load.
 *
 * A waiter reads the line without writing it, and pauses longer and longer between looks. After some hundred looks it
 * yields its processor to another kernel thread before each look, because the holder may have been preempted on this
 * very processor. A waiter does not sleep: it stays runnable.
 * Rejected: ticket and queue locks. Where one waiter in line is preempted, all behind it wait (a convoy).
 * Paper: balder-threads-2004, figure 2. This is its spinning half; the blocking half is the scheduler's.
 *
 * PS_PORTABLE: every lock is made of a POSIX mutex and a condition variable instead (spin_posix.c). The size, the
 * all-zero free state and the rules for callers stay the same. */
#ifndef PS_SPIN_H
#define PS_SPIN_H

#include "atomic.h"
#include "compiler.h"

struct ps_spin {
    _Atomic uint32_t word;
};

static inline void ps_spin_init(struct ps_spin *lock) { ps_store_relaxed(&lock->word, 0); }

#if PS_PORTABLE

void ps_spin_lock(struct ps_spin *lock);
bool ps_spin_try_lock(struct ps_spin *lock);
static inline bool ps_spin_take(struct ps_spin *lock) { return ps_spin_try_lock(lock); }
void ps_spin_unlock(struct ps_spin *lock);

#else

/* The slow part of ps_spin_lock, when another thread holds the lock: waits until the caller has taken it. */
PS_COLD void ps_spin_lock_slow(struct ps_spin *lock);

static inline void ps_spin_lock(struct ps_spin *lock)
{
    if (PS_UNLIKELY(ps_xchg_acquire(&lock->word, 1) != 0))
        ps_spin_lock_slow(lock);
}
static inline bool ps_spin_try_lock(struct ps_spin *lock)
{
    return ps_load_relaxed(&lock->word) == 0 && ps_xchg_acquire(&lock->word, 1) == 0;
}
/* Tries to take the lock by an exchange at once, without a load before it. For a caller that expects the lock to be
 * free. */
static inline bool ps_spin_take(struct ps_spin *lock) { return ps_xchg_acquire(&lock->word, 1) == 0; }
static inline void ps_spin_unlock(struct ps_spin *lock) { ps_store_release(&lock->word, 0); }

#endif

/* Returns true if some thread holds the lock. A hint: another thread may take or release it at any time. */
static inline bool ps_spin_is_held(struct ps_spin *lock) { return ps_load_relaxed(&lock->word) != 0; }

#endif
