/* Joins and barriers by gathers of the hardware synchroniser: what hws.c and hws-paper.c have in common.
 *
 * Slots of the synchroniser (12 to 15 are the program's):
 *   0      words: the order (hws: pool.h; hws-paper: to assist); hws-paper: also the signal of the release
 *   3      words: the order's second word (hws-paper: the team's descriptor); signal: an enclosing team has tasks
 *   1, 2   the root's team: join, barrier; through the hierarchy, home is the root's cluster
 *   4, 5   join, barrier of another team of the root; the root's last two teams keep their slots and masks
 *   6 on   pairs for mapped teams inside of one cluster, one pair for each, as long as there are pairs
 * A team without a pair (a nested one of several clusters, a fourth one in its cluster) uses the counters of
 * software.h.
 *
 * A slot's masks (which cores arrive, and which are told) stay for the next region of the same mapping. The parent sets
 * the masks of its own cluster before it releases any core. In the other clusters, each core that is told of a mapping
 * looks at the masks before it runs its member, and sets them if they are another mapping's. All cores set the same.
 *
 * Tasks. A member that waits in the synchroniser has arrived, but must come back when the region's first task is made;
 * a signal to all members tells them. From then on the region's barriers are counted in memory as well, because the
 * OpenMP core must be told which member is last. Each member arrives in both, and takes the synchroniser's signal when
 * the counted barrier is over. All members of one barrier do the same, because a member sends the signal of tasks
 * before it arrives, and that signal overtakes the release, which goes by way of the home cluster.
 *
 * Of hal.h's functions synchroniser.c has hal_told, and those from hal_arrive on. */
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

/* The team and the version of its mapping to which a slot's masks in this cluster belong. Written by cores of the
 * cluster when they set the masks. */
struct masks {
    const struct team *team;
    uint32_t version;
};
_Static_assert(EE_GATE_TASKS == 1 << SLOT_TASKS, "ee_port.h names the signal, too");
extern BOARD_LOCAL volatile struct masks synchroniser_masks[SLOTS];

/* Called by the parent of a team with a new mapping. synchroniser_get gives the team a pair of slots: an outermost team
 * always gets one; a nested team only if all its cores are in the parent's cluster and a pair is free there. Otherwise
 * team->slots stays 0. outermost: the team is forked outside of any other team. synchroniser_give_back frees the
 * pair. */
void synchroniser_get(struct team *team, bool outermost);
void synchroniser_give_back(struct team *team);
/* Called by the parent (synchroniser_ready): sets the masks of the team's two slots in the parent's cluster. */
void synchroniser_set_home(const struct team *team);
/* Returns whether the slot's masks in the caller's cluster are those of the team's mapping with this version. If the
 * parent's cluster still has them from an earlier region, then the team's other clusters have them too. */
static inline bool synchroniser_has_masks(const struct team *team, unsigned slot, uint32_t version)
{
    volatile struct masks *m = &synchroniser_masks[slot];
    return m->team == team && m->version == version;
}
/* Called by the parent before a release: makes sure that its cluster has the masks of the mapping. */
static inline void synchroniser_ready(const struct team *team)
{
    if (team->slots != 0 && PS_UNLIKELY(!synchroniser_has_masks(team, team->slots, team->version)))
        synchroniser_set_home(team);
}

#endif
