/* Roots take turns if a library lets in one team at a time.
 *
 * While OpenBLAS's OpenMP build (0.3.21) runs one team, its other callers spin, without a yield, until that team is
 * done. Each caller takes one time slice after the other from the members that it waits for. The more callers there
 * are, the slower the team gets. A thread that spins cannot be stopped. But each caller asks first whether it is in
 * a region (omp_in_parallel). There the runtime can let it wait without a processor.
 *
 * Sees: how long after that question a root opens its region, and whether others open regions meanwhile. After two late
 * openings, one soon after the other, there is one turn for all roots. Does: a root takes the turn when it asks, and
 * gives it back at the end of the region that it opens next. The others sleep. Does not: hold a root anywhere else, or
 * look at processors.
 *
 * The word: 0: no root has the turn. Else: the number of the owner's vp + 1, with OPEN while the owner's region is
 * open. Waiting roots look again and again, all of them together once in a LOOK_NS. So no wake-up can be lost, and
 * none is needed at the region's end.
 *   0 -> owner        that root, as it asks, by compare-and-swap
 *   owner -> another  by a root that saw this owner without a region from one look to the next: the owner opens none
 *   owner -> OPEN     the owner, by compare-and-swap
 *   OPEN -> 0         the parent, at the join
 *
 * Caller of root_fairness_take: a thread in no region. Of root_fairness_open: a root that opens an outermost region
 * (region_checks.c), before members can begin. Of root_fairness_give: the parent. There are no turns under race
 * detectors: these would take their order for one that the program makes. Cost with one root: none; with several: one
 * reading of the cycle counter for each question; with turns: two atomic operations a region, 1000 looks a second.
 * Limit: a library whose callers do not ask. Rejected designs: root_fairness.c. */
#ifndef PS_ROOT_FAIRNESS_H
#define PS_ROOT_FAIRNESS_H

#include "atomic.h"
#include "compiler.h"
#include "parts.h"

struct ps_team;
struct vp;

/* What is known about the roots' openings. Times are in cpu_cycles. All roots read and write it, with relaxed
 * accesses. */
struct root_fairness {
    _Atomic uint32_t on;                    /* 1: roots take turns */
    _Atomic uint32_t spun, beside, dawdled; /* counts of ROOT_SPUN (weighted), ROOT_BESIDE and ROOT_DAWDLED */
    _Atomic uint64_t rest, rest_until;
};
/* How a root that has asked opened its region: */
enum root_opening {
    ROOT_AT_ONCE,
    ROOT_SPUN,    /* late, and others opened regions meanwhile */
    ROOT_BESIDE,  /* while the region of the turn's owner was open */
    ROOT_DAWDLED, /* late, although no other root opened a region */
};
void root_fairness_judge(struct root_fairness *f, enum root_opening how, uint64_t now);

/* The running thread is in no region, and has asked whether it is in one. If it is a root, and roots take turns, takes
 * the turn, perhaps after a wait. */
void root_fairness_take(void);
void root_fairness_open(struct vp *vp, struct ps_team *team, uint64_t now);
void root_fairness_give(void);
/* Called by watchdog_reset: when the library starts, and in a forked child, where there are no other roots. */
void root_fairness_reset(void);

#endif
