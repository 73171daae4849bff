/* The order in which a vp visits the others' queues when its own is empty.
 *
 * Does: computes the order, once, as a list. Does not: touch a queue, a vp or the machine; pure functions, no
 * allocation.
 * Callers: any thread, on any stack with 9 KiB to spare. No shared state. Cost: O(vps x levels); each vp keeps its
 * list.
 *
 * The list also says where each level ends: a victim at place i is as far away as the first level that ends behind i.
 *
 * The rule, after psthreads-2009 figure 2: level by level, innermost first, a vp walks its own group of that level once
 * around. The walk starts at the member that stands as many places after the vp as the vp's group of the level before
 * has members (innermost level: at the vp itself). The walk passes over vps that were visited before. So the members of
 * one group begin at different victims.
 * Figure 3, vp 4 with groups of 3, 6 and 12:   5 3 | 1 2 0 | 10 11 6 7 8 9
 *
 * Where we deviate: the figure assumes that sizes divide evenly. Here the last group of a level is what is left, and
 * the turn is taken within the members that the group has. Levels that do not reach the whole machine are followed by
 * one that does. So every other vp is visited exactly once, whatever the sizes. Where they divide evenly, the order is
 * the figure's.
 * Rejected: computing the walk at every search as the figure does (a flag per vp to clear each time); random victims
 * (no hierarchy). */
#ifndef PS_STEAL_H
#define PS_STEAL_H

#include "atomic.h"
#include "compiler.h"

struct os_topology;
struct vp;

#define PS_STEAL_MAX_VPS 65536
/* The levels of a visiting order. The last level is the whole machine. The levels before it are the user's groups, at
 * most eight, or else the vp's own processor and all of the topology's levels but the last. */
#define PS_STEAL_LEVELS 9

/* Each vp has one: its victims. Only the vp uses a field where nothing else is said. */
struct ps_thief {
    /* [num_vps - 1] the other regular vps in visiting order; NULL: all are visited, cyclically from the vp's own
     * number. Written once (release). */
    _Atomic(const uint16_t *) victims;
    uint16_t victims_end[PS_STEAL_LEVELS]; /* where each level ends among them; written before victims is */
    struct vp *peeked; /* the vp whose queue was closed at its last peek, and that one's serial_regions */
    uint32_t peeked_region;
    /* Visits to other queues that found something, by the victim's level; the last number counts visits to guests.
     * Written by the vp, read by dump.c. */
    _Atomic uint64_t thefts[PS_STEAL_LEVELS + 1];
};
/* Returns vp's part of this, in place; struct vp is in vp.h. */
struct ps_thief *vp_thief(const struct vp *vp);

/* Computes the order for equal groups of group_size[0..num_levels-1] vps, innermost level first; size 0 skips a level.
 * order_out gets the num_vps - 1 other vps in visiting order; returns how many. ends_out gets, for each of
 * PS_STEAL_LEVELS levels, how many entries of the list are in that level or nearer; NULL: not wanted. A skipped level
 * ends where the level before ends. So do the levels after the last one, except the very last, which is the whole
 * machine. */
unsigned ps_steal_order(unsigned my_id, unsigned num_vps, const unsigned group_size[], unsigned num_levels,
                        uint16_t order_out[], uint16_t ends_out[]);

/* Computes the order from the machine's groups; vp v sits on processor v modulo the number of processors. Level 0 is
 * the processor itself: vps on one processor visit one another first. topology->level[i] is level i + 1, except its
 * last, the machine. */
unsigned ps_steal_order_topology(unsigned my_id, unsigned num_vps, const struct os_topology *topology,
                                 uint16_t order_out[], uint16_t ends_out[]);

#endif
