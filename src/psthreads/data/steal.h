/* The order in which a vp visits the other vps' queues when its own is empty.
 *
 * Does: computes the order once, as a list, by pure functions without allocation. Does not: touch a queue, a vp or the
 * machine.
 * Callers: any thread, on any stack with 9 KiB to spare. No state is shared. Cost: O(vps x levels); each vp keeps its
 * list.
 *
 * The list also says where each level ends. The victim at place i belongs to the first level that ends behind i. This
 * level says how far away the victim is.
 *
 * The rule, after psthreads-2009 figure 2: a vp goes through the levels, innermost first. At each level it walks once
 * around its own group, and passes over the vps that it has visited before. At the innermost level the walk starts at
 * the vp itself. At each other level it starts as many places after the vp as the vp's group of the level before has
 * members. So the members of one group begin at different victims.
 * Figure 3, vp 4 with groups of 3, 6 and 12:   5 3 | 1 2 0 | 10 11 6 7 8 9
 *
 * We deviate from the figure, which assumes that sizes divide evenly. Here the last group of a level may be smaller,
 * and a walk stays within the members that the group has. If the levels do not reach the whole machine, one is added
 * that does. So every other vp is visited exactly once, whatever the sizes. Where they divide evenly, the order is the
 * figure's.
 * Rejected: computing the walk at every search, as the figure does (each search would clear a flag for each vp); random
 * victims (they know no hierarchy). */
#ifndef PS_STEAL_H
#define PS_STEAL_H

#include "atomic.h"
#include "compiler.h"

struct os_topology;
struct vp;

#define PS_STEAL_MAX_VPS 65536
/* The number of levels of a visiting order. The last level is the whole machine. The levels before it are the user's
 * groups, at most eight. If the user gave none, they are the vp's own processor, and then the topology's levels except
 * its last. */
#define PS_STEAL_LEVELS 9

/* What a vp keeps as a thief: its victims. Only the vp itself uses a field, unless its comment says otherwise. */
struct ps_thief {
    /* The num_vps - 1 other vps that are not guests, in visiting order. Written once (release), by the thread that
     * prepares the lists of all vps (victims.c). NULL: the list is not made yet, or this vp is a guest. Without a list
     * a vp visits the others in the order of their numbers, beginning after its own. */
    _Atomic(const uint16_t *) victims;
    /* Where each level ends in `victims`. Written before `victims` is. */
    uint16_t victims_end[PS_STEAL_LEVELS];
    /* The vp into whose closed queue this vp peeked last, and that vp's serial_regions at the peek. */
    struct vp *peeked;
    uint32_t peeked_region;
    /* How often the vp took something from another vp's queue, by the victim's level; the last number is for guests.
     * Written by the vp, read by dump.c. */
    _Atomic uint64_t thefts[PS_STEAL_LEVELS + 1];
};
/* Returns the address of vp's ps_thief, which is a field of struct vp (vp.h). */
struct ps_thief *vp_thief(const struct vp *vp);

/* Computes the order for the user's groups: equal groups of group_size[0..num_levels-1] vps, innermost level first;
 * size 0 skips a level. order_out gets the num_vps - 1 other vps in visiting order; returns how many.
 *
 * ends_out (NULL: not wanted) gets a number for each of PS_STEAL_LEVELS levels: how many entries of the list are in
 * that level or a nearer one. A skipped level ends where the level before it ends. So do the levels after the user's
 * last one, except the very last, which is the whole machine. */
unsigned ps_steal_order(unsigned my_id, unsigned num_vps, const unsigned group_size[], unsigned num_levels,
                        uint16_t order_out[], uint16_t ends_out[]);

/* Computes the order from the machine's topology; vp v sits on processor v modulo the number of processors. Level 0 is
 * the processor itself: vps on one processor visit each other first. Level i + 1 is topology->level[i], without the
 * topology's last level, which is the machine. */
unsigned ps_steal_order_topology(unsigned my_id, unsigned num_vps, const struct os_topology *topology,
                                 uint16_t order_out[], uint16_t ends_out[]);

#endif
