/* Waiting on a word: a futex of user-level threads. See address_wait.c for the protocol. */
#ifndef PS_ADDRESS_WAIT_H
#define PS_ADDRESS_WAIT_H

#include "atomic.h"
#include "compiler.h"

/* Waits while *word == expected: spins for about two context switches where that can pay, then blocks the thread.
 * Returns when it was woken or has seen *word differ. No-stack threads that would have to block: one line and abort
 * (ps_block). */
void ps_wait_on(_Atomic uint32_t *word, uint32_t expected);
/* Wakes up to n threads that wait on word, the longest waiting first; UINT_MAX: all. The caller has changed *word
 * before. Does not switch, and does not touch *word, which may be gone already. Nobody waits: a fence and a load. */
void ps_wake_on(_Atomic uint32_t *word, unsigned n);
/* In a forked child, before anything waits: the threads that waited do not exist here. */
void ps_wait_on_after_fork(void);

#endif
