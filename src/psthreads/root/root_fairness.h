/* Roots take turns where a library lets one team at a time in.
 *
 * While OpenBLAS's OpenMP build (0.3.21) runs one team, its other callers spin, without a yield, until that team is
 * done. Each of these callers takes one time slice after the other from the members that it waits for. The more callers
 * there are, the slower the team gets. A thread that spins cannot be made to wait. But each caller asks first whether
 * it is in a region (omp_in_parallel). There it can be made to wait without a processor.
 *
 * Sees: how long after that question a root opens its region, while others open some. After two that were late, roots
 * have one turn between them. Does: a root takes the turn when it asks, and gives it back at the end of the region
 * that it opens next. The others sleep. Does not: hold a root anywhere else, or look at processors.
 *
 * The word: 0, no root has the turn; else the owner's vp + 1, | OPEN: its region is open. A root that waits looks
 * again and again, all of them together once in a LOOK_NS. So no wake-up is lost, and none is made at the region's
 * end.
 *   0 -> owner        that root, as it asks, by compare-and-swap
 *   owner -> another  a root that has met that owner, and no region, for a whole look: it has asked for nothing
 *   owner -> OPEN     the owner, by compare-and-swap
 *   OPEN -> 0         the parent, at the join
 *
 * Callers of root_fairness_take: a root. Of root_fairness_open: a root that opens an outermost region
 * (region_checks.c), before the members can begin. Of root_fairness_give: the parent. Not beside race detectors, which
 * would take turns for an order of the program's. Cost: with one root none. With more, a reading of the cycle counter
 * where a root asks. With turns, two atomic operations a region, and a thousand looks a second. Limit: a library whose
 * callers do not ask. Rejected designs: root_fairness.c. */
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

/* Takes the root's turn, for which it may wait. Caller: a root in no region, which has asked. */
void root_fairness_take(void);
void root_fairness_open(struct vp *vp, struct ps_team *team, uint64_t now);
void root_fairness_give(void);
/* Called in a forked child, where the other roots are gone. */
void root_fairness_reset(void);

#endif
