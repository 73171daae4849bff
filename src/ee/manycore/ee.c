/* Entities on a fixed thread pool (manycore-nested-2016, section 3.1): each core has one thread, which is docked, that
 * is, waits for orders, from the start.
 *
 * Does: runs a team's members on the cores that the pool gives at a fork (mapping.c, or hal/paper.c), and returns these
 * cores at the join. Does not: make threads, or run two entities on one core. So a core waits by reading a word, and no
 * core has to be woken. How cores get orders and wait: hal.h.
 *
 * States of a core: idle -> taken (at a fork) -> runs its member's body -> done, still taken -> [assists] -> idle (at
 * the join). The forking core is member 0; it was taken before.
 *
 * Helpers. A member's word `end` decides which thread reports the member's end to the OpenMP core (member_end.h). The
 * word contains the region's number. Each member counts its team's regions itself, in its own cluster's memory: it can,
 * because it takes part in every region of its mapping. The parent reports member 0 when it waits in the join and has
 * learnt of tasks.
 *
 * Shared fields            written by                                     read by
 *   member.end             the member's core; the core that notifies      the same
 *   team up to `id_of`     the parent, while no region is open            members, after they got the order
 *   assistants, wanted, notified: members; see pool.h
 * Ordering: the memory is sequentially consistent, because a core has one access at a time. The atomics keep the
 * compiler from reordering. */
#include "hal.h"

#include <string.h>

#include "check.h"
#include "cpu.h"

struct team *volatile pool_open_root;
BOARD_LOCAL unsigned pool_clusters, pool_cores;
__thread struct self pool_self;
__thread void *pool_local;
__thread volatile uint32_t *ee_gate;
__thread uint32_t ee_gate_mask;
__thread bool ee_gate_arrived;

static struct ee_config config;

/* --- the current entity --- */

void ee_init(const struct ee_config *c) { config = *c; }
unsigned ee_num_vps(void) { return pool_clusters * pool_cores; }
bool ee_private_storage(void) { return true; }
void ee_after_fork_in_child(void) {}
int ee_thread_number(void) { return (int)(board_cluster() * pool_cores + board_core()); }

void ee_quiesce(void) {}

void *ee_local(void) { return pool_local; }
void ee_set_local(void *value)
{
    pool_local = value;
    /* A serialized region begins or ends, so the gate of the team is closed. */
    ee_gate = NULL;
}

/* --- places: only the cluster of a place's first core counts --- */

static uint8_t *place_cluster; /* [places] the cluster of each place */

bool ee_places(unsigned n, const unsigned *first, const unsigned *cpu)
{
    place_cluster = board_block(n);
    for (unsigned p = 0; place_cluster != NULL && p < n; p++)
        place_cluster[p] = (uint8_t)((cpu != NULL ? cpu[first[p]] : first[p]) / pool_cores);
    return n > 0 && place_cluster != NULL;
}

void ee_members_bind(struct ee_team *team, unsigned first, unsigned end, int place)
{
    memset(team_of(team)->cluster_of + first, place_cluster[place] + 1, end - first);
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
static BOARD_LOCAL_ZEROS _Alignas(PS_CACHE_LINE) char zeros[EE_ZEROS_BYTES];
static BOARD_LOCAL _Atomic uint32_t zeros_used;

void *ee_zeros_near(int near, size_t bytes)
{
    unsigned cluster = near < 0 ? board_cluster() : (unsigned)near;
    _Atomic uint32_t *used = board_global((void *)(uintptr_t)&zeros_used, cluster);
    uint32_t at = ps_add_relaxed(used, (uint32_t)bytes);
    if (PS_LIKELY(at + bytes <= sizeof zeros))
        return (char *)board_global(zeros, cluster) + at;
    ps_sub_relaxed(used, (uint32_t)bytes);
    return NULL;
}
void *ee_memory_beside(const void *p, size_t bytes)
{
    void *block = board_block_only(board_cluster_of(p), bytes);
    return block != NULL ? block : board_block(bytes);
}
bool ee_is_near(const void *p, int near)
{
    if (near == EE_NEAR_ANY)
        return true;
    unsigned cluster = near == EE_NEAR_HERE ? board_cluster() : (unsigned)near;
    return (uintptr_t)p - (uintptr_t)board_global_base(cluster) < BOARD_CLUSTER_BYTES;
}

/* --- members --- */

/* Called with m's identity. Runs tasks as m until m is a helper again. */
static void assist_until_free(struct team *team, struct member *m)
{
    member_end_assist(team->ops, (struct ee_member *)(void *)m);
}

void pool_assist_told(struct member *m)
{
    hal_sees_tasks(m->team); /* Takes the signal of tasks if it has come. */
    assist_until_free(m->team, m);
}

void pool_assist(struct team *team, bool *mine)
{
    if (!*mine && ps_load_acquire(&team->wanted) == 0)
        return;
    /* cleared before the call: when member 0 is a helper again, ee_team_help may set it anew */
    ps_store_relaxed(&team->wanted, 0);
    *mine = false;
    assist_until_free(team, member_at(team, 0));
}

/* Sets a word by a plain store. Called while no other core reads or writes the word. */
static inline void reset(_Atomic uint32_t *word, uint32_t value) { *(uint32_t *)word = value; }

static PS_NOINLINE void settle_in(struct member *m, struct team *team, unsigned id)
{
    m->team = team;
    team->ops->settle((struct ee_member *)(void *)m, (struct ee_team *)(void *)team, id);
}

/* Called by a core that was ordered to run a member, if the core does not know the team or its present mapping. Notes
 * in *known what the core needs of both. */
static PS_NOINLINE void look_at(struct known *known, struct team *team, uint32_t version)
{
    unsigned core = pool_core(), id = team->id_of[core];
    struct member *m = member_at(team, id);
    if (PS_UNLIKELY(m->team != team))
        settle_in(m, team, id);
    m->core = (uint16_t)core;
    m->region = team->region - 2;
    m->slots = team->slots;
    *known = (struct known){.team = team, .m = m, .version = (uint16_t)version, .slots = m->slots};
    known->cores = (uint16_t)team->cores[board_cluster()];
    pool_self.body = team->ops->body;
    pool_self.again = team->ops->again;
}

static inline void run(struct order order)
{
    struct self *self = &pool_self;
    struct team *team = (struct team *)(order.what & ~(uintptr_t)ORDER_BITS); // NOLINT(performance-no-int-to-ptr)
    bool again = order.what & ORDER_AGAIN;
    struct known *known = self->known;
    if (known == NULL || known->team != team)
        known = pool_other_known(self);
    if (PS_UNLIKELY(known->team != team || (!again && known->version != order.cores >> 16)))
        look_at(known, team, again ? team->version : order.cores >> 16);
    pool_know(self, known, order.what);
    if (PS_UNLIKELY(!again))
        hal_told(team);
    known->order = order.what | ORDER_AGAIN;
    struct member *m = known->m;
    pool_local = m;
    self->member = m;
    self->sees_tasks = false;
    ee_gate = known->gate;
    ee_gate_mask = known->gate_mask;
    m->phase = 0;
    m->barriers = 0;
    uint32_t region = m->region += 2;
    if (PS_LIKELY(again))
        self->again((struct ee_member *)(void *)m, order.fn, order.data);
    else
        self->body((struct ee_member *)(void *)m);
    pool_member_end(m, region);
    self->member = NULL;
    hal_arrive(m);
}

static void run_assist(struct member *m)
{
    struct team *team = m->team;
    pool_local = m;
    pool_self.member = m;
    pool_saw_tasks();
    assist_until_free(team, m);
    pool_self.member = NULL;
    ps_sub_acq_rel(&team->assistants, 1);
}

/* The loop of every core except the first; it never ends. The board's start calls it (board.h). */
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

/* Runs before main. Afterwards all cores except the caller's are idle. */
__attribute__((constructor(102))) static void pool_init(void)
{
    for (unsigned c = 0; c < board_clusters(); c++) {
        *(unsigned *)board_global(&pool_clusters, c) = board_clusters();
        *(unsigned *)board_global(&pool_cores, c) = board_cores();
    }
    pool_start();
    hal_init();
}

/* --- teams --- */

void ee_team_init(struct ee_team *t, const struct ee_team_ops *ops, void *members, size_t stride, unsigned n_max)
{
    struct team *team = team_of(t);
    /* A block that had a team before goes on counting, because its members know numbers of former regions (`end`). */
    uint32_t region = team->region | 1;
    PS_CHECK(stride == 0 && ops->near != NULL, "entities of the manycore want members that stand apart");
    *team = (struct team){.ops = ops, .members = members, .place = EE_NO_PLACE, .region = region};
    size_t spans = pool_clusters * sizeof *team->spans, cores = pool_clusters * sizeof *team->cores,
           ids = pool_clusters * pool_cores * sizeof *team->id_of, places = n_max * sizeof *team->cluster_of;
    char *block = board_block(spans + cores + ids + places);
    PS_CHECK(block != NULL, "no memory for a team's mapping to cores");
    team->spans = (struct span *)(void *)block;
    team->cores = (uint32_t *)(void *)(block + spans);
    team->id_of = (uint16_t *)(void *)(block + spans + cores);
    team->cluster_of = (uint8_t *)(block + spans + cores + ids);
    memset(block, 0, spans + cores + ids + places);
    *member_at(team, 0) = (struct member){.team = team};
}

struct team *pool_last_root;

void ee_team_fini(struct ee_team *t)
{
    hal_unmapped(team_of(t));
    if (pool_last_root == team_of(t))
        pool_last_root = NULL;
    board_block_free(team_of(t)->spans);
}

/* Not possible: a member belongs to its core. */
bool ee_team_succeed(struct ee_team *larger, struct ee_team *t, unsigned id)
{
    (void)larger, (void)t, (void)id;
    return false;
}

static inline void open_team(struct team *team, unsigned n)
{
    struct member *first = member_at(team, 0);
    team->parent_local = pool_local;
    team->parent = pool_self.member;
    reset(&team->left, n - 1);
    reset(&team->arrivals_left, n);
    reset(&team->notified, 0);
    reset(&team->wanted, 0);
    reset(&team->phase, 0);
    team->region += 2;
    first->phase = 0;
    first->barriers = 0;
    if (team->root) {
        pool_self.of_root_team = true;
        pool_open_root = team;
    }
    pool_phase("RELEASE");
    hal_release(team);
    pool_phase("BODY");
    pool_self.member = first;
    ee_gate = pool_self.sees_tasks ? NULL : team->gate;
    ee_gate_mask = team->gate_mask;
    pool_local = first;
}

static void become_last_root(struct team *team)
{
    pool_self.root_cores = (uint16_t)team->cores[board_cluster()];
    if (pool_last_root != NULL && pool_last_root != team)
        pool_last_root->opener = NULL;
    pool_last_root = team;
}

void ee_team_turn(struct ee_team *t)
{
    struct team *team = team_of(t);
    if (!team->root || pool_self.member != NULL || !hal_turn(team))
        return; /* pool_last_root is still the other team, so the next fork tells this team's cores its mapping again */
    become_last_root(team);
    team->opener = &pool_self;
}

void ee_team_fork(struct ee_team *t, unsigned n, PS_UNUSED bool outermost)
{
    struct team *team = team_of(t);
    struct member *first = member_at(team, 0);
    team->n = n;
    first->core = team->home;
    first->slots = team->slots;
    if (team->root)
        become_last_root(team);
    team->again = false;
    team->told = true;
    open_team(team, n);
}

void ee_team_again(struct ee_team *t, void (*fn)(void *), void *data)
{
    struct team *team = team_of(t);
    if (PS_UNLIKELY(!team->told || (team->root && pool_last_root != team))) {
        ee_team_fork(t, team->n, false);
        return;
    }
    team->fn = fn;
    team->data = data;
    team->again = true;
    open_team(team, team->n);
}

void ee_team_join(struct ee_team *t)
{
    struct team *team = team_of(t);
    pool_phase("GATHER");
    hal_gather(team);
    while (PS_UNLIKELY(ps_load_acquire(&team->assistants) != 0))
        cpu_pause();
    pool_local = team->parent_local;
    ee_gate = NULL;
    pool_self.member = team->parent;
    if (!team->root) {
        pool_phase("UPDATE");
        pool_give_back(team);
        pool_phase("CLOSE");
        return;
    }
    pool_phase("CLOSE");
    pool_self.sees_tasks = pool_self.of_root_team = false;
    pool_open_root = NULL;
}

void pool_end_with_tasks(struct team *team)
{
    pool_tidy(team);
    if (team->root)
        pool_close_again(&pool_self);
    else
        pool_give_back(team);
    team->ops->ended((struct ee_member *)(void *)team->first);
}

void pool_run_otherwise(struct team *team, void (*fn)(void *), void *data)
{
    team->ops->otherwise((struct ee_team *)(void *)team, fn, data);
}

void pool_tidy(struct team *team)
{
    while (ps_load_acquire(&team->assistants) != 0)
        cpu_pause();
    reset(&team->notified, 0);
    reset(&team->wanted, 0);
    reset(&team->phase, 0);
    reset(&team->arrivals_left, team->n);
    team->first->phase = 0;
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

/* --- tasks --- */

/* The fast path (ee_team_run_again) relies on the following. The parent counts the region before it sends the first
 * order, and a member counts it when the order has come, so both use the same number. When the region's first task is
 * made, the others can be in these states:
 *   a member whose order is under way, or that has prepared in its dock: it has not exchanged `end` in this region. At
 *      its end it will find TOLD in `end` (member_end.h).
 *   a member that has exchanged: the thread that makes the task reports the member's end to the OpenMP core, and may
 *      call the member as a helper. The request to assist comes behind the order in the same dock, or in the same queue
 *      of words; the member's core has read the order's words by then.
 *   a parent that waits, and does not know of tasks: member 0 is no helper, so no thread calls it. The parent looks at
 *      `notified` when all have arrived; the thread that wrote it did so before it arrived. Then the parent waits for
 *      the members that assist. Each of them was counted in `assistants` by a member that had not arrived, or by one
 *      that was counted there itself; so the count is not 0 too early.
 *   members in a barrier: they get the HAL's own signal before the member that made the task arrives
 *      (hal/synchroniser.h).
 * Only after these waits (pool_tidy) the OpenMP core and the entities forget helpers, and the next region begins. If a
 * core finds the signal only in the next region, `notified` is 0: the core takes the signal for one of an enclosing
 * team. */
void ee_team_notify(struct ee_team *t)
{
    struct team *team = team_of(t);
    hal_notify(team);
    for (unsigned id = 1; id < team->n; id++) {
        struct member *m = member_at(team, id);
        if (member_end_notify(&m->end, team->region))
            team->ops->rest((struct ee_member *)(void *)m);
    }
}

void ee_team_help(struct ee_team *t, unsigned id)
{
    struct team *team = team_of(t);
    if (id == 0) {
        ps_store_seq(&team->wanted, 1);
        return;
    }
    struct member *m = member_at(team, id);
    ps_add_seq(&team->assistants, 1);
    hal_order_assist(m->core, m);
}

/* Nothing to do: each entity has a stack of its own. */
void ee_team_call_first(struct ee_team *t) { (void)t; }

/* --- waiting on a word --- */

void ee_wait(_Atomic uint32_t *word, uint32_t expected)
{
    for (unsigned pauses = 1; ps_load_acquire(word) == expected; pauses += pauses < 16)
        for (unsigned i = 0; i < pauses; i++)
            cpu_pause();
}
void ee_wake(PS_UNUSED _Atomic uint32_t *word, PS_UNUSED unsigned n) { ps_fence_seq(); }
void ee_yield(void) { cpu_pause(); }
void ee_take_turn(void) {}
void ee_offer(void) {}
bool ee_carrier_wanted(void) { return false; }
