/* CURE: hierarchical clustering with representatives (Guha, Rastogi, Shim: SIGMOD 1998), parallel as PCURE of
 * nthlib-2004 section 4.
 *
 * Every point begins as a cluster. The closest pair is merged until k clusters remain. A cluster is known by at most
 * `representatives` scattered points, moved towards its centre by the part `shrink`; the distance of two clusters is
 * that of their closest representatives.
 *
 * Exact definition, which a plain implementation can repeat to the bit:
 *  - clusters stand in entries 0 .. n-1; of the pair (low, high) that is merged, high keeps the result and low becomes
 *    invalid;
 *  - the pair with the least distance is merged; of equals the one with the least high, then with the least low;
 *  - a squared distance sums the squared differences in four lanes (number of the coordinate modulo 4), then
 *    (0 + 1) + (2 + 3);
 *  - the centre is (size_low * centre_low + size_high * centre_high) / (size_low + size_high);
 *  - candidates are low's scattered points, then high's; where they are too many, the one farthest from the centre is
 *    chosen, then each time the one whose least distance to the chosen is greatest (of equals the first);
 *  - a representative is point + shrink * (centre - point).
 *
 * Outliers (`outliers`), in the paper's two phases. Outliers are far from all else, so that their clusters grow slowly:
 *  - as soon as at most n / 3 clusters remain, those of one or two points are removed;
 *  - after that, as soon as at most 3 k remain, those are removed whose size is less than a tenth of the mean size;
 *  - a phase after which fewer than k clusters would remain removes nothing, and neither comes when k remain;
 *  - at the end each point of a removed cluster joins the cluster with the closest representative (of equals the one
 *    in the least entry), as the paper labels points that are not in its sample.
 * The paper gives the third and the one or two points; it says of the second phase that it comes near the end, and that
 * very small clusters are removed. 3 k and the tenth are ours. */
#ifndef PCURE_CURE_H
#define PCURE_CURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cure_variant {
    CURE_SEQUENTIAL, /* no OpenMP at all in the update phase */
    CURE_LOOPS,      /* both loops of the update phase parallel, schedule(static, 10) */
    CURE_TASKS,      /* workqueueing: a piece of ten iterations is a task, at both levels */
    CURE_LAZY,       /* the loops in parallel one after the other; neighbours are looked for as late as can be */
};

struct cure_options {
    size_t k;
    unsigned representatives;
    double shrink; /* 0 .. 1 */
    bool outliers; /* are removed */
    enum cure_variant variant;
    unsigned outer, inner; /* threads of the outer and of the inner loop (tasks, lazy: outer alone) */
    /* Called by one thread now and then, part in 0 .. 1; or NULL. */
    void (*progress)(const char *phase, double part, size_t done, size_t total);
};

struct cure_times {
    double first, merge, update; /* seconds */
    size_t searches;             /* of a nearest neighbour anew, after the first ones */
    size_t outliers;             /* points of removed clusters */
};

/* labels[i]: the cluster of point i; numbered from 0 in the order of their first points. 1 <= k <= n. ENOMEM, or 0. */
int cure(const double *points, size_t n, size_t dim, const struct cure_options *options, uint32_t *labels,
         struct cure_times *times);

#endif
