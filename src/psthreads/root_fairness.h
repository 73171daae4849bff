/* Roots take turns where there are more kernel threads than processors.
 *
 * A library that lets one team at a time in (OpenBLAS's OpenMP build) has its other callers spin, without a yield,
 * until that team is done. Each of these callers takes one time slice after the other from the members that it waits
 * for. The more callers there are, the slower the team gets. The system does not know which threads wait. What can be
 * seen is that roots outside of any region burn the processors that a team could use.
 *
 * Does: holds roots that are too many. While several roots want a processor and one of them runs members, all but one
 * of the others are too many, for its team could use every processor. Such roots are held in a signal handler, in the
 * program's own code outside of regions. A root runs for TURN_NS before it is held. A root that has been held for
 * TURN_NS takes the place of a root whose turn is over. No root is held for more than HELD_NS. The system does the same
 * to threads that it preempts, in longer slices. Does not: hold a root in a region, in the C library or in the runtime,
 * where the root may have a lock in hand; or leave a processor unused. Held roots go on, one at each look, once fewer
 * threads want a processor than there are processors. They also go on once no thread runs members, because a held root
 * may have what the others spin for.
 *
 * Caller: the watchdog. A root that opens an outermost region arms it where there is more than one root.
 * States (vp.turn), each change by compare-and-swap, so each has one author, and a handler that is late for its ASKED
 * does nothing:
 *   FREE -> ASKED      the watchdog, before the signal
 *   ASKED -> HELD      the handler
 *   HELD -> FREE       the watchdog, with a wake-up, or the handler when its time is over
 *   ASKED -> INSIDE    the handler: the root is in a region, or waits in its vp's loop
 *   INSIDE -> FREE     the watchdog, once the vp has passed a scheduling point
 *   ASKED -> FREE      the watchdog: the signal is late, or the code was not the program's
 * Limit: INSIDE is as old as the vp's last scheduling point. A root that has left its region since is not held, and
 * counts as a team, until it opens another one. No wake-up is needed for progress: each held root has a deadline of its
 * own.
 * Orderings: relaxed but for the release of ASKED, which the handler acquires: nothing else is handed over.
 *
 * A root that has a lock of the program's own in hand when it is held keeps it for HELD_NS at most, and only while the
 * processors are in use.
 * Failures: a kernel thread with all signals blocked, or no signal free: no root is held. Not under ThreadSanitizer
 * (see preempt.c).
 * Cost: with one root none. With more, while regions are opened: every 5 ms (every ms where there are too many) a
 * reading of the clock of each vp's kernel thread. For kernel threads that seem to rest also a look into /proc.
 * Rejected: a lower priority for roots that spin: it cannot be raised again without a privilege. Members that wait
 * without yielding: they keep their own slice, but the slices of the spinners are as long as before. Only roots without
 * a scheduling point in the last look's time: callers of a library that lets one in at a time all have some. Holding
 * from the region's start on: two system calls for each root in each region of a few microseconds. */
#ifndef PS_ROOT_FAIRNESS_H
#define PS_ROOT_FAIRNESS_H

#include "watchdog_sample.h"

/* Of vp.turn. */
enum { ROOT_TURN_FREE, ROOT_TURN_ASKED, ROOT_TURN_HELD, ROOT_TURN_INSIDE };

/* In place. */
_Atomic uint32_t *vp_turn(const struct vp *vp);

enum root_fairness_what {
    ROOT_LATE,    /* ASKED -> FREE: the signal is late, or met code that must not be held */
    ROOT_OUTSIDE, /* INSIDE -> FREE: the root's vp has passed a scheduling point */
    ROOT_HOLD,    /* FREE -> ASKED, and the signal */
    ROOT_LET_GO,  /* HELD -> FREE, with a wake-up */
};
struct root_fairness_step {
    enum root_fairness_what what;
    struct vp *vp;
    struct vp *in_place_of; /* ROOT_HOLD: once the signal is sent, this root is let go; or NULL */
};
struct root_fairness_action {
    struct root_fairness_step *steps; /* in this order */
    unsigned num_steps;
    bool soon; /* the watchdog is to look again in a millisecond */
};

void root_fairness_decide(struct watchdog_sample *s, struct root_fairness_action *action);
void root_fairness_act(const struct root_fairness_action *action);
/* All roots are let go. */
void root_fairness_end(void);
/* As in a process without history: in a forked child, where the other threads are gone. */
void root_fairness_reset(void);

#endif
