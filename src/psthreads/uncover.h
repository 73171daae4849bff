/* A parent that stands below a member of its region comes back for a task, where the member stands still.
 *
 * Does: in a block's first region with tasks, finds members that pass no scheduling point, and interrupts them. The
 * handler looks whether the member was called on its parent's stack, and whether a task waits that member 0 may run
 * (team_lend.c, "A parent below a member"). If so the member is promoted there, and member 0 lent. Does not: anything
 * in later regions of the block, whose parents run no members as calls, nor where member 0 itself makes the first task:
 * then no member stands above the parent.
 *
 * Callers: uncover_watch_more the member that makes the region's first task, uncover_watch_less the parent at the
 * region's end; the other functions the watchdog, and uncover_reset a forked child.
 *
 * A handler may not start a kernel thread. So a member is interrupted twice. At first it says that it wants one
 * (WANTS). Then the watchdog starts a carrier that is no thread's, puts it into `carrier`, and asks again. The handler
 * takes it out by exchange, so that it has one owner. A member in a system call may not be left again at once, since
 * the call is being made anew. So a carrier that was not taken stays for the next looks, each of which asks once.
 * A handler may have taken a carrier, and find that a sender of signals has given its thread one meanwhile. The handler
 * does not put the carrier back, since the watchdog may have put another one there: it tells the carrier to end. The
 * watchdog takes it back, and it ends, when it is wanted for another vp, or when no such region is open.
 *   word    ASKED by the watchdog before each interrupt; REFUSED, WANTS or MOVES by the handler; ASKED -> REFUSED by
 *           the watchdog after a while, so that a handler that is late does nothing.
 * tests/models/uncover.pml has the carrier's ways.
 * The member is moved where it may be left at all: os_interrupted_program, as in preempt.c.
 *
 * `open` counts such regions. `open` is raised (seq_cst) before `armed` is read, and the watchdog reads `open`
 * (seq_cst) after it has disarmed: one sees the other (watchdog.h).
 * Cost: while such a region is open, a tick of the watchdog each 5 ms, and a signal each 20 ms to a vp that passes no
 * scheduling point; nothing later.
 * Failures: no kernel thread to be had, a signal that is blocked: the member is left alone, and asked again. Not under
 * sanitizers and Valgrind. */
#ifndef PS_UNCOVER_H
#define PS_UNCOVER_H

#include <stdbool.h>

struct watchdog_sample;

void uncover_watch_more(void);
void uncover_watch_less(void);
bool uncover_wanted(void);
void uncover_look(const struct watchdog_sample *s);
/* The watchdog stops watching: a carrier that was not taken ends. */
void uncover_end(void);
/* In a forked child: there is none. */
void uncover_reset(void);

#endif
