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
} descriptors; /* that the cluster's masters have had */

static void lock(_Atomic uint32_t *word)
{
    while (ps_xchg_acquire(word, 1) != 0)
        cpu_pause();
}
static void unlock(_Atomic uint32_t *word) { ps_store_release(word, 0); }
static struct pool *pool_of(unsigned cluster) { return board_global((void *)(uintptr_t)&pool, cluster); }

void pool_start(void) { pool.busy[0] = 1; } /* the global master is cluster 0's first thread */

/* INIT. NULL: no memory. */
static struct paper_descriptor *new_descriptor(struct team *team)
{
    unsigned threads = pool_clusters * pool_cores, words = (threads + 31) / 32;
    lock(&descriptors.lock);
    struct paper_descriptor *d = descriptors.free;
    if (PS_LIKELY(d != NULL))
        descriptors.free = d->parent;
    unlock(&descriptors.lock);
    if (PS_UNLIKELY(d == NULL)) {
        d = board_block(sizeof *d + words * sizeof *d->mask + threads * sizeof *d->local_ids +
                        threads * sizeof *d->persistent);
        if (d == NULL)
            return NULL;
        d->mask = (uint32_t *)(d + 1);
        d->local_ids = (uint16_t *)(d->mask + words);
        d->persistent = d->local_ids + threads;
    }
    d->function = team->ops->body;
    d->argument = team;
    d->parent = paper_descriptors[board_core()];
    for (unsigned w = 0; w < words; w++)
        d->mask[w] = 0;
    return d;
}

/* CLOSE: by a core of the cluster that got it. */
static void drop_descriptor(struct paper_descriptor *d)
{
    lock(&descriptors.lock);
    d->parent = descriptors.free;
    descriptors.free = d;
    unlock(&descriptors.lock);
}

static inline void select_thread(struct paper_descriptor *d, unsigned id, unsigned core, unsigned persistent)
{
    d->mask[core / 32] |= 1u << core % 32;
    d->local_ids[core] = (uint16_t)id;
    d->persistent[id] = (uint16_t)persistent;
}

/* FETCH: n members, or as many as there are idle threads for. */
static inline unsigned fetch(struct team *team, struct paper_descriptor *d, unsigned n)
{
    unsigned here = board_cluster(), clusters = pool_clusters, cores = pool_cores, id = 1, core = 0, c = here;
    unsigned wanted = here, left = team->place != EE_NO_PLACE && !team->scattered ? 1 : clusters, stride = left;
    unsigned bound = 0;
    uint16_t *before = (uint16_t *)(team->cores + clusters); /* by id: in the last region; ee_team_init's id_of */
    struct pool *p = pool_of(here);
    lock(&p->lock);
    while (id < n) {
        if (PS_UNLIKELY(team->cluster_of[id] != bound)) {
            bound = team->cluster_of[id];
            wanted = bound != 0 ? bound - 1 : here;
            left = stride;
            if (wanted != c) {
                unlock(&p->lock);
                c = wanted;
                p = pool_of(c);
                lock(&p->lock);
                core = 0;
            }
        }
        while (core < cores && p->busy[core])
            core++;
        if (core == cores) { /* the next cluster, if the team may be there */
            if (--left == 0)
                break;
            unlock(&p->lock);
            c = c + 1 == clusters ? 0 : c + 1;
            p = pool_of(c);
            lock(&p->lock);
            core = 0;
            continue;
        }
        unsigned thread = c * cores + core;
        if (before[id] != thread) {
            struct member *m = (struct member *)(void *)team->ops->near(team->members, id, (int)c);
            if (m == NULL)
                break;
            m->team = team;
            m->core = before[id] = (uint16_t)thread;
            ps_store_relaxed(&m->end, 0); /* it may have been another team's, of other region numbers */
        }
        p->busy[core] = 1;
        team->cores[c] |= 1u << core;
        select_thread(d, id++, thread, c * BOARD_CORES_MAX + core);
        core++;
    }
    unlock(&p->lock);
    return id;
}

/* Each region has a pool's lock and a descriptor to get. */
bool ee_team_lasts(PS_UNUSED struct ee_team *team) { return false; }
void ee_team_run_again(struct ee_team *t, void (*fn)(void *), void *data) { team_of(t)->ops->otherwise(t, fn, data); }

unsigned ee_team_reserve(struct ee_team *t, unsigned n)
{
    struct team *team = team_of(t);
    pool_phase("INIT");
    struct paper_descriptor *d = new_descriptor(team);
    team->n = 1;
    if (d == NULL)
        return 1;
    team->home = (uint16_t)pool_core();
    team->told = false;
    team->gate = NULL; /* of the last region's slots */
    select_thread(d, 0, team->home, board_cluster() * BOARD_CORES_MAX + board_core());
    for (unsigned c = 0; c < pool_clusters; c++)
        team->cores[c] = 0;
    team->version = (uint16_t)ps_add_relaxed(&versions, 1);
    pool_phase("FETCH");
    team->n = n = fetch(team, d, n);
    if (n == 1) {
        drop_descriptor(d);
        return 1;
    }
    team->descriptor = d;
    team->id_of = d->local_ids;
    team->num_spans = 0; /* a member with tasks tells the clusters one after the other */
    for (unsigned c = 0; c < pool_clusters; c++)
        if (team->cores[c] != 0)
            team->spans[team->num_spans++] = (struct span){.clusters = UINT64_C(1) << c, .cores = team->cores[c]};
    hal_mapped(team);
    paper_descriptors[board_core()] = d;
    pool_phase("INIT");
    return n;
}

/* UPDATE and CLOSE. */
void pool_give_back(struct team *team)
{
    struct paper_descriptor *d = team->descriptor;
    struct pool *p = NULL;
    unsigned c = BOARD_CLUSTERS_MAX;
    for (unsigned id = 1; id < team->n; id++) {
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
    paper_descriptors[board_core()] = d->parent;
    pool_phase("CLOSE");
    hal_unmapped(team);
    team->descriptor = NULL;
    drop_descriptor(d);
}
