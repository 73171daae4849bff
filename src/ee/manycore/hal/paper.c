/* See paper.h. */
#include "paper.h"

#include "cpu.h"

BOARD_LOCAL struct paper_descriptor *volatile paper_descriptors[BOARD_CORES_MAX];
static BOARD_LOCAL struct pool {
    _Atomic uint32_t lock;
    volatile uint32_t busy[BOARD_CORES_MAX];
} pool;
static _Atomic uint32_t versions;

static BOARD_LOCAL struct {
    _Atomic uint32_t lock;
    struct paper_descriptor *free;
} descriptors; /* a list of free descriptors, used by the cluster's masters */

static void lock(_Atomic uint32_t *word)
{
    while (ps_xchg_acquire(word, 1) != 0)
        cpu_pause();
}
static void unlock(_Atomic uint32_t *word) { ps_store_release(word, 0); }
static struct pool *pool_of(unsigned cluster) { return board_global((void *)(uintptr_t)&pool, cluster); }

void pool_start(void) { pool.busy[0] = 1; } /* The global master is cluster 0's first thread. */

/* The paper's INIT: returns a descriptor for the team's next region. NULL: no memory. */
static struct paper_descriptor *new_descriptor(struct team *team)
{
    unsigned threads = pool_clusters * pool_cores;
    lock(&descriptors.lock);
    struct paper_descriptor *d = descriptors.free;
    if (PS_LIKELY(d != NULL))
        descriptors.free = d->parent;
    unlock(&descriptors.lock);
    if (PS_UNLIKELY(d == NULL)) {
        d = board_block(sizeof *d + threads * sizeof *d->local_ids + threads * sizeof *d->persistent);
        if (d == NULL)
            return NULL;
        d->local_ids = (uint16_t *)(d + 1);
        d->persistent = d->local_ids + threads;
    }
    d->function = team->ops->body;
    d->argument = team;
    d->parent = paper_descriptors[board_core()];
    d->mask = team->cores;
    for (unsigned c = 0; c < pool_clusters; c++)
        d->mask[c] = 0;
    return d;
}

/* The paper's CLOSE. Called by a core of the cluster in which the descriptor was made. */
static void drop_descriptor(struct paper_descriptor *d)
{
    lock(&descriptors.lock);
    d->parent = descriptors.free;
    descriptors.free = d;
    unlock(&descriptors.lock);
}

static inline void select_thread(struct paper_descriptor *d, unsigned id, unsigned core, unsigned persistent)
{
    d->local_ids[core] = (uint16_t)id;
    d->persistent[id] = (uint16_t)persistent;
}

/* Returns the first member after member `id` that is bound to another cluster; n: there is none. Compares four members
 * at once. The paper has a stride over the pool in place of a list of places. */
static inline unsigned bound_until(const uint8_t *cluster_of, unsigned id, unsigned n)
{
    uint32_t four, alike = cluster_of[id] * 0x01010101u;
    unsigned end = id + 1;
    while (end < n && end % 4 != 0 && cluster_of[end] == cluster_of[id])
        end++;
    if (end % 4 == 0)
        for (; end + 4 <= n; end += 4) {
            memcpy(&four, __builtin_assume_aligned(cluster_of + end, 4), sizeof four);
            if (four != alike)
                break;
        }
    while (end < n && cluster_of[end] == cluster_of[id])
        end++;
    return end;
}

/* Gets storage for member id near its new thread from the OpenMP core. Returns false if there is no memory. */
static PS_NOINLINE bool move_member(struct team *team, unsigned id, unsigned cluster, unsigned thread)
{
    if (team->ops->near(team->members, id, 1, (int)cluster) == 0)
        return false;
    struct member *m = member_at(team, id);
    m->team = team;
    team->ops->settle((struct ee_member *)(void *)m, (struct ee_team *)(void *)team, id);
    m->core = (uint16_t)thread;
    /* Each team counts its regions by itself. So an older value, of another team, could be the number of this team's
     * region by chance; 0 is no region's number. */
    ps_store_relaxed(&m->end, 0);
    return true;
}

/* The paper's FETCH in one cluster: selects threads for the members from id up to `end`, or as many as are idle.
 * Returns the first member that has no thread. */
static inline unsigned fetch_from(struct team *team, struct paper_descriptor *d, unsigned c, unsigned id, unsigned end)
{
    /* Each member's core in the last region, by id. The memory is the id_of that ee_team_init made. */
    uint16_t *before = (uint16_t *)(team->cores + pool_clusters);
    unsigned cores = pool_cores, first = c * cores;
    uint32_t taken = 0;
    struct pool *p = pool_of(c);
    lock(&p->lock);
    for (unsigned core = 0; core < cores && id < end; core++) {
        if (p->busy[core])
            continue;
        if (PS_UNLIKELY(before[id] != first + core)) {
            if (!move_member(team, id, c, first + core))
                break;
            before[id] = (uint16_t)(first + core);
        }
        p->busy[core] = 1;
        taken |= 1u << core;
        select_thread(d, id++, first + core, c * BOARD_CORES_MAX + core);
    }
    unlock(&p->lock);
    d->mask[c] |= taken;
    return id;
}

/* The paper's FETCH: selects threads for n members, or as many as are idle. Returns the number of members. */
static inline unsigned fetch(struct team *team, struct paper_descriptor *d, unsigned n)
{
    unsigned here = board_cluster(), clusters = pool_clusters, id = 1;
    unsigned may_be_in = team->place != EE_NO_PLACE && !team->scattered ? 1 : clusters;
    while (id < n) {
        unsigned end = bound_until(team->cluster_of, id, n), bound = team->cluster_of[id];
        unsigned c = bound != 0 ? bound - 1 : here, left = may_be_in;
        for (; id < end && left > 0; left--, c = c + 1 == clusters ? 0 : c + 1)
            id = fetch_from(team, d, c, id, end);
        if (id < end)
            break;
    }
    return id;
}

/* There is no short path: each region has to take locks of the pool and to get a descriptor. */
bool ee_team_lasts(PS_UNUSED struct ee_team *team) { return false; }
void ee_team_run_again(struct ee_team *t, void (*fn)(void *), void *data) { team_of(t)->ops->otherwise(t, fn, data); }

unsigned paper_reserve(struct team *team, unsigned n)
{
    pool_phase("INIT");
    struct paper_descriptor *d = new_descriptor(team);
    team->n = 1;
    if (d == NULL)
        return 1;
    team->home = (uint16_t)pool_core();
    team->told = false;
    team->gate = NULL; /* the gate belonged to the slots of the last region */
    select_thread(d, 0, team->home, board_cluster() * BOARD_CORES_MAX + board_core());
    team->version = (uint16_t)ps_add_relaxed(&versions, 1);
    pool_phase("FETCH");
    team->n = n = fetch(team, d, n);
    if (n == 1) {
        drop_descriptor(d);
        return 1;
    }
    team->descriptor = d;
    team->id_of = d->local_ids;
    team->num_spans = 0; /* one span for each cluster, so hal_notify sends its signal cluster by cluster */
    for (unsigned c = 0; c < pool_clusters; c++)
        if (team->cores[c] != 0)
            team->spans[team->num_spans++] = (struct span){.clusters = UINT64_C(1) << c, .cores = team->cores[c]};
    hal_mapped(team);
    paper_descriptors[board_core()] = d;
    pool_phase("INIT");
    return n;
}

void paper_drop(struct paper_descriptor *d, unsigned n)
{
    struct pool *p = NULL;
    unsigned c = BOARD_CLUSTERS_MAX;
    for (unsigned id = 1; id < n; id++) {
        unsigned thread = d->persistent[id];
        if (thread / BOARD_CORES_MAX != c) {
            if (p != NULL)
                unlock(&p->lock);
            c = thread / BOARD_CORES_MAX;
            p = pool_of(c);
            lock(&p->lock);
        }
        p->busy[thread % BOARD_CORES_MAX] = 0;
    }
    if (p != NULL)
        unlock(&p->lock);
    drop_descriptor(d);
}

void paper_give_back(struct team *team)
{
    struct paper_descriptor *d = team->descriptor;
    paper_descriptors[board_core()] = d->parent;
    paper_drop(d, team->n);
    pool_phase("CLOSE");
    hal_unmapped(team);
    team->descriptor = NULL;
}
