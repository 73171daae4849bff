/* Standbys: spares that have nothing to do, and keep their vps until they are called.
 *
 * A spare (watchdog.h) is wanted at once, and again and again: by members that block (blocking.h), by regions that
 * needed kernel threads before (needs.h), by roots that are released (home.h). A new kernel thread takes some fifty
 * microseconds, and may be impossible: the system refuses it, or a thread of the program that does not run holds a lock
 * that the start needs (malloc's, the dynamic linker's). So a spare that finds nothing to do stands by, and keeps its
 * vp. One spare may stand by for each root, and as many more as were lately at work at once; the others end. The second
 * number is halved each second while the watchdog looks. For each root the watchdog starts a spare before it is needed.
 *
 * States of a spare: AT WORK -> STANDS_BY -> AT WORK, or ENDS; AT WORK -> ENDS. `lock` guards the list of spares that
 * stand by, their number, the grants that no spare has yet, and `stops`. Each spare has a word of its own. It stores
 * STANDBY_RESTS there and enters the list, under the lock. The thread that takes it out of the list stores there what
 * the spare is to do (release), and wakes it. No wake-up is lost: the spare is in the list before the lock is free, one
 * thread takes it out, and the futex compares the word. `stops` is set under the lock. A spare that takes the lock
 * later sees `stops`, and ends. A spare that entered the list earlier is told to end. The word is in the spare's frame,
 * so the word may be gone when the waker wakes the spare; a futex wake does not need the memory.
 * tests/models/standby.pml.
 *
 * A spare that stands by is not counted in ps_watchdog.spares, and has all signals blocked. A forked child has no
 * spares. */
#ifndef PS_STANDBY_H
#define PS_STANDBY_H

#include "compiler.h"

#include <stdbool.h>
#include <stdint.h>

/* Called by a spare's kernel thread that has nothing to do: stands by. Returns CALLED: it is to work as long as it is
 * needed; GRANTED: it may take one piece of work; ENDS: it is to end. RESTS is never returned. */
enum standby_word { STANDBY_RESTS, STANDBY_CALLED, STANDBY_GRANTED, STANDBY_ENDS };
enum standby_word standby_rest(void);
/* Wakes a spare that stands by, and counts it as at work. False: no spare stands by. Any kernel thread may call. */
bool standby_call(void);

/* standby_grant: grants n spares one piece of work each. If fewer than n stand by, the other grants wait for spares
 * that are about to stand by. Returns how many grants wait. standby_revoke takes back n grants that wait, or all if
 * fewer do. Any kernel thread may call. */
unsigned standby_grant(unsigned n);
void standby_revoke(unsigned n);

/* Called by the watchdog in each tick. Lets n spares stand by for n roots, and as many more as were lately at work at
 * once; ends the others. Returns how many spares have to be started, so that n stand by or are at work. */
unsigned standby_keep(unsigned n, uint64_t now_ns);

/* Returns how many spares stand by. */
unsigned standby_idle(void);
/* standby_begins: counts a kernel thread of a spare that is about to be started. standby_ended: counts off a kernel
 * thread that was refused, or has ended. */
void standby_begins(void);
void standby_ended(void);

/* Ends all spares, and waits for their end. The caller has stopped the watchdog and the workers. Spares at work end
 * when they find nothing. */
void standby_stop(void);
/* Empties the list and sets all counts to zero. Called when the library starts, before the first spare, at the end of
 * standby_stop, and in a forked child. */
void standby_reset(void);

#endif
