/* The end of a member: a word of the member decides which thread reports the end to the OpenMP core (ee_team_ops.idle).
 *
 * The end is reported when the member's body has returned, and only in a region that has tasks. The member does not
 * know whether the region has tasks; the thread that makes the first task does not know whether the member has
 * returned. Both exchange the member's `end`. The one that exchanges second finds the other's value, and reports the
 * end:
 *   anything older  the member has not returned, and no thread has notified
 *   RETURNED        written by the member; the thread that notifies finds it, and reports
 *   TOLD            written by the thread that notifies; the member finds it, and reports
 * Each value contains the number of the region, because a member may not have begun yet. Numbers of regions are odd.
 * Ordering: the exchanges are acq_rel, so what the member did happens before what is done in its name.
 * Callers: the entities of src/ee/pthreads and src/ee/manycore; the heads of their files say how a region ends.
 * User-level threads do not use this, because an exchange for each member costs too much. There the member's store is
 * ordered by the count of members that follows it (src/psthreads/team/team_help.c). Both ways are in
 * tests/models/team_join.pml, this one with EXCHANGE. An exchange was tried for user-level threads. An inner region of
 * four took 1.4 % more instructions (882 in place of 870) and 7 % more time. In place of the exchanges stores suffice
 * only if both sides change a second word afterwards. On the manycore there is none: the synchroniser counts the ends
 * of members. */
#ifndef PS_EE_MEMBER_END_H
#define PS_EE_MEMBER_END_H

#include "ee.h"

static inline uint32_t member_end_returned(uint32_t region) { return region; }
static inline uint32_t member_end_told(uint32_t region) { return region + 1; }

/* Called by the member when its body has returned. True: the caller must report the member's end to the OpenMP core. */
static inline bool member_end_return(_Atomic uint32_t *end, uint32_t region)
{
    return ps_xchg_acq_rel(end, member_end_returned(region)) == member_end_told(region);
}

/* Called for a member by the thread that notifies of tasks. True: the caller must report the member's end to the OpenMP
 * core. */
static inline bool member_end_notify(_Atomic uint32_t *end, uint32_t region)
{
    return ps_xchg_acq_rel(end, member_end_told(region)) == member_end_returned(region);
}

/* Runs all tasks that it can get as member m, whose identity the caller has; then gives the identity to the core. */
static inline void member_end_assist(const struct ee_team_ops *ops, struct ee_member *m)
{
    do
        ops->assist(m);
    while (ops->idle(m));
}

#endif
