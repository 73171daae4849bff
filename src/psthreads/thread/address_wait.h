/* Waiting for a change of a word: a futex of user-level threads. See address_wait.c for the protocol. */
#ifndef PS_ADDRESS_WAIT_H
#define PS_ADDRESS_WAIT_H

#include "compiler.h"
#include "timer.h"
#include "waitq.h"

/* Waits while *word == expected: spins for about two context switches where that can pay, then blocks the thread.
 * Returns when it was woken or has seen *word differ. No-stack threads that would have to block: one line and abort
 * (ps_block). */
void ps_wait_on(_Atomic uint32_t *word, uint32_t expected);
/* Wakes up to n threads that wait on word, the longest waiting first; UINT_MAX: all. The caller has changed *word
 * before. Does not switch, and does not touch *word, which may be gone already. No waiter: a fence and a load. */
void ps_wake_on(_Atomic uint32_t *word, unsigned n);
/* Whether a thread waits on word, at some moment of the call. Only its address is used. */
bool ps_anybody_waits_on(_Atomic uint32_t *word);
/* Called in a forked child before any thread waits: the threads that waited in the parent do not exist here. */
void ps_wait_on_after_fork(void);

/* As ps_wait_on, but until deadline_ns (of os_now_ns; PS_NEVER) at most, and without looking first. False: the deadline
 * came, and no thread woke the caller. */
bool ps_wait_on_until(_Atomic uint32_t *word, uint32_t expected, enum ps_wait kind, uint64_t deadline_ns);
/* A call has tried and not got what it wanted, nor waited: now and then lets another ready thread run. So a thread that
 * polls does not keep the thread for which it polls from running on the same vp. */
void ps_tried_in_vain(void);
/* ps_wait_on_until in two steps, for a word that never changes: a wake of the word finds the caller from
 * ps_wait_publish on. */
void ps_wait_publish(_Atomic uint32_t *word, struct ps_waiter *me);
bool ps_wait_published(struct ps_waiter *me, enum ps_wait kind, const volatile void *object, uint64_t deadline_ns);

#endif
