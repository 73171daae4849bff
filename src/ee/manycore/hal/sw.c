/* Teams by memory alone. A docked core reads a word of its own in its cluster's memory until an order is there.
 *
 * Fork of the root's team: in each other cluster the parent writes two words to the first of the team's cores, and that
 * core hands them on to the rest of its cluster. The parent itself writes to the cores of its own cluster, and to all
 * cores of a nested team. If the region is like the last one, each core gets one word. With more than DIRECT clusters
 * these words go through blocks of BLOCK clusters (plan_orders). The parent writes to the clusters of its own block,
 * and to one cluster of each other block. The first core there hands the word on to the other clusters of the block.
 * Function and data of a repeated order are in the team. For the root's team the first core of each other cluster
 * copies them to its cluster. Join: in the root's team the members of another cluster count down a word of that
 * cluster, and the last of them counts down the parent's word. All other members count down the parent's word directly.
 * In manycore-nested-2016, section 3.2, the flags are by cluster, but the parent writes and reads one flag for each
 * thread. The barrier is counted in the team.
 *
 * Ordering: `what` is stored by release and loaded by acquire; the other words of an order are written before. The
 * counters of the join are acquire and release, so that the next order comes after everything of the last region.
 * RV32IMA has no instruction that counts bits or finds the first one, so the loops shift. If a cluster's cores of a
 * team are neighbours, the first and their number are computed once (run_of), and the stores of later orders need no
 * test of bits. */
#include "software.h"

struct dock {
    _Atomic uint32_t what;   /* written by the core that gives the order, set back by the dock's core; 0: no order */
    uint32_t cores;          /* the team's cores in this cluster; written before `what`, but not with ORDER_AGAIN */
    _Atomic uint32_t assist; /* the member that is to assist; 0: none */
};
static BOARD_LOCAL struct dock docks[BOARD_CORES_MAX];
/* A run of neighbouring docks, at most 15. n == 0: no docks, more than 15, or docks with a gap. */
struct run {
    uint8_t first, n;
};
/* With more than DIRECT clusters, the first mapped cluster of each BLOCK hands a repeated order (ORDER_AGAIN) on to the
 * others of the block. */
#define DIRECT 8u
#define BLOCK 4u
/* What each cluster keeps of the root's team. */
static BOARD_LOCAL struct root_here {
    void (*fn)(void *);
    void *data;
    _Atomic uint32_t left; /* members of this cluster that are not done; not used in the root's cluster */
    /* Used in clusters other than the root's; written by the first of the team's cores there (lead_cluster). */
    uint32_t cores, members;
    struct run run; /* all of the team's cores here except the first */
    /* `below` has n_below docks: first cores of other clusters, to which this cluster's first core (in the root's
     * cluster: the parent) hands a repeated order on. Written by the parent (plan_orders). */
    uint8_t n_below;
    _Atomic uint32_t *below[BOARD_CLUSTERS_MAX / BLOCK + BLOCK];
} root_here;

/* a bit of `what`: the receiver is the first core of its cluster, and hands the order on */
#define ORDER_HAND_ON ORDER_HAL

static struct dock *dock_of(unsigned core) { return board_global(&docks[core % pool_cores], core / pool_cores); }

void hal_init(void) {}
void hal_told(PS_UNUSED struct team *team) {}
void hal_unmapped(PS_UNUSED struct team *team) {}

/* A relaxed store. GCC 12 compiles an atomic store to an atomic exchange, which keeps a memory bank busy longer. An
 * aligned word is stored at once in any case. */
static inline void put_plainly(_Atomic uint32_t *word, uint32_t value) { *(volatile uint32_t *)word = value; }

/* d is the first dock of a cluster. Returns the dock of the first core in `cores`. */
static inline struct dock *first_dock(struct dock *d, uint32_t cores)
{
    for (; !(cores & 1); cores >>= 1)
        d++;
    return d;
}
/* give writes an order into one dock; give_all writes it into the docks of all cores in `to`, where d is the cluster's
 * first dock. give_all_again does so with a repeated order (ORDER_AGAIN), which has one word. */
static inline void give(struct dock *d, uintptr_t what, uint32_t cores)
{
    d->cores = cores;
    ps_store_release(&d->what, what);
}
static inline void give_all(struct dock *d, uint32_t to, uintptr_t what, uint32_t cores)
{
    for (; to != 0; to >>= 1, d++)
        if (to & 1)
            give(d, what, cores);
}
static inline void give_all_again(struct dock *d, uint32_t to, uintptr_t what)
{
    atomic_thread_fence(memory_order_release);
#pragma GCC unroll 4
    for (; to != 0; to >>= 1, d++)
        if (to & 1)
            put_plainly(&d->what, what);
}

static struct run run_of(uint32_t cores)
{
    struct run run = {.first = 0};
    if (cores == 0)
        return run;
    for (; !(cores & 1); cores >>= 1)
        run.first++;
    for (; cores & 1; cores >>= 1)
        run.n++;
    if (cores != 0 || run.n > 15)
        run.n = 0;
    return run;
}
static PS_ALWAYS_INLINE struct dock *give_next(struct dock *d, unsigned n, uintptr_t what)
{
#pragma GCC unroll 8
    for (unsigned i = 0; i < n; i++)
        put_plainly(&d[i].what, what);
    return d + n;
}
/* Gives `what` to the cores `to` of this cluster, as give_all_again does. `run` is run_of(to), computed before. */
static PS_ALWAYS_INLINE void give_near_again(struct run run, uint32_t to, uintptr_t what)
{
    if (PS_UNLIKELY(run.n == 0)) {
        give_all_again(docks, to, what);
        return;
    }
    struct dock *d = docks + run.first;
    atomic_thread_fence(memory_order_release);
    if (run.n & 8)
        d = give_next(d, 8, what);
    if (run.n & 4)
        d = give_next(d, 4, what);
    if (run.n & 2)
        d = give_next(d, 2, what);
    if (run.n & 1)
        give_next(d, 1, what);
}

void hal_mapped(struct team *team)
{
    struct run run = run_of(team->cores[board_cluster()]);
    team->run_first = run.first;
    team->run_n = run.n;
}

/* Called by the parent of the root's team. Plans which cores hand repeated orders on, and to which clusters. The plan
 * is valid until the team is mapped anew, or the root opens another team. */
static void plan_orders(const struct team *team)
{
    unsigned block = pool_clusters > DIRECT ? BLOCK : 1, first = 0;
    root_here.n_below = 0;
    for (unsigned c = 1; c < pool_clusters; c++) { /* the root is in cluster 0 */
        if (team->cores[c] == 0)
            continue;
        ((struct root_here *)board_global(&root_here, c))->n_below = 0;
        unsigned by = c / block == first / block ? first : 0;
        if (by == 0)
            first = c / block == 0 ? 0 : c;
        struct root_here *at = board_global(&root_here, by);
        at->below[at->n_below++] = &first_dock(board_global(docks, c), team->cores[c])->what;
    }
}
bool hal_turn(struct team *team)
{
    plan_orders(team);
    return true;
}
/* Hands a repeated order on to the docks of `below`. */
static PS_ALWAYS_INLINE void give_below(uint32_t what)
{
    atomic_thread_fence(memory_order_release);
    for (unsigned i = 0, n = root_here.n_below; i < n; i++)
        put_plainly(root_here.below[i], what);
}

static PS_ALWAYS_INLINE void release_again(struct team *team, uintptr_t what)
{
    unsigned here = board_cluster();
    struct run run = {team->run_first, team->run_n};
    what |= ORDER_AGAIN;
    if (team->root) {
        root_here.fn = team->fn;
        root_here.data = team->data;
        give_below((uint32_t)what | ORDER_HAND_ON);
        give_near_again(run, team->cores[here], what);
    } else if (PS_LIKELY(team->idle != NULL)) {
        give_near_again(run, team->spans[0].cores, what);
    } else {
        for (unsigned c = 0; c < pool_clusters; c++)
            give_all_again(board_global(docks, c), team->cores[c], what);
    }
}

void hal_release(struct team *team)
{
    unsigned here = board_cluster();
    uintptr_t what = (uintptr_t)team | (team->root ? ORDER_ROOT : 0);
    uint32_t version = (uint32_t)team->version << 16;
    if (team->root) {
        if (!team->again) {
            team->arrivals = (uint16_t)__builtin_popcount(team->cores[here]);
            for (unsigned c = 0; c < pool_clusters; c++)
                team->arrivals += c != here && team->cores[c] != 0;
            plan_orders(team);
        }
        ps_store_relaxed(&team->left, team->arrivals);
    }
    if (PS_LIKELY(team->again)) {
        release_again(team, what);
        return;
    }
    for (unsigned c = 0; c < pool_clusters; c++) {
        uint32_t cores = team->cores[c];
        if (c == here || cores == 0)
            continue;
        struct dock *base = board_global(docks, c);
        if (team->root)
            give(first_dock(base, cores), what | ORDER_HAND_ON, cores | version);
        else
            give_all(base, cores, what, cores | version);
    }
    give_all(docks, team->cores[here], what, team->cores[here] | version);
}

/* Orders the other members, runs member 0's share, and joins. last: number of the team's last region. Returns false if
 * there were tasks: then the region has been ended as well. */
static PS_ALWAYS_INLINE bool run_region(struct team *team, uint32_t last, void (*fn)(void *), void *data,
                                        uintptr_t what)
{
    team->region = last + 2;
    team->fn = fn;
    team->data = data;
    release_again(team, what);
    pool_phase("BODY");
    team->run_again(pool_begin_first(team), fn, data);
    pool_phase("GATHER");
    hal_gather(team);
    pool_end_first(team, POOL_OWN(pool_self));
    if (PS_LIKELY(pool_load(&team->notified) == 0))
        return true;
    pool_end_with_tasks(team);
    return false;
}

/* The root's team and a nested team have a function each, so that neither function tests which of them it runs. */
static PS_NOINLINE void run_root_by_memory(struct team *team, void (*fn)(void *), void *data)
{
    pool_phase("RELEASE");
    pool_open_again(team, &pool_self);
    put_plainly(&team->left, team->arrivals);
    if (PS_UNLIKELY(!run_region(team, team->region, fn, data, (uintptr_t)team | ORDER_ROOT)))
        return;
    pool_close_again(POOL_OWN(pool_self));
    pool_phase("CLOSE");
}

static PS_NOINLINE void run_near_by_memory(struct team *team, void (*fn)(void *), void *data)
{
    uint32_t region;
    pool_phase("FETCH");
    if (PS_UNLIKELY(!pool_claim_again(team, team->near, &region))) {
        pool_run_otherwise(team, fn, data);
        return;
    }
    pool_phase("RELEASE");
    put_plainly(&team->left, team->n - 1);
    if (PS_UNLIKELY(!run_region(team, region, fn, data, (uintptr_t)team)))
        return;
    pool_phase("UPDATE");
    pool_or(team->idle, team->near);
    pool_phase("CLOSE");
}

bool ee_team_lasts(struct ee_team *t)
{
    struct team *team = team_of(t);
    team->go = team->root ? run_root_by_memory : run_near_by_memory;
    return pool_lasts(team);
}

void ee_team_run_again(struct ee_team *t, void (*fn)(void *), void *data)
{
    struct team *team = team_of(t);
    void (*go)(struct team *, void (*)(void *), void *) = team->go;
    if (PS_UNLIKELY(!pool_may_run_again(team, &pool_self)))
        go = pool_run_otherwise;
    go(team, fn, data);
}

/* Called by the first of the root team's cores in its cluster, if the mapping is new or the core's last order was for
 * another team: notes the team's cores here. */
static PS_NOINLINE void lead_cluster(uint32_t cores)
{
    root_here.cores = cores;
    root_here.members = (uint32_t)__builtin_popcount(cores);
    root_here.run = run_of(cores & (cores - 1));
}

/* Called by the first of the root team's cores in its cluster: gives the order to the team's other cores there. */
static inline void hand_on(const struct order *order)
{
    if (PS_LIKELY(order->what & ORDER_AGAIN)) {
        uint32_t cores = root_here.cores;
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        const struct team *team = (struct team *)(order->what & ~(uintptr_t)ORDER_BITS);
        give_below((uint32_t)order->what | ORDER_HAND_ON);
        root_here.fn = team->fn;
        root_here.data = team->data;
        put_plainly(&root_here.left, root_here.members);
        give_near_again(root_here.run, cores & (cores - 1), order->what);
    } else {
        uint32_t cores = order->cores & 0xffff;
        lead_cluster(cores);
        ps_store_relaxed(&root_here.left, root_here.members);
        give_all(docks, cores & (cores - 1), order->what, order->cores);
    }
}

#define LOOKS 8 /* reads of the awaited word between two reads of a word that seldom changes */

/* Waits for an order and returns its `what`. Returns 0 if the core is asked to assist. */
static inline uintptr_t await_order(struct dock *own)
{
    for (;;) {
#pragma GCC unroll 8
        for (unsigned i = 0; i < LOOKS; i++) {
            uintptr_t what = pool_load(&own->what);
            if (what != 0)
                return what;
        }
        if (PS_UNLIKELY(pool_load(&own->assist) != 0))
            return 0;
    }
}

/* Takes an order that has come: hands the order on if the order says so, and frees the core's word. No core gives
 * another order before this core has counted its member in the join, so the word can be freed first. */
static inline void take_order(struct dock *own, uintptr_t what, struct order *order)
{
    order->what = what & ~(uintptr_t)ORDER_HAND_ON;
    order->cores = own->cores;
    put_plainly(&own->what, 0);
    if (what & ORDER_HAND_ON)
        hand_on(order);
    if (PS_LIKELY(what & ORDER_AGAIN)) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        const struct team *team = (struct team *)(what & ~(uintptr_t)ORDER_BITS);
        order->fn = what & ORDER_ROOT ? root_here.fn : team->fn;
        order->data = what & ORDER_ROOT ? root_here.data : team->data;
    }
}

/* Takes an order that the core does not expect: the team or its mapping may be new to the core. */
static struct order take_other(struct dock *own, uintptr_t what)
{
    struct order order;
    if ((what & ORDER_AGAIN) && (what & ORDER_HAND_ON)) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        const struct team *team = (struct team *)(what & ~(uintptr_t)ORDER_BITS);
        lead_cluster(team->cores[board_cluster()]);
    }
    take_order(own, what, &order);
    return order;
}

static PS_ALWAYS_INLINE void arrive_by_words(const struct self *self, const struct member *m)
{
    /* The root is in cluster 0, whose members count down the parent's word directly. */
    if (self->of_root_team && board_cluster() != 0 && pool_sub(&root_here.left, 1) != 1)
        return;
    pool_sub(&m->team->left, 1);
}
void hal_arrive(struct member *m) { arrive_by_words(&pool_self, m); }

struct order hal_dock(void)
{
    struct self *self = &pool_self;
    struct dock *own = &docks[board_core()];
    struct order order;
    while (PS_LIKELY(self->known != NULL)) {
        struct expected e = pool_expect(self, self->known);
        uintptr_t what = await_order(own);
        if (PS_UNLIKELY((what & ~(uintptr_t)ORDER_HAND_ON) != e.order)) {
            struct known *other = pool_other_known(self);
            if (what == 0)
                break;
            if ((what & ~(uintptr_t)ORDER_HAND_ON) != other->order)
                return take_other(own, what);
            pool_know(self, other, what);
            if (what & ORDER_HAND_ON)
                lead_cluster(other->cores);
            e = pool_expect(self, other);
        }
        take_order(own, what, &order);
        pool_run_expected(&e, order.fn, order.data);
        arrive_by_words(self, e.m);
        pool_ran_expected(&e);
    }
    uintptr_t what = await_order(own);
    if (what != 0)
        return take_other(own, what);
    order.what = ps_load_relaxed(&own->assist) | ORDER_ASSIST;
    ps_store_release(&own->assist, 0);
    return order;
}

void hal_order_assist(unsigned core, struct member *m)
{
    struct dock *d = dock_of(core);
    while (ps_load_acquire(&d->assist) != 0)
        cpu_pause();
    ps_store_release(&d->assist, (uintptr_t)m);
}

bool hal_sees_tasks(struct team *team) { return ps_load_seq(&team->notified); }

void hal_gather(struct team *team)
{
    bool mine = true;
    for (;;) {
#pragma GCC unroll 8
        for (unsigned i = 0; i < LOOKS; i++)
            if (pool_load(&team->left) == 0)
                return;
        if (PS_UNLIKELY(hal_sees_tasks(team)))
            pool_assist(team, &mine);
    }
}

enum ee_await hal_barrier_meet(struct team *team, struct member *m, uint32_t phase, PS_UNUSED bool counted)
{
    enum ee_await came = software_arrive(team);
    return came == EE_LAST ? came : software_await(team, m, phase);
}
enum ee_await hal_barrier_await(struct team *team, struct member *m, uint32_t phase)
{
    return software_await(team, m, phase);
}
void hal_barrier_release(struct team *team, struct member *m) { software_release(team, m); }
uint32_t hal_barrier_phase(struct team *team, PS_UNUSED struct member *m) { return ps_load_acquire(&team->phase); }
void hal_notify(struct team *team) { ps_store_seq(&team->notified, 1); }
