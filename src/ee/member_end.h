/* The end of a member, where a word of the member's decides which thread tells the core of it (ee_team_ops.idle).
 *
 * The core is told of a member whose body has returned, and only in a region that has tasks. The member does not know
 * whether the region has tasks; the thread that makes the first task does not know whether the member has returned.
 * Both exchange the member's `end`, and the second one tells:
 *   anything older  the member has not returned, and no thread has asked
 *   RETURNED        written by the member; the thread that notifies finds it, and tells
 *   TOLD            written by the thread that notifies; the member finds it, and tells
 * Each value has the region's number, because a member may not have begun yet. Numbers of regions are odd.
 * Ordering: the exchanges are acq_rel, so what the member did happens before what is done in its name.
 * Callers: the entities, which say in their own heads how a region ends (src/ee/pthreads, src/ee/manycore). User-level
 * threads have no exchange to spare for each member: there a store is ordered by the count of members that follows
 * (src/psthreads/team/team_help.c). Both are in tests/models/team_join.pml, this one with EXCHANGE. An exchange was
 * tried there: 1.4 % more instructions of an inner region of four (882 in place of 870), 7 % more of its time. The
 * manycore cannot do with the vps' store: both sides would have to change one more word behind it, and there the
 * synchroniser counts the ends of members. */
#ifndef PS_EE_MEMBER_END_H
#define PS_EE_MEMBER_END_H

#include "ee.h"

static inline uint32_t member_end_returned(uint32_t region) { return region; }
static inline uint32_t member_end_told(uint32_t region) { return region + 1; }

/* The member has returned. True: the caller tells. */
static inline bool member_end_return(_Atomic uint32_t *end, uint32_t region)
{
    return ps_xchg_acq_rel(end, member_end_returned(region)) == member_end_told(region);
}

/* The region has tasks. True: the caller tells. */
static inline bool member_end_notify(_Atomic uint32_t *end, uint32_t region)
{
    return ps_xchg_acq_rel(end, member_end_told(region)) == member_end_returned(region);
}

/* Runs all tasks that it can get in the name of m, whose identity the caller has; then tells the core. */
static inline void member_end_assist(const struct ee_team_ops *ops, struct ee_member *m)
{
    do
        ops->assist(m);
    while (ops->idle(m));
}

#endif
