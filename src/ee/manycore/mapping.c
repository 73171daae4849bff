/* Which cores a team has: the pool of idle cores for the ways sw and hws.
 *
 * Does: keeps the idle cores of each cluster in a word of bits in that cluster's memory. Maps a team's members to
 * cores, preferring cores of the member's place. Takes these cores at a fork, and gives them back at the join. A team
 * that is bound to one place stays inside; it has fewer members if the place has too few idle cores.
 *
 * Mapping. A team keeps its mapping from region to region. A fork takes the same cores again if they are idle, with one
 * atomic operation a cluster. The root's team takes nothing from the pool, because while it is open every other fork is
 * by one of its members or by a team below them. So a fork that takes cores from the pool leaves out the root team's
 * cores. Each core of that team keeps the team's cores in its own cluster in root_cores; for other clusters the root's
 * open team is read (taken_by_root).
 *
 * Shared: `idle`, changed by forks (and) and joins (or) on any core. Failures: smaller teams. Rejected: a lock around
 * the pool, as in the paper. Here one atomic operation takes all cores of a cluster at once. */
#include "hal.h"

#include "cpu.h"

static BOARD_LOCAL _Atomic uint32_t idle;
static _Atomic uint32_t mappings;

static _Atomic uint32_t *idle_of(unsigned cluster) { return board_global((void *)(uintptr_t)&idle, cluster); }

void pool_start(void)
{
    for (unsigned c = 0; c < pool_clusters; c++)
        ps_store_relaxed(idle_of(c), ((2u << (pool_cores - 1)) - 1) & (c == 0 ? ~1u : ~0u));
}

/* Returns the cores of the cluster that belong to the root's open team; 0 if no team of the root is open. The root's
 * team is not open while it is being mapped. */
static uint32_t taken_by_root(unsigned cluster)
{
    if (pool_self.of_root_team && cluster == board_cluster())
        return pool_self.root_cores;
    return pool_open_root != NULL ? pool_open_root->cores[cluster] : 0;
}

static unsigned first_cluster(uint64_t clusters)
{
    uint32_t low = (uint32_t)clusters;
    return (unsigned)(low != 0 ? __builtin_ctz(low) : 32 + __builtin_ctz((uint32_t)(clusters >> 32)));
}

/* Takes all of the team's cores or none. Returns whether it took them. The cores may be in several clusters. */
static PS_NOINLINE bool claim_far(struct team *team)
{
    for (unsigned s = 0; s < team->num_spans; s++) {
        uint32_t cores = team->spans[s].cores;
        for (uint64_t rest = team->spans[s].clusters; rest != 0; rest &= rest - 1) {
            unsigned c = first_cluster(rest);
            uint32_t before = atomic_fetch_and_explicit(idle_of(c), ~cores, memory_order_acq_rel);
            if (PS_LIKELY((before & cores) == cores && (cores & taken_by_root(c)) == 0))
                continue;
            atomic_fetch_or_explicit(idle_of(c), before & cores, memory_order_acq_rel);
            /* Gives back the cores that it took before these. */
            for (unsigned b = 0; b < pool_clusters; b++)
                for (unsigned u = 0; u <= s; u++)
                    if ((team->spans[u].clusters >> b & 1) && (u < s || b < c))
                        atomic_fetch_or_explicit(idle_of(b), team->spans[u].cores, memory_order_acq_rel);
            return false;
        }
    }
    return true;
}

/* As claim_far, for a team whose cores are all in the caller's cluster. */
static inline bool claim_near(struct team *team)
{
    uint32_t cores = team->spans[0].cores;
    uint32_t before = atomic_fetch_and_explicit(team->idle, ~cores, memory_order_acq_rel);
    if (PS_LIKELY((before & cores) == cores && (cores & taken_by_root(board_cluster())) == 0))
        return true;
    atomic_fetch_or_explicit(team->idle, before & cores, memory_order_acq_rel);
    return false;
}
static bool claim_cores(struct team *team) { return team->idle != NULL ? claim_near(team) : claim_far(team); }

static PS_NOINLINE void give_back_far(struct team *team)
{
    for (unsigned s = 0; s < team->num_spans; s++)
        for (uint64_t rest = team->spans[s].clusters; rest != 0; rest &= rest - 1)
            atomic_fetch_or_explicit(idle_of(first_cluster(rest)), team->spans[s].cores, memory_order_acq_rel);
}

void pool_give_back(struct team *team)
{
    if (PS_LIKELY(team->idle != NULL))
        atomic_fetch_or_explicit(team->idle, team->spans[0].cores, memory_order_acq_rel);
    else
        give_back_far(team);
}

/* Gives cores of cluster c, out of *free, to the members from id up to `end`. Returns the first member that got none:
 * the cores or the memory did not suffice. */
static unsigned map_in(struct team *team, unsigned c, uint32_t *free, unsigned id, unsigned end)
{
    uint32_t left = *free;
    unsigned n = 0, core = c * pool_cores;
    for (uint32_t bits = left; bits != 0 && n < end - id; bits &= bits - 1)
        n++;
    end = id + team->ops->near(team->members, id, n, (int)c);
    for (uint32_t bit = 1; id < end; bit <<= 1, core++) {
        if (!(left & bit))
            continue;
        left ^= bit;
        team->id_of[core] = (uint16_t)id++;
    }
    team->cores[c] |= *free ^ left;
    *free = left;
    return id;
}

/* Makes a new mapping for n members, or for as many as there are idle cores and memory. Takes no cores yet: the caller
 * claims them. Returns the number of members. */
static PS_NOINLINE unsigned map(struct team *team, unsigned n, bool root)
{
    unsigned here = board_cluster(), id = 1;
    bool confined = team->place != EE_NO_PLACE && !team->scattered;
    uint32_t free[BOARD_CLUSTERS_MAX];
    hal_unmapped(team);
    for (unsigned c = 0; c < pool_clusters; c++) {
        free[c] = ps_load_relaxed(idle_of(c)) & ~taken_by_root(c);
        team->cores[c] = 0;
    }
    while (id < n) { /* the members from id up to `end`, as many as a cluster has cores, are bound alike */
        unsigned bound = team->cluster_of[id], end = id + 1, c = bound != 0 ? bound - 1 : here, before = id;
        while (end < n && end - id < pool_cores && team->cluster_of[end] == bound)
            end++;
        for (unsigned i = 0; !confined && free[c] == 0 && i < pool_clusters; i++)
            c = (here + i) % pool_clusters;
        id = map_in(team, c, &free[c], id, end);
        if (id == before)
            break;
    }
    team->num_spans = 0;
    for (unsigned c = 0; c < pool_clusters; c++) {
        unsigned s = 0;
        while (s < team->num_spans && team->spans[s].cores != team->cores[c])
            s++;
        if (team->cores[c] == 0)
            continue;
        if (s == team->num_spans)
            team->spans[team->num_spans++] = (struct span){.cores = team->cores[c]};
        team->spans[s].clusters |= UINT64_C(1) << c;
    }
    team->idle = team->num_spans == 1 && team->spans[0].clusters == UINT64_C(1) << here ? idle_of(here) : NULL;
    team->home = (uint16_t)pool_core();
    team->mapped = (uint16_t)id;
    /* cores recognise the mapping by its version even if another team's block is at this address later */
    team->version = (uint16_t)ps_add_relaxed(&mappings, 1);
    team->bound_anew = team->told = false;
    team->gate = NULL;
    team->n = id;
    team->root = root;
    if (id > 1)
        hal_mapped(team);
    return id;
}

/* Returns whether the team's present mapping was made on this core, for n members, with the same binding and the same
 * `root`. (A parent that was the root at the last fork may now be the only member of a region.) */
static bool mapping_fits(const struct team *team, unsigned n, bool root)
{
    return team->mapped == n && !team->bound_anew && team->root == root && team->home == pool_core();
}

static PS_NOINLINE unsigned reserve_slowly(struct team *team, unsigned n, bool root)
{
    if (mapping_fits(team, n, root) && claim_cores(team))
        return n;
    do
        n = map(team, n, root);
    while (!root && n > 1 && !claim_cores(team));
    return n;
}

unsigned ee_team_reserve(struct ee_team *t, unsigned n)
{
    struct team *team = team_of(t);
    bool root = pool_self.member == NULL;
    pool_phase("FETCH");
    if (PS_UNLIKELY(!mapping_fits(team, n, root) || (!root && (team->idle == NULL || !claim_near(team)))))
        n = reserve_slowly(team, n, root);
    pool_phase("INIT");
    return n;
}
