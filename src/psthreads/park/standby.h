/* Standbys: spares that have nothing to do, and stand by with their vps until they are called.
 *
 * A spare (watchdog.h) is wanted at once, and again and again: by members that block (blocking.h), by regions that
 * needed kernel threads before (needs.h), by roots that are released (home.h). A new kernel thread takes some fifty
 * microseconds, and may not be had: the system starts no more, or a thread of the program's that does not run holds a
 * lock that a start needs (malloc's, the dynamic linker's). So a spare that finds nothing to do stands by, and keeps
 * its vp. As many may stand by as there are roots, plus as many as were lately at work at once; others end. The second
 * number is halved each second while the watchdog looks. For each root a spare is started before it is needed.
 *
 * A spare: AT WORK -> STANDS_BY -> AT WORK, or ENDS; AT WORK -> ENDS. `lock` guards the list of those that stand by,
 * their number, the grants that none has yet, and `stops`. Each has a word of its own, and stores STANDS_BY there under
 * the lock, as it enters the list. The thread that takes it out of the list stores what it is to do (release) and wakes
 * it. No wake-up is lost: a spare is in the list before the lock is free, one thread takes it out, and the futex
 * compares the word. `stops` is set under the lock: a spare that looks later ends, and one that stands by is in the
 * list and is told. Its word is in its frame, and may be gone when it is woken: a futex wake does not need the memory.
 * tests/models/standby.pml.
 *
 * A spare that stands by counts no more in ps_watchdog.spares, and has all signals blocked. A forked child has none. */
#ifndef PS_STANDBY_H
#define PS_STANDBY_H

#include "compiler.h"

#include <stdbool.h>
#include <stdint.h>

/* Lets the calling kernel thread, a spare's, stand by until it is called, is granted one piece of work, or has to
 * end. */
enum standby_word { STANDBY_RESTS, STANDBY_CALLED, STANDBY_GRANTED, STANDBY_ENDS };
enum standby_word standby_rest(void);
/* Wakes a spare that stands by, and counts it as at work again. False: there is none. Any kernel thread. */
bool standby_call(void);

/* Grants n spares a piece of work each: those that stand by, then those that come to stand by. Returns how many did not
 * stand by. standby_revoke takes these grants back, as far as they are left. Any kernel thread. */
unsigned standby_grant(unsigned n);
void standby_revoke(unsigned n);

/* Lets as many stand by as n roots want, plus as many as were lately at work; returns how many of n are lacking.
 * Caller: the watchdog, in each of its ticks. */
unsigned standby_keep(unsigned n, uint64_t now_ns);

/* Returns how many spares stand by. */
unsigned standby_idle(void);
/* standby_begins: counts a spare's kernel thread that is about to begin. standby_ended: counts off one that was
 * refused, or has ended. */
void standby_begins(void);
void standby_ended(void);

/* Ends all of them. The caller has stopped the watchdog and the workers; spares at work end when they find nothing. */
void standby_stop(void);
/* Called before the first spare, and in a forked child. */
void standby_reset(void);

#endif
