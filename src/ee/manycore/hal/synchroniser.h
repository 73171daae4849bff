/* Joins and barriers by gathers of the hardware synchroniser: what hws.c and hws-paper.c have in common.
 *
 * Slots of the synchroniser (12 to 15 are the program's):
 *   0      words: what is ordered (hws: pool.h; hws-paper: the team's descriptor)
 *   3      words: the orders' second; signal: a team around has tasks
 *   1, 2   the root's team: join, barrier; through the hierarchy, home is the root's cluster
 *   4, 5   the same of the root's team before, of another shape
 *   6 on   pairs for teams inside of one cluster, one for each that is mapped, as far as they go
 * A team without a pair (a nested one of several clusters, a fourth one in its cluster) has the software's counters.
 *
 * A slot's masks stay for the next region of the same mapping. The parent sets the masks of its own cluster before it
 * releases any core. In the other clusters each core that is told of a mapping looks before it runs its member, and
 * sets the masks if they are another mapping's. All cores set the same.
 *
 * Tasks. A member that waits in the synchroniser has arrived, but must come back when the region's first task is made:
 * that is signalled to all. From then on the region's barriers are counted in memory as well, because the OpenMP core
 * must be told which member is last. Each member arrives in both, and takes the synchroniser's signal when the counted
 * barrier is over. All members of a barrier go the same way. A member sends the signal of tasks before it arrives; that
 * signal overtakes the release, which goes by way of the home cluster.
 *
 * synchroniser.c has hal.h's functions from hal_arrive on. */
#ifndef PS_EE_HAL_SYNCHRONISER_H
#define PS_EE_HAL_SYNCHRONISER_H

#include "ee_port.h"
#include "software.h"

#include <manycore.h>

enum {
    SLOT_ORDER = 0,
    SLOT_CORES = 3,
    SLOT_TASKS = 3,
    SLOT_ROOT = 1,
    SLOT_ROOT_BEFORE = 4,
    SLOT_PAIRS = 6,
    PAIRS = 3,
    SLOTS = 12,
};

/* The team that a slot has the masks of. */
struct masks {
    const struct team *team;
    uint32_t version;
};
_Static_assert(EE_GATE_TASKS == 1 << SLOT_TASKS, "ee_port.h names the signal, too");
extern BOARD_LOCAL volatile struct masks synchroniser_masks[SLOTS];

/* Parent: gets slots for a team with a new mapping, if there are any; and gives them back. outermost: no other team
 * forked when it did. */
void synchroniser_get(struct team *team, bool outermost);
void synchroniser_give_back(struct team *team);
void synchroniser_set_home(const struct team *team);
/* Whether the caller's cluster has the masks of that mapping; the parent's has them only if all clusters of the team
 * have. */
static inline bool synchroniser_has_masks(const struct team *team, unsigned slot, uint32_t version)
{
    volatile struct masks *m = &synchroniser_masks[slot];
    return m->team == team && m->version == version;
}
/* Parent, before a release: its cluster's masks are the mapping's. */
static inline void synchroniser_ready(const struct team *team)
{
    if (team->slots != 0 && PS_UNLIKELY(!synchroniser_has_masks(team, team->slots, team->version)))
        synchroniser_set_home(team);
}

#endif
