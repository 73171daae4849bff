/* The paper's pool and team descriptor (manycore-nested-2016, sections 3.1 and 3.2), for sw-paper.c, hws-paper.c and
 * paper-implicit.c.
 *
 * Two tables are distributed by cluster as in the paper's figure 7, consecutive words in consecutive banks:
 *   pool descriptor   which of the cluster's threads are busy, under a lock
 *   TEAM_DESC_PTR     for each of the cluster's threads the descriptor of its team
 * paper.c does here what mapping.c does for the other ways. A fork selects thread by thread, beginning with the first
 * of the place's cluster; a join gives them back thread by thread. paper-explicit.c calls paper.c's functions for each
 * region, paper-implicit.c only for regions with fewer than all threads. The team's descriptor is in the master's
 * cluster. The fork takes it from the cluster's list of free descriptors, and the join gives it back.
 *
 * Differences from the paper: ids have two bytes, since there may be 1024 threads, so a descriptor for 64 threads is
 * larger than the paper's 148 bytes. A thread that starts also finds the member's data, which the OpenMP core keeps
 * near it (ee.c). */
#ifndef PS_EE_HAL_PAPER_H
#define PS_EE_HAL_PAPER_H

#include "hal.h"

struct paper_descriptor {
    void (*function)(struct ee_member *);
    struct team *argument;
    /* the descriptor of the team in which the master forked this one; NULL: the master is the root. In the list of free
     * descriptors: the next one */
    struct paper_descriptor *parent;
    /* [clusters] the threads except the master, as bits; it points to the team's `cores` */
    uint32_t *mask;
    /* The two arrays follow the descriptor in memory. */
    uint16_t *local_ids;  /* LCL_THR_IDS [threads]: the id in the team of each thread */
    uint16_t *persistent; /* PST_THR_IDS [members]: the thread of each member */
};
/* TEAM_DESC_PTR: the descriptor of each thread's team. paper_descriptor_of returns the address of the entry of thread
 * `persistent`. A thread's number is cluster * BOARD_CORES_MAX + its number in the cluster. */
extern BOARD_LOCAL struct paper_descriptor *volatile paper_descriptors[BOARD_CORES_MAX];

static inline struct paper_descriptor *volatile *paper_descriptor_of(unsigned persistent)
{
    return board_global((void *)(uintptr_t)&paper_descriptors[persistent % BOARD_CORES_MAX],
                        persistent / BOARD_CORES_MAX);
}
/* The paper's UPDATE and CLOSE, at the end of a region of n members. Marks the threads of members 1 to n - 1 as idle;
 * the master's stays busy. Then frees the team's descriptor d. Called by a core of the cluster in which d was made. */
void paper_drop(struct paper_descriptor *d, unsigned n);
/* The paper's versions of ee_team_reserve and pool_give_back: threads are selected and given back one by one. */
unsigned paper_reserve(struct team *team, unsigned n);
void paper_give_back(struct team *team);
/* Defined in hws-paper.c: broadcasts the descriptor's address to the team's threads. */
void hws_paper_tell(const struct team *team);
/* Returns the order that a thread finds in its descriptor. */
static inline struct order paper_order(const struct paper_descriptor *d)
{
    struct team *team = d->argument;
    return (struct order){.what = (uintptr_t)team, .cores = (uint32_t)team->version << 16};
}

#endif
