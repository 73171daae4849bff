/* Entities on a fixed thread pool (manycore-nested-2016, section 3.1): a thread a core, docked from the start.
 *
 * Does: keeps which cores are idle, a word of bits in each cluster's memory; maps a team's members to cores, those of
 * the member's place first, takes these at a fork and gives them back at the join. A team that is bound to one place
 * stays inside: it has fewer members where that has no more idle cores. Does not: make threads, or run two entities on
 * one core; so each wait is a look at a word, and nobody has to be woken. How cores are told and waited for: hal.h.
 *
 * Mapping. It stays with the team from region to region: a fork takes the same cores again where they are idle, with
 * one atomic operation a cluster. The root's team takes nothing from the pool: while it is open every other fork is by
 * one of its members or by one below them. Who is to take cores looks at that team's cores: a member of it finds those
 * of its own cluster in `root_team`, which each of them writes before it runs the body; others ask the team.
 *
 * States of a core: idle -> taken (at a fork) -> runs its member's body -> done, still taken -> [asked to assist] ->
 * idle (at the join). The forking core is member 0; it was taken already.
 *
 * Shared fields            who writes                             who reads
 *   idle                   forks (and) and joins (or) anywhere    the same
 *   root_team              the cluster's members of that team     the same
 *   member.done            the member's core; who asks it (cas)   who asks it
 *   team up to `id_of`     the parent, no region open             members, behind the order
 *   assistants, calls, interrupted                                members; see pool.h
 * Ordering: memory is sequentially consistent, a core has one access at a time; the atomics keep the compiler to it.
 * Failures: smaller teams; no memory for a mapping: one line, and the program ends.
 * Rejected: a lock around the pool, as the paper has it: the atomic operation takes all cores of a cluster at once. */
#include "hal.h"

#include <string.h>

#include "check.h"
#include "cpu.h"

static BOARD_LOCAL _Atomic uint32_t idle;
static BOARD_LOCAL volatile uint32_t root_team;
static struct team *volatile open_root; /* the root's team, while it is open; set by the root */
BOARD_LOCAL unsigned pool_clusters, pool_cores;
__thread struct self pool_self;

static _Atomic uint32_t mappings;
static struct ee_config config;
static __thread void *local;
static __thread void *slot;

static _Atomic uint32_t *idle_of(unsigned cluster) { return board_global((void *)(uintptr_t)&idle, cluster); }

/* --- the current entity --- */

void ee_init(const struct ee_config *c) { config = *c; }
unsigned ee_num_vps(void) { return pool_clusters * pool_cores; }
bool ee_private_storage(void) { return true; }
const char *ee_name(void) { return "manycore"; }
unsigned ee_num_kernel_threads(void) { return ee_num_vps(); }
void ee_after_fork_in_child(void) {}
void ee_quiesce(void) {}

void *ee_local(void) { return local; }
void ee_set_local(void *value) { local = value; }
void **ee_carrier_slot(void) { return &slot; }
unsigned ee_carrier_id(void) { return pool_core(); }
unsigned ee_max_carriers(void) { return CORES_MAX; }

/* --- places: the cluster of a place's first core counts --- */

static const unsigned *place_first, *place_cpu;

bool ee_places(unsigned n, const unsigned *first, const unsigned *cpu)
{
    place_first = first;
    place_cpu = cpu;
    return n > 0;
}

static unsigned cluster_of_place(unsigned place) { return place_cpu[place_first[place]] / pool_cores; }

void ee_member_bind(struct ee_team *team, unsigned id, int place)
{
    team_of(team)->place_of[id] = (uint16_t)(place + 1);
}
void ee_team_bind(struct ee_team *t, int place, bool scattered)
{
    team_of(t)->place = (int16_t)place;
    team_of(t)->scattered = scattered;
    team_of(t)->bound_anew = true;
}

void *ee_memory_near(int near, size_t bytes)
{
    if (near == EE_NEAR_ANY)
        return board_block(bytes);
    return board_block_only(near == EE_NEAR_HERE ? board_cluster() : (unsigned)near, bytes);
}
bool ee_is_near(const void *p, int near)
{
    if (near == EE_NEAR_ANY)
        return true;
    unsigned cluster = near == EE_NEAR_HERE ? board_cluster() : (unsigned)near;
    return (uintptr_t)p - (uintptr_t)board_global_base(cluster) < BOARD_CLUSTER_BYTES;
}

/* --- the pool --- */

/* Cores of the cluster that the root's open team has; none for the root itself, which maps it. */
static uint32_t taken_by_root(unsigned cluster)
{
    if (pool_self.of_root_team && cluster == board_cluster())
        return root_team;
    return open_root != NULL ? open_root->cores[cluster] : 0;
}

static unsigned first_of(uint64_t clusters)
{
    uint32_t low = (uint32_t)clusters;
    return (unsigned)(low != 0 ? __builtin_ctz(low) : 32 + __builtin_ctz((uint32_t)(clusters >> 32)));
}

/* All of the team's cores or none. */
static bool claim(struct team *team)
{
    for (unsigned s = 0; s < team->num_spans; s++) {
        uint32_t cores = team->spans[s].cores;
        for (uint64_t rest = team->spans[s].clusters; rest != 0; rest &= rest - 1) {
            unsigned c = first_of(rest);
            uint32_t before = atomic_fetch_and_explicit(idle_of(c), ~cores, memory_order_acq_rel);
            if (PS_LIKELY((before & cores) == cores && (cores & taken_by_root(c)) == 0))
                continue;
            atomic_fetch_or_explicit(idle_of(c), before & cores, memory_order_acq_rel);
            for (unsigned b = 0; b < pool_clusters; b++) /* those that it has taken before this one */
                for (unsigned u = 0; u <= s; u++)
                    if ((team->spans[u].clusters >> b & 1) && (u < s || b < c))
                        atomic_fetch_or_explicit(idle_of(b), team->spans[u].cores, memory_order_acq_rel);
            return false;
        }
    }
    return true;
}

static void give_back(const struct team *team)
{
    for (unsigned s = 0; s < team->num_spans; s++)
        for (uint64_t rest = team->spans[s].clusters; rest != 0; rest &= rest - 1)
            atomic_fetch_or_explicit(idle_of(first_of(rest)), team->spans[s].cores, memory_order_acq_rel);
}

/* A new mapping for n members, or as many as there are idle cores for. */
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
    for (; id < n; id++) {
        unsigned c = team->place_of[id] != 0 ? cluster_of_place(team->place_of[id] - 1u) : here;
        for (unsigned i = 0; !confined && free[c] == 0 && i < pool_clusters; i++)
            c = (here + i) % pool_clusters;
        if (free[c] == 0)
            break;
        struct member *m = (struct member *)(void *)team->ops->near(team->members, id, (int)c);
        if (m == NULL)
            break;
        unsigned core = (unsigned)__builtin_ctz(free[c]);
        free[c] &= free[c] - 1;
        team->cores[c] |= 1u << core;
        m->team = team;
        m->core = (uint16_t)(c * pool_cores + core);
        team->id_of[m->core] = (uint16_t)id;
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
    team->home = (uint16_t)pool_core();
    team->mapped = (uint16_t)id;
    team->version = (uint16_t)ps_add_relaxed(&mappings, 1); /* another team may stand there tomorrow */
    team->bound_anew = false;
    team->n = id;
    team->root = root;
    if (id > 1)
        hal_mapped(team);
    return id;
}

/* The mapping that stands is for n members of the same binding on this core, or for as many as there could be. */
static bool mapping_fits(const struct team *team, unsigned n)
{
    return team->mapped == n && !team->bound_anew && team->home == pool_core();
}

unsigned ee_team_reserve(struct ee_team *t, unsigned n)
{
    struct team *team = team_of(t);
    bool root = pool_self.member == NULL;
    if (PS_LIKELY(mapping_fits(team, n)) && (root || claim(team)))
        return n;
    do
        n = map(team, n, root);
    while (!root && n > 1 && !claim(team));
    return n;
}

/* --- members --- */

static void assist(struct team *team, struct member *m) { team->ops->assist((struct ee_member *)(void *)m); }

static void run(struct order order)
{
    struct self *self = &pool_self;
    struct team *team = (struct team *)(order.what & ~(uintptr_t)ORDER_BITS); // NOLINT(performance-no-int-to-ptr)
    self->of_root_team = order.what & ORDER_ROOT;
    if (order.what & ORDER_ROOT)
        root_team = order.cores & 0xffff;
    struct member *m = self->known;
    if (PS_UNLIKELY(self->known_team != team || self->known_version != order.cores >> 16)) {
        m = member_at(team, team->id_of[pool_core()]);
        self->known_team = team;
        self->known_version = (uint16_t)(order.cores >> 16);
        self->known = m;
        self->known_slots = m->slots = team->slots;
        self->known_body = team->ops->body;
    }
    local = m;
    self->member = m;
    self->sees_tasks = false;
    m->phase = 0;
    ps_store_relaxed(&m->done, 0);
    self->known_body((struct ee_member *)(void *)m);
    if (PS_UNLIKELY(hal_sees_tasks(team)))
        assist(team, m);
    ps_store_seq(&m->done, 1);
    self->member = NULL;
    hal_arrive(m);
}

static void run_assist(struct member *m)
{
    struct team *team = m->team;
    local = m;
    pool_self.member = m;
    pool_self.sees_tasks = true;
    assist(team, m);
    pool_self.member = NULL;
    ps_store_seq(&m->done, 1);
    ps_sub_acq_rel(&team->assistants, 1);
}

/* Where every core but the first spends its life (board.c). */
void mc_main_others(void);
void mc_main_others(void)
{
    hal_init();
    for (;;) {
        struct order order = hal_dock();
        if (PS_UNLIKELY(order.what & ORDER_ASSIST))
            run_assist((struct member *)(order.what & ~(uintptr_t)ORDER_BITS)); // NOLINT(performance-no-int-to-ptr)
        else
            run(order);
    }
}

/* Before main: all cores but the caller's are idle. */
__attribute__((constructor(101))) static void pool_init(void)
{
    board_memory_init();
    for (unsigned c = 0; c < board_clusters(); c++) {
        *(unsigned *)board_global(&pool_clusters, c) = board_clusters();
        *(unsigned *)board_global(&pool_cores, c) = board_cores();
    }
    for (unsigned c = 0; c < pool_clusters; c++)
        ps_store_relaxed(idle_of(c), ((2u << (pool_cores - 1)) - 1) & (c == 0 ? ~1u : ~0u));
    hal_init();
}

/* --- teams --- */

void ee_team_init(struct ee_team *t, const struct ee_team_ops *ops, void *members, size_t stride, unsigned n_max)
{
    struct team *team = team_of(t);
    PS_CHECK(stride == 0 && ops->near != NULL, "entities of the manycore want members that stand apart");
    *team = (struct team){.ops = ops, .members = members, .place = EE_NO_PLACE};
    size_t spans = pool_clusters * sizeof *team->spans, cores = pool_clusters * sizeof *team->cores,
           ids = pool_clusters * pool_cores * sizeof *team->id_of, places = n_max * sizeof *team->place_of;
    char *block = board_block(spans + cores + ids + places);
    PS_CHECK(block != NULL, "no memory for a team's mapping to cores");
    team->spans = (struct span *)(void *)block;
    team->cores = (uint32_t *)(void *)(block + spans);
    team->id_of = (uint16_t *)(void *)(block + spans + cores);
    team->place_of = (uint16_t *)(void *)(block + spans + cores + ids);
    memset(block, 0, spans + cores + ids + places);
    *member_at(team, 0) = (struct member){.team = team};
}

void ee_team_fini(struct ee_team *t)
{
    hal_unmapped(team_of(t));
    board_block_free(team_of(t)->spans);
}

void ee_team_fork(struct ee_team *t, unsigned n, PS_UNUSED bool outermost)
{
    struct team *team = team_of(t);
    struct member *first = member_at(team, 0);
    team->parent_local = local;
    team->parent = pool_self.member;
    team->n = n;
    ps_store_relaxed(&team->left, n - 1);
    ps_store_relaxed(&team->arrivals_left, n);
    ps_store_relaxed(&team->interrupted, 0);
    ps_store_relaxed(&team->calls, 0);
    ps_store_relaxed(&team->phase, 0);
    first->core = team->home;
    first->phase = 0;
    first->slots = team->slots;
    if (team->root) {
        root_team = team->cores[board_cluster()];
        pool_self.of_root_team = true;
        open_root = team;
    }
    hal_release(team);
    pool_self.member = first;
    local = first;
}

void ee_team_join(struct ee_team *t)
{
    struct team *team = team_of(t);
    hal_gather(team);
    while (PS_UNLIKELY(ps_load_acquire(&team->assistants) != 0))
        cpu_pause();
    local = team->parent_local;
    pool_self.member = team->parent;
    if (!team->root) {
        give_back(team);
        return;
    }
    pool_self.sees_tasks = pool_self.of_root_team = false;
    open_root = NULL;
}

/* --- barrier --- */

uint32_t ee_barrier_phase(struct ee_team *t) { return hal_barrier_phase(team_of(t), pool_self.member); }
bool ee_barrier_release(struct ee_team *t)
{
    hal_barrier_release(team_of(t), pool_self.member);
    return false;
}
enum ee_await ee_barrier_meet(struct ee_team *t, PS_UNUSED unsigned id, uint32_t phase, bool counted)
{
    return hal_barrier_meet(team_of(t), pool_self.member, phase, counted);
}
enum ee_await ee_barrier_await(struct ee_team *t, PS_UNUSED unsigned id, uint32_t phase)
{
    return hal_barrier_await(team_of(t), pool_self.member, phase);
}
void ee_barrier_wait(struct ee_team *t, unsigned id)
{
    uint32_t phase = ee_barrier_phase(t);
    enum ee_await met = ee_barrier_meet(t, id, phase, false);
    if (met == EE_LAST)
        ee_barrier_release(t);
    while (met == EE_INTERRUPTED)
        met = ee_barrier_await(t, id, phase);
}

/* --- tasks --- */

void ee_team_interrupt(struct ee_team *t) { hal_interrupt(team_of(t)); }
bool ee_team_nobody_to_ask(PS_UNUSED struct ee_team *t) { return false; }

void ee_team_assist(struct ee_team *t)
{
    struct team *team = team_of(t);
    ps_add_seq(&team->calls, 1); /* the parent in its join looks at it, and who waits in a barrier */
    for (unsigned id = 1; id < team->n; id++) {
        struct member *m = member_at(team, id);
        uint32_t done = 1;
        if (ps_load_seq(&m->done) == 0 || !ps_cas_acq_rel(&m->done, &done, 0))
            continue;
        ps_add_seq(&team->assistants, 1);
        hal_order_assist(m->core, m);
        return;
    }
}

/* --- waiting on a word --- */

void ee_wait(_Atomic uint32_t *word, uint32_t expected)
{
    for (unsigned pauses = 1; ps_load_acquire(word) == expected; pauses += pauses < 16)
        for (unsigned i = 0; i < pauses; i++)
            cpu_pause();
}
void ee_wake(PS_UNUSED _Atomic uint32_t *word, PS_UNUSED unsigned n) { ps_fence_seq(); }
void ee_yield(void) { cpu_pause(); }
void ee_offer(void) {}
bool ee_carrier_wanted(void) { return false; }
