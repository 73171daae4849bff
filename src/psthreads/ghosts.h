/* Ghosts: threads that an object remembers and that a fork has left behind.
 *
 * A forked child has one thread, the one that forked. Its memory has all objects as they were: with threads queued at
 * them, on their way to them or in the middle of changing them. Such threads are ghosts. What a ghost has done to an
 * object stays: the mutex that it holds is held, the barrier at which it arrived counts it, as with kernel threads.
 * What it waits for is nothing any more: it must not be woken, counted, or given anything.
 *
 * A process has a number, its *generation*: 0 where it was not forked, one more than its parent's in a child. What an
 * object knows of waiting threads bears the generation in which it was written. If this is not the process's
 * generation, the threads are ghosts, and the object forgets all of them. The record is written in one step, or under
 * the object's short lock:
 *
 *   mutex       the bits beside LOCKED: the generation is in the same word; the queue counts only with WAITERS
 *   cond        the queue and the number of those in it; under its lock
 *   semaphore   the number of waiting threads; in the same word (modulo 64)
 *   rwlock      the number of writers that wait; in the same word
 *   once        that its function runs; in the same word
 *   barrier     those registered in the slots; the first use in a process sees to it, under a lock
 *   workqueue   work, the threads that do it, those that wait; as the barrier
 *   word        the buckets: there are 256, which the child empties at once (ps_wait_on_after_fork)
 *
 * Why not one ghost is looked at. A waiter's record is on its stack. In the child the C library gives the stacks of the
 * other kernel threads to new ones, so the records of roots are overwritten sooner or later. A list that a ghost was
 * changing at the fork may be torn. So ghosts are not skipped one by one. A list of another generation is never walked,
 * and its last record is never linked to a new one: the list's head is overwritten first. Memory that only the list
 * knew is lost (a work-queue's entries).
 *
 * Why no thread waits in vain for a short lock. The thread that takes the lock stores the generation in it
 * (ps_lock_living). A lock that bears another generation is a ghost's, so it is free. What the lock guards is of
 * another generation too, since it changes under the lock only. The generation that guards the data is written last
 * under the lock. So a child that is forked in the middle of a change begins anew.
 *
 * Cost: nothing where no thread waits, or one comparison (barrier, work-queue); one comparison on the way that takes a
 * waiter. Rejected: a list of all objects, renewed by the child (each use of a static initialiser would have to enter
 * it). Rejected: binding ghosts to a vp that no thread visits (their records would still be read). */
#ifndef PS_GHOSTS_H
#define PS_GHOSTS_H

#include "compiler.h"
#include "spin.h"

#include <stdint.h>

/* Written in a forked child, before there is a second thread. In address_wait.c. */
extern __attribute__((visibility("hidden"))) uint32_t ps_generation;

/* An object's short lock; ps_spin_unlock frees it. */
static inline void ps_lock_living(struct ps_spin *lock) { ps_spin_lock_as(lock, ps_generation + 1); }

#endif
