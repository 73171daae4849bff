/* The paper's software way (manycore-nested-2016, sections 3.1 and 3.2): its pool (paper.h), and two arrays of flags:
 *   RFLAGS   in each cluster, a word for each of its threads, on which the thread waits
 *   NFLAGS   in every cluster, a word for each thread of the platform, so that a master reads only its own memory
 * Fork: the master writes TEAM_DESC_PTR and RFLAGS of each member, one after the other. Join and barrier: each slave
 * writes its word of NFLAGS in the master's cluster. The master waits for one slave after the other, and ends the
 * barrier by RFLAGS.
 *
 * Tasks: the thread that makes a region's first task tells each member by a word beside the member's RFLAGS. From then
 * on barriers are counted in memory, because the OpenMP core must be told which member is last. In each barrier the
 * master decides whether it ends by flags or is counted. When all slaves have written their words, the master looks for
 * tasks; tasks that it sees were made before this barrier. If it sees none, it writes the barrier's number into
 * `released`, and ends the barrier by flags. A slave that learns of tasks while it waits reads `released`, because a
 * thread that was released earlier may have made these tasks. */
#include "paper.h"
#include "software.h"

#include "check.h"

enum { RELEASE_TEAM = 1, RELEASE_BARRIER = 2 };
static BOARD_LOCAL volatile uint32_t rflags[BOARD_CORES_MAX];
static BOARD_LOCAL volatile uint32_t tasks[BOARD_CORES_MAX];
static BOARD_LOCAL volatile uintptr_t assists[BOARD_CORES_MAX]; /* the member that is to assist; 0: none */
static BOARD_LOCAL volatile uint32_t *nflags;                   /* this cluster's NFLAGS [threads] */
/* address of the thread's word in its master's NFLAGS */
static BOARD_LOCAL volatile uint32_t *masters[BOARD_CORES_MAX];

/* Returns the address of a thread's word in the array of its cluster. */
static inline volatile uint32_t *at(volatile uint32_t *array, unsigned persistent)
{
    return (volatile uint32_t *)board_global((void *)(uintptr_t)&array[persistent % BOARD_CORES_MAX],
                                             persistent / BOARD_CORES_MAX);
}
static inline unsigned own(void) { return board_cluster() * BOARD_CORES_MAX + board_core(); }
static volatile uint32_t *nflag(unsigned cluster, unsigned persistent)
{
    return *(volatile uint32_t **)board_global((void *)(uintptr_t)&nflags, cluster) + persistent;
}

/* Called by each core. The first core makes NFLAGS of all clusters, before any other core has a master; the others do
 * nothing. */
void hal_init(void)
{
    if (pool_core() != 0)
        return;
    unsigned threads = pool_clusters * BOARD_CORES_MAX;
    for (unsigned c = 0; c < pool_clusters; c++) {
        uint32_t *words = board_block_only(c, threads * sizeof *words);
        PS_CHECK(words != NULL, "no memory for the flags of cluster %u", c);
        for (unsigned i = 0; i < threads; i++)
            words[i] = 0;
        *(volatile uint32_t **)board_global((void *)(uintptr_t)&nflags, c) = words;
    }
}

void hal_told(PS_UNUSED struct team *team) {}
void hal_mapped(struct team *team)
{
    for (unsigned id = 1; id < team->n; id++)
        *paper_descriptor_of(team->descriptor->persistent[id]) = team->descriptor;
}
void hal_unmapped(PS_UNUSED struct team *team) {}
bool hal_turn(PS_UNUSED struct team *team) { return false; }

static void release(const struct team *team, uint32_t what)
{
    for (unsigned id = 1; id < team->n; id++)
        *at(rflags, team->descriptor->persistent[id]) = what;
}
void hal_release(struct team *team)
{
    ps_store_relaxed(&team->released, 0);
    release(team, RELEASE_TEAM);
}

struct order hal_dock(void)
{
    unsigned core = board_core();
    for (;;) {
        if (rflags[core] != 0) {
            rflags[core] = 0;
            struct paper_descriptor *d = paper_descriptors[core];
            masters[core] = nflag(d->persistent[0] / BOARD_CORES_MAX, own());
            return paper_order(d);
        }
        if (assists[core] != 0) {
            uintptr_t assist = assists[core];
            assists[core] = 0;
            return (struct order){.what = assist | ORDER_ASSIST};
        }
    }
}

void hal_order_assist(unsigned core, struct member *m)
{
    volatile uintptr_t *word =
        (volatile uintptr_t *)at((volatile uint32_t *)assists, core / pool_cores * BOARD_CORES_MAX + core % pool_cores);
    while (*word != 0)
        cpu_pause();
    *word = (uintptr_t)m;
}

/* The word that a slave writes: the version of the team, and the number of the barrier at which it has arrived. The
 * last barrier is the join. */
enum { BARRIER_JOIN = 0xffff };
static uint32_t word_of(uint32_t version, uint32_t barrier) { return version << 16 | barrier; }

void hal_arrive(PS_UNUSED struct member *m)
{
    *masters[board_core()] = word_of(pool_self.known->version, BARRIER_JOIN);
}

static bool flag_shows_tasks(struct team *team)
{
    unsigned core = board_core();
    if (tasks[core]) {
        tasks[core] = 0;
        pool_saw_tasks();
    }
    return PS_UNLIKELY(pool_self.sees_tasks) && ps_load_seq(&team->notified);
}
bool hal_sees_tasks(struct team *team) { return flag_shows_tasks(team); }

/* Called by the master: advances *id over the slaves that have written their word. Returns whether all have. */
static bool gathered(const struct team *team, unsigned *id, uint32_t word)
{
    const uint16_t *core = team->descriptor->persistent;
    while (*id < team->n && nflags[core[*id]] == word)
        ++*id;
    return *id == team->n;
}

void hal_gather(struct team *team)
{
    uint32_t word = word_of(team->version, BARRIER_JOIN);
    bool mine = true;
    for (unsigned id = 1; !gathered(team, &id, word);)
        if (flag_shows_tasks(team))
            pool_assist(team, &mine);
}

enum ee_await hal_barrier_meet(struct team *team, struct member *m, uint32_t phase, bool counted)
{
    if (counted) {
        enum ee_await came = software_arrive(team);
        return came == EE_LAST ? came : software_await(team, m, phase);
    }
    if (++m->barriers == BARRIER_JOIN)
        m->barriers = 1;
    if (m == member_at(team, 0)) {
        uint32_t word = word_of(team->version, m->barriers);
        for (unsigned id = 1; !flag_shows_tasks(team);) {
            if (!gathered(team, &id, word) || flag_shows_tasks(team))
                continue;
            ps_store_seq(&team->released, m->barriers);
            release(team, RELEASE_BARRIER);
            return EE_RELEASED;
        }
        /* A later barrier may have the same number, because the numbers wrap around. */
        ps_store_relaxed(&team->released, 0);
    } else {
        unsigned core = board_core();
        *masters[core] = word_of(pool_self.known->version, m->barriers);
        bool released = false;
        while (released || !flag_shows_tasks(team) || (released = ps_load_seq(&team->released) == m->barriers))
            if (rflags[core] != 0) {
                rflags[core] = 0;
                return EE_RELEASED;
            }
    }
    return software_arrive(team);
}
enum ee_await hal_barrier_await(struct team *team, struct member *m, uint32_t phase)
{
    return software_await(team, m, phase);
}
void hal_barrier_release(struct team *team, struct member *m) { software_release(team, m); }
uint32_t hal_barrier_phase(struct team *team, struct member *m)
{
    return PS_LIKELY(m != NULL && !pool_self.sees_tasks) ? m->phase : ps_load_acquire(&team->phase);
}

void hal_notify(struct team *team)
{
    ps_store_seq(&team->notified, 1);
    pool_saw_tasks();
    if (team->descriptor != NULL)
        for (unsigned id = 0; id < team->n; id++)
            *at(tasks, team->descriptor->persistent[id]) = 1;
}
