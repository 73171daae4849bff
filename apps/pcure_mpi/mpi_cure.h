/* What pcure_mpi's steps (cure_mpi.c) and its outliers (outliers.c) share. */
#ifndef PCURE_MPI_CURE_H
#define PCURE_MPI_CURE_H

#include "cluster.h"
#include "cure_mpi.h"

enum {
    CHUNK = 10,  /* of both loops' static schedule (the paper's) */
    BLOCK = 256, /* entries that share a minimum */
    FEW = 4096,  /* entries that are not worth a team */
};

struct mpi_cure {
    const struct share *s;
    const struct cure_options *options;
    struct entry *entry; /* own ones, all arrays but the last */
    bool *valid;
    struct near *near;
    struct near *block_near;
    bool *block_changed;
    bool *stale;           /* CURE_LAZY: near is only a lower bound of the distance, of no one in particular */
    uint32_t *merged_into; /* rank 0: of all n */
    double *packed;        /* a cluster on its way */
    size_t packed_room, num_clusters, searches;
    size_t num_points; /* of those clusters, in all ranks: without removed ones */
};

static inline void *room_for(size_t n, size_t bytes, const char *what)
{
    void *room = calloc(n ? n : 1, bytes);
    if (!room)
        no_memory(what, n * bytes);
    return room;
}

static inline int owner_of(const struct mpi_cure *c, size_t i) { return (int)(i % (size_t)c->s->ranks); }
static inline size_t local(const struct mpi_cure *c, size_t i) { return i / (size_t)c->s->ranks; }
static inline size_t global(const struct mpi_cure *c, size_t l) { return l * (size_t)c->s->ranks + (size_t)c->s->rank; }

/* Own entries with an index below i. */
static inline size_t below(const struct mpi_cure *c, size_t i)
{
    size_t ranks = (size_t)c->s->ranks, rank = (size_t)c->s->rank;
    return i > rank ? (i - rank + ranks - 1) / ranks : 0;
}

static inline void set_near(struct mpi_cure *c, size_t l, struct near near)
{
    c->near[l] = near;
    __atomic_store_n(&c->block_changed[l / BLOCK], true, __ATOMIC_RELAXED);
}

/* cure_mpi.c */

/* Entry i's representatives in all ranks, from its owner's. */
struct entry show(struct mpi_cure *c, size_t i);

/* The lost entries of all ranks (own ones: lost[0 .. num - 1], local numbers) look for their neighbours, a batch at a
 * time: each rank's next ones go to all, all look among their own. */
void search_all(struct mpi_cure *c, const size_t *lost, size_t num);

/* outliers.c */

/* Removes clusters that are smaller than `least`, unless fewer than k would remain in all ranks. A rank does not know
 * which others' are removed: so every entry looks for its neighbour again, CURE_LAZY's when that matters. */
void remove_small(struct mpi_cure *c, size_t least);

/* The points of removed clusters join those with the closest representatives. Rank 0 tells each rank which of its
 * points these are; the clusters that remain go round. */
void assign_removed(struct mpi_cure *c);

#endif
