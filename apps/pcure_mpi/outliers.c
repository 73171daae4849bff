/* Outliers of pcure_mpi: see mpi_cure.h, and cure_mpi.c for what ranks know of each other. */
#include "mpi_cure.h"

void remove_small(struct mpi_cure *c, size_t least)
{
    uint64_t kept[2] = {0, 0}; /* clusters, points */

    for (size_t l = 0; l < c->s->own; l++) {
        if (c->valid[l] && c->entry[l].size >= least) {
            kept[0]++;
            kept[1] += c->entry[l].size;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, kept, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (kept[0] < c->options->k)
        return;
    c->num_clusters = kept[0];
    c->num_points = kept[1];
    bool lazy = c->options->variant == CURE_LAZY;
    size_t num = 0, *lost = room_for(c->s->own, sizeof *lost, "lost neighbours");
    for (size_t l = 0; l < c->s->own; l++) {
        if (!c->valid[l])
            continue;
        if (c->entry[l].size < least) {
            c->valid[l] = c->stale[l] = false;
            set_near(c, l, (struct near){INFINITY, UINT32_MAX});
        } else if (lazy) {
            c->near[l].index = UINT32_MAX;
            c->stale[l] = true;
        } else {
            lost[num++] = l;
        }
    }
    if (!lazy)
        search_all(c, lost, num);
    free(lost);
}

/* What every rank has of a kind, in rank 0's hand: how many of each rank, and where they begin. */
struct parts {
    int *many, *at, all;
};

static struct parts make_parts(const struct mpi_cure *c)
{
    int *many = room_for(2 * (size_t)c->s->ranks, sizeof *many, "ranks");
    return (struct parts){many, many + c->s->ranks, 0};
}

static void place_parts(const struct mpi_cure *c, struct parts *p)
{
    for (int r = 0; r < c->s->ranks; r++) {
        p->at[r] = p->all;
        p->all += p->many[r];
    }
}

/* The entries that remain, in all ranks, from the least on. */
static uint32_t *remaining_entries(const struct mpi_cure *c)
{
    struct parts p = make_parts(c);
    int own = 0;
    uint32_t *mine = room_for(c->s->own, sizeof *mine, "clusters"), *all = NULL;

    for (size_t l = 0; l < c->s->own; l++)
        if (c->valid[l])
            mine[own++] = (uint32_t)global(c, l);
    MPI_Allgather(&own, 1, MPI_INT, p.many, 1, MPI_INT, MPI_COMM_WORLD);
    place_parts(c, &p);
    all = room_for((size_t)p.all, sizeof *all, "clusters");
    MPI_Allgatherv(mine, own, MPI_UINT32_T, all, p.many, p.at, MPI_UINT32_T, MPI_COMM_WORLD);
    free(mine);
    free(p.many);
    return all;
}

/* Rank 0: the points of removed clusters, one rank's after the other. */
static uint32_t *removed_points(const struct mpi_cure *c, const uint32_t *remaining, struct parts *p)
{
    size_t n = c->s->n, ranks = (size_t)c->s->ranks, num = 0;
    bool *remains = room_for(n, sizeof *remains, "outliers");
    uint32_t *removed = room_for(n - c->num_points, sizeof *removed, "outliers");

    for (size_t k = 0; k < c->num_clusters; k++)
        remains[remaining[k]] = true;
    for (size_t r = 0; r < ranks; r++) {
        p->many[r] = 0;
        for (size_t i = r; i < n; i += ranks) {
            if (!remains[cluster_root(c->merged_into, i)]) {
                removed[num++] = (uint32_t)i;
                p->many[r]++;
            }
        }
    }
    place_parts(c, p);
    free(remains);
    return removed;
}

void assign_removed(struct mpi_cure *c)
{
    const struct share *s = c->s;
    struct parts p = make_parts(c);
    uint32_t *remaining = remaining_entries(c), *removed = NULL;
    int own;

    if (s->rank == 0)
        removed = removed_points(c, remaining, &p);
    MPI_Scatter(p.many, 1, MPI_INT, &own, 1, MPI_INT, 0, MPI_COMM_WORLD);
    uint32_t *point = room_for((size_t)own, sizeof *point, "outliers"); /* then: the entry that it joins */
    struct near *found = room_for((size_t)own, sizeof *found, "outliers");
    MPI_Scatterv(removed, p.many, p.at, MPI_UINT32_T, point, own, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    for (int q = 0; q < own; q++)
        found[q] = (struct near){INFINITY, UINT32_MAX};
    for (size_t k = 0; k < c->num_clusters; k++) {
        struct entry e = show(c, remaining[k]);
#pragma omp parallel for schedule(static, CHUNK) num_threads(c->options->outer) if (own > FEW)
        for (int q = 0; q < own; q++) {
            double *x = s->points + local(c, point[q]) * s->dim;
            struct entry alone = {.centre = x, .scattered = x, .points = x, .num = 1, .size = 1};
            struct near near = {entry_distance2(&alone, &e, s->dim, found[q].d2), remaining[k]};
            found[q] = nearer(found[q], near);
        }
    }
    for (int q = 0; q < own; q++)
        point[q] = found[q].index;
    uint32_t *joins = room_for((size_t)p.all, sizeof *joins, "outliers");
    MPI_Gatherv(point, own, MPI_UINT32_T, joins, p.many, p.at, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    for (int q = 0; s->rank == 0 && q < p.all; q++)
        c->merged_into[removed[q]] = joins[q];
    free(joins);
    free(found);
    free(point);
    free(removed);
    free(remaining);
    free(p.many);
}
