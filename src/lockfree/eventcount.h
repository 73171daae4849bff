/* Event count: "tell me when to look again", without a lock around the condition.
 *
 * Does: keeps a waiter that found its condition false from missing the change. Does not: sleep or wake (it gives the
 * word to sleep on and says whether there is somebody to wake; os_park and os_wake, or a scheduler's own waiting, stand
 * above it), or know the condition.
 * Callers: anybody, on any stack.
 *
 *   waiter                                            notifier
 *     if (condition) go on                              make the condition true
 *     key = ps_eventcount_prepare(e)                    if (ps_eventcount_notify(e))
 *     if (condition) { ps_eventcount_cancel(e); go on }     wake sleepers on &e->epoch
 *     while (ps_eventcount_waiting(e, key)) sleep on e->epoch == key
 *     ps_eventcount_finish(e); look at the condition again
 *
 * Shared fields: waiters - written by waiters (add, subtract), read by notifiers; epoch - written by notifiers that saw
 * a waiter, read by waiters. Epochs wrap after 2^32 notifications within one sleep, which a waiter would have to sleep
 * through.
 *
 * Ordering. The interleaving to be forbidden: the waiter finds the condition false, the notifier makes it true and sees
 * no waiter, the waiter sleeps. prepare is "waiters + 1; fence", notify "fence; read waiters", both fences sequentially
 * consistent: either notify sees the waiter, or the waiter's second look sees the condition (Dekker). If notify sees
 * the waiter it changes the epoch: the waiter either took its key before, and then does not go on sleeping on it, or
 * took it after, from the notifier's release with an acquire, and then its second look sees the condition.
 * The thread sanitizer knows no fences: there notify reads by a read-modify-write of waiters, whose place in the word's
 * one order decides the same (before prepare's: prepare acquires from it; after: it sees the waiter).
 *
 * Failures: none. Cost: notify with nobody waiting: one fence and one load of a line that nobody writes then; prepare
 * and finish: one read-modify-write each.
 * Rejected: epoch and waiters in one word (each new waiter would change the word that others are about to sleep on). */
#ifndef PS_EVENTCOUNT_H
#define PS_EVENTCOUNT_H

#include "atomic.h"
#include "compiler.h"

struct ps_eventcount {
    _Atomic uint32_t epoch;   /* the word to sleep on */
    _Atomic uint32_t waiters; /* between prepare and cancel or finish */
};

static inline void ps_eventcount_init(struct ps_eventcount *e)
{
    ps_store_relaxed(&e->epoch, 0);
    ps_store_relaxed(&e->waiters, 0);
}

/* Announces a waiter. Returns the key; look at the condition once more, then cancel, or wait and finish. */
static inline uint32_t ps_eventcount_prepare(struct ps_eventcount *e)
{
    ps_add_seq(&e->waiters, 1);
    uint32_t key = ps_load_acquire(&e->epoch);
#if !PS_TSAN
    ps_fence_seq();
#endif
    return key;
}
static inline void ps_eventcount_finish(struct ps_eventcount *e) { ps_sub_relaxed(&e->waiters, 1); }
static inline void ps_eventcount_cancel(struct ps_eventcount *e) { ps_eventcount_finish(e); }

/* Still to wait? Once it says no, what the notifier did before is visible. */
static inline bool ps_eventcount_waiting(struct ps_eventcount *e, uint32_t key)
{
    return ps_load_acquire(&e->epoch) == key;
}

/* After the condition was made true. True: somebody may sleep on e->epoch and is to be woken. */
static inline bool ps_eventcount_notify(struct ps_eventcount *e)
{
#if PS_TSAN
    uint32_t waiters = ps_add_seq(&e->waiters, 0);
#else
    ps_fence_seq();
    uint32_t waiters = ps_load_relaxed(&e->waiters);
#endif
    if (PS_LIKELY(waiters == 0))
        return false;
    ps_add_release(&e->epoch, 1);
    return true;
}

#endif
