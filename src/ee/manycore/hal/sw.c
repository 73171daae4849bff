/* Teams by memory alone. Docked cores look at a word of their own in their cluster's memory.
 *
 * Fork of the root's team: the parent writes two words to the first of the team's cores in each other cluster, which
 * hands them on to the rest of its cluster; those of its own cluster, and all of a nested team's, the parent writes.
 * Join: of the root's team the members of another cluster count down a word of theirs, and the last one a word of the
 * parent's; all others count down that one. manycore-nested-2016 section 3.2 has the flags by cluster; there the parent
 * writes and reads one flag for each thread.
 * The barrier is counted in the team. */
#include "software.h"

struct dock {
    _Atomic uintptr_t what; /* 0: nothing. Its release orders what stands below it */
    uint32_t cores;         /* none: in a region that is as the last one, the root's team's here */
    void (*fn)(void *);
    void *data;
    _Atomic uintptr_t assist; /* the member; 0: nobody */
};
static BOARD_LOCAL struct dock docks[BOARD_CORES_MAX];
static BOARD_LOCAL _Atomic uint32_t left_here; /* of the root's team, in this cluster */

#define ORDER_HAND_ON ORDER_HAL /* in `what`: the core is the first of its cluster */

static struct dock *dock_of(unsigned core) { return board_global(&docks[core % pool_cores], core / pool_cores); }

void hal_init(void) {}
void hal_mapped(PS_UNUSED struct team *team) {}
void hal_unmapped(PS_UNUSED struct team *team) {}

static inline void give(struct dock *d, uintptr_t what, uint32_t cores)
{
    d->cores = cores;
    ps_store_release(&d->what, what);
}
static inline void give_again(struct dock *d, uintptr_t what, void (*fn)(void *), void *data)
{
    d->fn = fn;
    d->data = data;
    ps_store_release(&d->what, what);
}

static void release_again(struct team *team, uintptr_t what)
{
    unsigned here = board_cluster();
    void (*fn)(void *) = team->fn;
    void *data = team->data;
    what |= ORDER_AGAIN;
    for (unsigned s = 0; s < team->num_spans; s++)
        for (uint64_t clusters = team->spans[s].clusters & ~(UINT64_C(1) << here); clusters != 0;
             clusters &= clusters - 1) {
            struct dock *base = board_global(docks, (unsigned)__builtin_ctzll(clusters));
            uint32_t rest = team->spans[s].cores;
            if (team->root)
                give_again(base + __builtin_ctz(rest), what | ORDER_HAND_ON, fn, data);
            else
                for (; rest != 0; rest &= rest - 1)
                    give_again(base + __builtin_ctz(rest), what, fn, data);
        }
    for (uint32_t rest = team->cores[here]; rest != 0; rest &= rest - 1)
        give_again(docks + __builtin_ctz(rest), what, fn, data);
}

void hal_release(struct team *team)
{
    unsigned here = board_cluster();
    uintptr_t what = (uintptr_t)team | (team->root ? ORDER_ROOT : 0);
    uint32_t version = (uint32_t)team->version << 16;
    if (team->root) {
        uint32_t clusters = 0;
        for (unsigned c = 0; c < pool_clusters; c++)
            clusters += c != here && team->cores[c] != 0;
        ps_store_relaxed(&team->left, clusters + (uint32_t)__builtin_popcount(team->cores[here]));
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
            give(base + __builtin_ctz(cores), what | ORDER_HAND_ON, cores | version);
        else
            for (uint32_t rest = cores; rest != 0; rest &= rest - 1)
                give(base + __builtin_ctz(rest), what, cores | version);
    }
    for (uint32_t rest = team->cores[here]; rest != 0; rest &= rest - 1)
        give(docks + __builtin_ctz(rest), what, team->cores[here] | version);
}

/* The first core of its cluster gives the order to the others of the root's team. */
static inline void hand_on(const struct order *order)
{
    bool again = order->what & ORDER_AGAIN;
    uint32_t rest = again ? pool_root_cores : order->cores & 0xffff;
    ps_store_relaxed(&left_here, (uint32_t)__builtin_popcount(rest));
    for (rest &= rest - 1; rest != 0; rest &= rest - 1)
        if (again)
            give_again(docks + __builtin_ctz(rest), order->what, order->fn, order->data);
        else
            give(docks + __builtin_ctz(rest), order->what, order->cores);
}

struct order hal_dock(void)
{
    struct dock *own = &docks[board_core()];
    for (;;) {
        uintptr_t what = ps_load_acquire(&own->what), assist = ps_load_acquire(&own->assist);
        if (what != 0) {
            struct order order = {.what = what & ~(uintptr_t)ORDER_HAND_ON};
            if (what & ORDER_AGAIN) {
                order.fn = own->fn;
                order.data = own->data;
            } else {
                order.cores = own->cores;
            }
            ps_store_relaxed(&own->what, 0); /* the next order is the other side's answer to this core's arrival */
            if (what & ORDER_HAND_ON)
                hand_on(&order);
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
    if (pool_self.of_root_team && board_cluster_of(team) != board_cluster() && ps_sub_acq_rel(&left_here, 1) != 1)
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
