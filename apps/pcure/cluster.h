/* One cluster, distances, and what two merged ones are: the arithmetic of cure.h, for cure.c and for PCURE over MPI
 * (apps/pcure_mpi). Both compile it with the same flags, so that their results are equal to the bit. Distances stop as
 * soon as they exceed what they are compared with, and clusters of several representatives are first compared by
 * centre and radius; neither changes a result. */
#ifndef PCURE_CLUSTER_H
#define PCURE_CLUSTER_H

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cure.h"

enum { CLUSTER_MANY = 4 /* from this number of pairs of representatives on, centres are compared first */ };

struct entry {
    double *centre;    /* a merged cluster's memory begins here; of a single point all three are the point */
    double *scattered; /* num points */
    double *points;    /* the same ones moved towards the centre: the representatives */
    double radius;     /* of the representatives around the centre */
    uint32_t num, size;
};

struct near {
    double d2; /* squared; INFINITY: none */
    uint32_t index;
};

typedef double cluster_pair __attribute__((vector_size(16), aligned(8), may_alias));

/* The squared distance; INFINITY as soon as it is known to be greater than the limit. */
static inline double distance2(const double *a, const double *b, size_t dim, double limit)
{
    cluster_pair low = {0, 0}, high = {0, 0};
    size_t d = 0;

    while (d + 4 <= dim) {
        size_t stop = d + 8 <= dim ? d + 8 : d + 4;
        for (; d < stop; d += 4) {
            cluster_pair t = *(const cluster_pair *)(a + d) - *(const cluster_pair *)(b + d);
            cluster_pair u = *(const cluster_pair *)(a + d + 2) - *(const cluster_pair *)(b + d + 2);
            low += t * t;
            high += u * u;
        }
        if ((low[0] + low[1]) + (high[0] + high[1]) > limit)
            return INFINITY;
    }
    double lane[4] = {low[0], low[1], high[0], high[1]};
    for (; d < dim; d++)
        lane[d % 4] += (a[d] - b[d]) * (a[d] - b[d]);
    double sum = (lane[0] + lane[1]) + (lane[2] + lane[3]);
    return sum > limit ? INFINITY : sum;
}

/* Whether two clusters' representatives are certainly farther apart than the limit: the triangle inequality, with room
 * for rounding. */
static inline bool far_apart(const struct entry *a, const struct entry *b, size_t dim, double limit)
{
    double reach = (sqrt(limit) + a->radius + b->radius) * (1 + 1e-9);

    return isinf(distance2(a->centre, b->centre, dim, reach * reach));
}

/* compute_dist of the paper. */
static inline double entry_distance2(const struct entry *a, const struct entry *b, size_t dim, double limit)
{
    double least = INFINITY;

    if (a->num * b->num >= CLUSTER_MANY && isfinite(limit) && far_apart(a, b, dim, limit))
        return INFINITY;
    for (uint32_t p = 0; p < a->num; p++) {
        for (uint32_t q = 0; q < b->num; q++) {
            double d2 = distance2(a->points + p * dim, b->points + q * dim, dim, limit);
            if (d2 < least) {
                least = d2;
                limit = d2 < limit ? d2 : limit;
            }
        }
    }
    return least;
}

static inline struct near nearer(struct near a, struct near b)
{
    return b.d2 < a.d2 || (b.d2 == a.d2 && b.index < a.index) ? b : a;
}

#pragma omp declare reduction(nearest                              \
                              : struct near                        \
                              : omp_out = nearer(omp_out, omp_in)) \
    initializer(omp_priv = (struct near){INFINITY, UINT32_MAX})

/* Chooses `num` of the candidates, scattered as far as can be; their order is that of the choice. */
static inline void scatter(double *to, unsigned num, const double *candidates, unsigned num_candidates,
                           const double *centre, size_t dim, double *least)
{
    for (unsigned q = 0; q < num_candidates; q++)
        least[q] = distance2(candidates + q * dim, centre, dim, INFINITY);
    for (unsigned p = 0; p < num; p++) {
        unsigned best = 0;
        for (unsigned q = 1; q < num_candidates; q++)
            if (least[q] > least[best])
                best = q;
        memcpy(to + p * dim, candidates + best * dim, dim * sizeof *to);
        for (unsigned q = 0; q < num_candidates; q++) {
            double d2 = distance2(candidates + q * dim, to + p * dim, dim, INFINITY);
            if (p == 0 || d2 < least[q])
                least[q] = d2;
        }
        least[best] = -1; /* never again, not even a point that stands twice */
    }
}

static inline void move_to_centre(struct entry *e, size_t dim, double shrink)
{
    double farthest = 0;

    for (uint32_t p = 0; p < e->num; p++) {
        for (size_t d = 0; d < dim; d++) {
            double x = e->scattered[p * dim + d];
            e->points[p * dim + d] = x + shrink * (e->centre[d] - x);
        }
        double d2 = distance2(e->points + p * dim, e->centre, dim, INFINITY);
        farthest = d2 > farthest ? d2 : farthest;
    }
    e->radius = sqrt(farthest);
}

static inline void entry_release(struct entry *e)
{
    if (e->size > 1)
        free(e->centre);
}

/* What low and high are when merged; both stay as they are. ENOMEM, or 0. */
static inline int entry_merged(const struct entry *low, const struct entry *high, size_t dim,
                               const struct cure_options *options, struct entry *result)
{
    struct entry m = {.size = low->size + high->size};
    uint32_t both = low->num + high->num;

    m.num = both < options->representatives ? both : options->representatives;
    double *candidates = malloc((both * dim + both) * sizeof *candidates); /* and their least distances */
    m.centre = malloc((2 * (size_t)m.num + 1) * dim * sizeof *m.centre);
    if (!candidates || !m.centre) {
        free(candidates);
        free(m.centre);
        return ENOMEM;
    }
    m.scattered = m.centre + dim;
    m.points = m.scattered + m.num * dim;
    for (size_t d = 0; d < dim; d++)
        m.centre[d] = (low->size * low->centre[d] + high->size * high->centre[d]) / m.size;
    memcpy(candidates, low->scattered, low->num * dim * sizeof *candidates);
    memcpy(candidates + low->num * dim, high->scattered, high->num * dim * sizeof *candidates);
    if (m.num == both)
        memcpy(m.scattered, candidates, both * dim * sizeof *candidates);
    else
        scatter(m.scattered, m.num, candidates, both, m.centre, dim, candidates + both * dim);
    move_to_centre(&m, dim, options->shrink);
    free(candidates);
    *result = m;
    return 0;
}

enum { OUTLIER_PHASES = 2 };

/* With how many clusters the phase comes, and the least size of those that it leaves: cure.h's definition. */
static inline size_t outlier_clusters(unsigned phase, size_t n, size_t k) { return phase == 0 ? n / 3 : 3 * k; }

static inline size_t outlier_least(unsigned phase, size_t points, size_t clusters)
{
    return phase == 0 ? 3 : (points + 10 * clusters - 1) / (10 * clusters);
}

/* merged_into: of each entry the one that it was merged into, itself if none. */
static inline size_t cluster_root(uint32_t *merged_into, size_t i)
{
    while (merged_into[i] != i)
        i = merged_into[i] = merged_into[merged_into[i]];
    return i;
}

/* labels[i]: the number of i's cluster, counted from 0 in the order of first points. number: a work area of n. */
static inline void label_clusters(uint32_t *merged_into, size_t n, uint32_t *number, uint32_t *labels)
{
    uint32_t next = 0;

    for (size_t i = 0; i < n; i++)
        number[i] = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        size_t root = cluster_root(merged_into, i);
        if (number[root] == UINT32_MAX)
            number[root] = next++;
        labels[i] = number[root];
    }
}

#endif
