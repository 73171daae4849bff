/* The paper's implicit nested way (manycore-nested-2016, section 3.2.1, figure 12), on top of hws-paper.c. A region of
 * the root with all threads has one descriptor, which stays from region to region. So no thread is fetched or given
 * back. The descriptor's address is broadcast to all clusters at once, and the release and the join go through the
 * hierarchy of synchronisers. The threads stay taken in the pool. When the root opens a region with fewer threads, or
 * of another team, it gives all of them back first. Every other region is as in hws-paper.c.
 *
 * Shared: `whole`, written by the root's core only. Each parent reads it when it gives its team back; a nested team's
 * descriptor is never `whole`. */
#include "paper.h"

/* The descriptor of the root's last region with all threads. NULL: the threads are back in the pool. */
static struct paper_descriptor *whole;

/* Joins the spans of the other clusters to one, since the team has the same cores in all of them. */
static void join_spans(struct team *team)
{
    unsigned kept = 0, others = 0;
    for (unsigned s = 0; s < team->num_spans; s++) {
        struct span span = team->spans[s];
        if (others > 0 && span.cores == team->spans[others].cores)
            team->spans[others].clusters |= span.clusters;
        else
            team->spans[others = kept++] = span;
    }
    team->num_spans = (uint8_t)kept;
}

unsigned ee_team_reserve(struct ee_team *t, unsigned n)
{
    struct team *team = team_of(t);
    bool all = pool_self.member == NULL && n == pool_clusters * pool_cores;
    if (PS_LIKELY(all && whole != NULL && team->descriptor == whole)) {
        pool_phase("INIT");
        paper_descriptors[board_core()] = whole;
        hws_paper_tell(team);
        return n;
    }
    if (pool_self.member == NULL && whole != NULL) {
        paper_drop(whole, pool_clusters * pool_cores);
        whole = NULL;
    }
    unsigned granted = paper_reserve(team, n);
    if (all && granted == n) {
        whole = team->descriptor;
        join_spans(team);
    }
    return granted;
}

void pool_give_back(struct team *team)
{
    if (team->descriptor != whole)
        paper_give_back(team);
    else
        paper_descriptors[board_core()] = whole->parent;
}
