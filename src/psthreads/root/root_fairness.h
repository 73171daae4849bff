/* Roots take turns where a library lets one team at a time in.
 *
 * OpenBLAS's OpenMP build (0.3.21) has its other callers spin, without a yield, until that team is done. Each of these
 * callers takes one time slice after the other from the members that it waits for. The more callers there are, the
 * slower the team gets. The system does not know which threads wait, and nothing can be done about one that spins. But
 * each caller asks first whether it is in a region (omp_in_parallel). There it can be made to wait without a processor.
 *
 * Sees: how long after that question a root opens its region, while others open some. After two that were late, roots
 * have one turn between them. Does: a root takes the turn when it asks, and gives it back at the end of the region that
 * it opens next. The others sleep. Does not: hold a root anywhere else, or look at processors.
 *
 * The word: 0 nobody has the turn; else the owner's vp + 1, | OPEN: its region is open. A root that waits looks again
 * and again, all of them together once in a LOOK_NS. So no wake-up is lost, and none is made at the region's end, where
 * the library's own lock is still held. An owner that comes back before somebody has looked goes on at once.
 *   0 -> owner        that root, as it asks, by compare-and-swap
 *   owner -> another  a root that has met that owner, and no region, for a whole look: it has asked for nothing
 *   owner -> OPEN     the owner, by compare-and-swap
 *   OPEN -> 0         the parent, at the join
 * An owner that has gone on for TURN lets another one come before it, which it wakes.
 *
 * Every TRIAL one of those that wait goes on out of turn, for two reasons. The program may need what it has. And if it
 * opens its region while the owner's is open, nobody shuts it out. After three such roots, or 64 owners that were late
 * for other reasons than others' regions, there are no turns for a second, and each time for twice as long.
 *
 * Callers: root_fairness_take a root; root_fairness_open a root that opens an outermost region (region_checks.c),
 * before the members can begin; root_fairness_give the parent. What is known is relaxed: a race loses an observation.
 * The word orders nothing but itself. Not beside race detectors, which would take turns for an order of the program's.
 * Cost: with one root none. With more, a reading of the cycle counter where a root asks. With turns, two atomic
 * operations a region, and a thousand looks a second.
 * Limit: a library whose callers do not ask.
 *
 * Rejected (bench/NOTES.md has the numbers). Holding roots where they spin: that takes a signal of the runtime's own.
 * Affinity, where all roots but one share a processor: the one that the library lets in is often among them. A lower
 * priority: a thread cannot come back from there without a privilege. Shorter slices: they end with the clock's ticks.
 * A wake-up at each region's end: the thread that is woken takes the processor from the one that has the library's lock
 * in hand. Turns of a fixed length: processors rest while the owner does other work. */
#ifndef PS_ROOT_FAIRNESS_H
#define PS_ROOT_FAIRNESS_H

#include "atomic.h"
#include "compiler.h"
#include "parts.h"

struct ps_team;
struct vp;

/* What is known. Times in cpu_cycles. */
struct root_fairness {
    _Atomic uint32_t on;                    /* there are turns */
    _Atomic uint32_t spun, beside, dawdled; /* how many of these there were */
    _Atomic uint64_t rest, rest_until;
};
/* How a root has opened a region that it asked before: */
enum root_opening {
    ROOT_AT_ONCE,
    ROOT_SPUN,    /* late, and others opened some meanwhile */
    ROOT_BESIDE,  /* while the region of the turn's owner was open */
    ROOT_DAWDLED, /* late for other reasons */
};
void root_fairness_judge(struct root_fairness *f, enum root_opening how, uint64_t now);

/* The caller is in no region, and has asked; it may wait. */
void root_fairness_take(void);
void root_fairness_open(struct vp *vp, struct ps_team *team, uint64_t now);
void root_fairness_give(void);
/* In a forked child: the other roots are gone. */
void root_fairness_reset(void);

#endif
