/* See paper.h. */
#include "paper.h"

#include <string.h>

#include "cpu.h"

BOARD_LOCAL struct paper_descriptor *volatile paper_descriptors[BOARD_CORES_MAX];
static BOARD_LOCAL struct {
    _Atomic uint32_t lock;
    volatile uint32_t busy[BOARD_CORES_MAX];
} pool;
static _Atomic uint32_t versions;

static uint32_t *pool_of(unsigned cluster) { return board_global((void *)(uintptr_t)&pool, cluster); }
static void lock(unsigned cluster)
{
    while (ps_xchg_acquire((_Atomic uint32_t *)pool_of(cluster), 1) != 0)
        cpu_pause();
}
static void unlock(unsigned cluster) { ps_store_release((_Atomic uint32_t *)pool_of(cluster), 0); }
static volatile uint32_t *busy_in(unsigned cluster) { return pool_of(cluster) + 1; }

void pool_start(void) { pool.busy[0] = 1; } /* the global master is cluster 0's first thread */

/* INIT. NULL: no memory. */
static struct paper_descriptor *new_descriptor(struct team *team, unsigned n)
{
    unsigned threads = pool_clusters * pool_cores, words = (threads + 31) / 32;
    struct paper_descriptor *d =
        board_block(sizeof *d + words * sizeof *d->mask + threads * sizeof *d->local_ids + n * sizeof *d->persistent);
    if (d == NULL)
        return NULL;
    d->function = team->ops->body;
    d->argument = team;
    d->parent = paper_descriptors[board_core()];
    d->mask = (uint32_t *)(d + 1);
    d->local_ids = (uint16_t *)(d->mask + words);
    d->persistent = d->local_ids + threads;
    memset(d->mask, 0, words * sizeof *d->mask);
    return d;
}

static void select_thread(struct paper_descriptor *d, unsigned id, unsigned core)
{
    d->mask[core / 32] |= 1u << core % 32;
    d->local_ids[core] = (uint16_t)id;
    d->persistent[id] = (uint16_t)core;
}

/* Takes the first idle thread of the cluster from `from` on, whose lock the caller has; pool_cores: none is. */
static unsigned take(unsigned cluster, unsigned from)
{
    volatile uint32_t *busy = busy_in(cluster);
    while (from < pool_cores && busy[from])
        from++;
    if (from < pool_cores)
        busy[from] = 1;
    return from;
}

/* FETCH: n members, or as many as there are idle threads for. */
static unsigned fetch(struct team *team, struct paper_descriptor *d, unsigned n)
{
    unsigned here = board_cluster(), locked = pool_clusters, next = 0, id = 1;
    bool confined = team->place != EE_NO_PLACE && !team->scattered;
    for (; id < n; id++) {
        unsigned wanted = team->place_of[id] != 0 ? pool_cluster_of_place(team->place_of[id] - 1u) : here;
        unsigned core = pool_cores, c = wanted;
        for (unsigned i = 0; i < (confined ? 1 : pool_clusters) && core == pool_cores; i++) {
            c = (wanted + i) % pool_clusters;
            if (c != locked) {
                if (locked != pool_clusters)
                    unlock(locked);
                lock(c);
                locked = c;
                next = 0;
            }
            core = take(c, next);
        }
        if (core == pool_cores)
            break;
        next = core + 1;
        struct member *m = (struct member *)(void *)team->ops->near(team->members, id, (int)c);
        if (m == NULL) {
            busy_in(c)[core] = 0;
            break;
        }
        team->cores[c] |= 1u << core;
        m->team = team;
        m->core = (uint16_t)(c * pool_cores + core);
        select_thread(d, id, m->core);
    }
    if (locked != pool_clusters)
        unlock(locked);
    return id;
}

unsigned ee_team_reserve(struct ee_team *t, unsigned n)
{
    struct team *team = team_of(t);
    pool_phase("INIT");
    struct paper_descriptor *d = new_descriptor(team, n);
    team->n = 1;
    if (d == NULL)
        return 1;
    team->home = (uint16_t)pool_core();
    select_thread(d, 0, team->home);
    for (unsigned c = 0; c < pool_clusters; c++)
        team->cores[c] = 0;
    team->version = (uint16_t)ps_add_relaxed(&versions, 1);
    pool_phase("FETCH");
    team->n = n = fetch(team, d, n);
    if (n == 1) {
        board_block_free(d);
        return 1;
    }
    team->descriptor = d;
    team->id_of = d->local_ids;
    team->num_spans = 0; /* who has tasks tells the clusters one after the other */
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
    for (unsigned c = 0; c < pool_clusters; c++) {
        if (team->cores[c] == 0)
            continue;
        lock(c);
        for (uint32_t rest = team->cores[c]; rest != 0; rest &= rest - 1)
            busy_in(c)[__builtin_ctz(rest)] = 0;
        unlock(c);
    }
    paper_descriptors[board_core()] = d->parent;
    pool_phase("CLOSE");
    hal_unmapped(team);
    team->descriptor = NULL;
    board_block_free(d);
}
