/* Waiting for a change of a word: a futex for user-level threads. See address_wait.c for the protocol. */
#ifndef PS_ADDRESS_WAIT_H
#define PS_ADDRESS_WAIT_H

#include "compiler.h"
#include "timer.h"
#include "waitq.h"

/* Waits while *word == expected: the caller first spins for about two context switches where spinning can pay, then it
 * blocks. Returns when another thread has woken the caller, or when the caller has seen that *word differs. A thread
 * without a stack cannot block: the process writes one line and aborts (ps_block). */
void ps_wait_on(_Atomic uint32_t *word, uint32_t expected);
/* Wakes up to n threads that wait on word, in the order of their arrival; n UINT_MAX wakes all. The caller must have
 * changed *word before. The call does not switch threads. It does not access *word, whose memory may be freed already.
 * Where no thread waits it costs a fence and a load. */
void ps_wake_on(_Atomic uint32_t *word, unsigned n);
/* Returns whether a thread waits on word, at some moment of the call. Only the address of the word is used. */
bool ps_anybody_waits_on(_Atomic uint32_t *word);
/* Empties all buckets: the threads that waited in the parent process do not exist in the child. Called in a forked
 * child, before any thread waits there. */
void ps_wait_on_after_fork(void);

/* As ps_wait_on, but without spinning, and until deadline_ns at the latest (a moment of os_now_ns, or PS_NEVER).
 * Returns true if another thread has woken the caller, or if *word differs from `expected`; false if the deadline has
 * come first. */
bool ps_wait_on_until(_Atomic uint32_t *word, uint32_t expected, enum ps_wait kind, uint64_t deadline_ns);
/* Called by an operation that returns without having waited, such as a trylock that has failed. Every 64th call on a
 * kernel thread lets the other ready threads of the vp run. So a thread that polls does not keep the thread for which
 * it polls from running on the same vp. */
void ps_tried_in_vain(void);
/* ps_wait_on_until in two steps, for a word whose value does not change any more. ps_wait_publish puts the caller into
 * the queue: from then on a wake of the word finds it. ps_wait_published blocks. It returns true if a thread has woken
 * the caller, false if the deadline has come first. */
void ps_wait_publish(_Atomic uint32_t *word, struct ps_waiter *me);
bool ps_wait_published(struct ps_waiter *me, enum ps_wait kind, const volatile void *object, uint64_t deadline_ns);

#endif
