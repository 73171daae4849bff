/* Teams by memory alone. Docked cores look at a word of their own in their cluster's memory.
 *
 * Fork of the root's team: the parent writes two words to the first of the team's cores in each other cluster, which
 * hands them on to the rest of its cluster; those of its own cluster, and all of a nested team's, the parent writes.
 * Where the region is as the last one, each core gets one word. Function and data stand in the team, and those of the
 * root's team in each other cluster, too: the first core there copies them.
 * Join: of the root's team the members of another cluster count down a word of theirs, and the last one a word of the
 * parent's; all others count down that one. manycore-nested-2016 section 3.2 has the flags by cluster; there the parent
 * writes and reads one flag for each thread.
 * The barrier is counted in the team.
 *
 * Ordering: `what` is stored by release and loaded by acquire; what a core is told beside it was written before. The
 * counters of the join are acquire and release, so that the next order comes after all of the last region.
 * No instruction counts bits or finds the first one here (RV32IMA): the loops shift. */
#include "software.h"

struct dock {
    _Atomic uintptr_t what;   /* 0: nothing */
    uint32_t cores;           /* but with ORDER_AGAIN */
    _Atomic uintptr_t assist; /* the member; 0: nobody */
};
static BOARD_LOCAL struct dock docks[BOARD_CORES_MAX];
/* Of the root's team, in this cluster. */
static BOARD_LOCAL struct {
    void (*fn)(void *);
    void *data;
    _Atomic uint32_t left;
    uint32_t members; /* in another cluster than the root's */
} root_here;

#define ORDER_HAND_ON ORDER_HAL /* in `what`: the core is the first of its cluster */

static struct dock *dock_of(unsigned core) { return board_global(&docks[core % pool_cores], core / pool_cores); }

void hal_init(void) {}
void hal_mapped(PS_UNUSED struct team *team) {}
void hal_unmapped(PS_UNUSED struct team *team) {}

static inline struct dock *first_of(struct dock *d, uint32_t cores)
{
    for (; !(cores & 1); cores >>= 1)
        d++;
    return d;
}
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
            ps_store_relaxed(&d->what, what);
}

static inline void release_again(struct team *team, uintptr_t what)
{
    unsigned here = board_cluster();
    what |= ORDER_AGAIN;
    if (team->root) {
        root_here.fn = team->fn;
        root_here.data = team->data;
        for (unsigned c = 0; c < pool_clusters; c++) {
            if (c == here || team->cores[c] == 0)
                continue;
            ps_store_release(&first_of(board_global(docks, c), team->cores[c])->what, what | ORDER_HAND_ON);
        }
        give_all_again(docks, team->cores[here], what);
    } else if (PS_LIKELY(team->idle != NULL)) {
        give_all_again(docks, team->spans[0].cores, what);
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
            team->arrivals = (uint32_t)__builtin_popcount(team->cores[here]);
            for (unsigned c = 0; c < pool_clusters; c++)
                team->arrivals += c != here && team->cores[c] != 0;
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
            give(first_of(base, cores), what | ORDER_HAND_ON, cores | version);
        else
            give_all(base, cores, what, cores | version);
    }
    give_all(docks, team->cores[here], what, team->cores[here] | version);
}

/* The first core of its cluster gives the order to the others of the root's team. */
static inline void hand_on(const struct order *order)
{
    if (PS_LIKELY(order->what & ORDER_AGAIN)) {
        uint32_t cores = pool_root_cores;
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        const struct team *team = (struct team *)(order->what & ~(uintptr_t)ORDER_BITS);
        root_here.fn = team->fn;
        root_here.data = team->data;
        ps_store_relaxed(&root_here.left, root_here.members);
        give_all_again(docks, cores & (cores - 1), order->what);
    } else {
        uint32_t cores = order->cores & 0xffff;
        root_here.members = (uint32_t)__builtin_popcount(cores);
        ps_store_relaxed(&root_here.left, root_here.members);
        give_all(docks, cores & (cores - 1), order->what, order->cores);
    }
}

struct order hal_dock(void)
{
    struct dock *own = &docks[board_core()];
    for (;;) {
        uintptr_t what = ps_load_acquire(&own->what), assist = ps_load_acquire(&own->assist);
        if (what != 0) {
            struct order order = {.what = what & ~(uintptr_t)ORDER_HAND_ON, .cores = own->cores};
            /* Nobody gives another order before this core has arrived. */
            ps_store_relaxed(&own->what, 0);
            if (what & ORDER_HAND_ON)
                hand_on(&order);
            if (PS_LIKELY(what & ORDER_AGAIN)) {
                // NOLINTNEXTLINE(performance-no-int-to-ptr)
                const struct team *team = (struct team *)(what & ~(uintptr_t)ORDER_BITS);
                order.fn = what & ORDER_ROOT ? root_here.fn : team->fn;
                order.data = what & ORDER_ROOT ? root_here.data : team->data;
            }
            return order;
        }
        if (assist != 0) {
            ps_store_release(&own->assist, 0);
            return (struct order){.what = assist | ORDER_ASSIST};
        }
    }
}

void hal_order_assist(unsigned core, struct member *m)
{
    struct dock *d = dock_of(core);
    while (ps_load_acquire(&d->assist) != 0)
        cpu_pause();
    ps_store_release(&d->assist, (uintptr_t)m);
}

void hal_arrive(PS_UNUSED struct member *m)
{
    struct team *team = pool_self.known_team;
    if (pool_self.of_root_team && board_cluster_of(team) != board_cluster() && ps_sub_acq_rel(&root_here.left, 1) != 1)
        return;
    ps_sub_acq_rel(&team->left, 1);
}

bool hal_sees_tasks(struct team *team) { return ps_load_seq(&team->interrupted); }

void hal_gather(struct team *team)
{
    uint32_t seen = 0;
    while (ps_load_acquire(&team->left) != 0) {
        uint32_t calls = ps_load_seq(&team->calls);
        if (calls != seen)
            team->ops->assist((struct ee_member *)(void *)member_at(team, 0));
        seen = calls;
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
void hal_interrupt(struct team *team) { ps_store_seq(&team->interrupted, 1); }
