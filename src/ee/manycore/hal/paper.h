/* The paper's pool and team descriptor (manycore-nested-2016, sections 3.1 and 3.2), for sw-paper.c, hws-paper.c and
 * paper-implicit.c.
 *
 * Distributed by cluster as in its figure 7, consecutive words in consecutive banks:
 *   pool descriptor   which of the cluster's threads are busy, behind a lock
 *   TEAM_DESC_PTR     for each of the cluster's threads the descriptor of its team
 * paper.c has mapping.c's work: a fork selects thread by thread, from the first of the place's cluster on, and a
 * join gives them back thread by thread. Its functions are called by paper-explicit.c, for each region, or by
 * paper-implicit.c, where a region is not one of all threads. The team's descriptor is in the master's cluster, got at
 * the fork and given back at the join.
 *
 * Other than in the paper: ids have two bytes, since there may be 1024 threads; so a descriptor for 64 threads is
 * larger than the paper's 148 bytes. And a thread that starts finds the member's data, which the OpenMP core keeps near
 * it (ee.c).
 */
#ifndef PS_EE_HAL_PAPER_H
#define PS_EE_HAL_PAPER_H

#include "hal.h"

struct paper_descriptor {
    void (*function)(struct ee_member *);
    struct team *argument;
    struct paper_descriptor *parent; /* the master's other team; NULL: it is the root */
    uint32_t *mask;                  /* [clusters] the threads but the master, by cluster: the team's `cores` */
    /* Behind them: */
    uint16_t *local_ids;  /* LCL_THR_IDS [threads] */
    uint16_t *persistent; /* PST_THR_IDS [members] */
};
extern BOARD_LOCAL struct paper_descriptor *volatile paper_descriptors[BOARD_CORES_MAX]; /* TEAM_DESC_PTR */

static inline struct paper_descriptor *volatile *paper_descriptor_of(unsigned persistent)
{
    return board_global((void *)(uintptr_t)&paper_descriptors[persistent % BOARD_CORES_MAX],
                        persistent / BOARD_CORES_MAX);
}
/* UPDATE, CLOSE: the threads of a team of n are idle again. By a core of the cluster that has the descriptor. */
void paper_drop(struct paper_descriptor *d, unsigned n);
/* ee_team_reserve and pool_give_back, thread by thread. */
unsigned paper_reserve(struct team *team, unsigned n);
void paper_give_back(struct team *team);
/* hws-paper.c: broadcasts the descriptor's address to the team's threads. */
void hws_paper_tell(const struct team *team);
/* What a thread is ordered by its descriptor. */
static inline struct order paper_order(const struct paper_descriptor *d)
{
    struct team *team = d->argument;
    return (struct order){.what = (uintptr_t)team, .cores = (uint32_t)team->version << 16};
}

#endif
