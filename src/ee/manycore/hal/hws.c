/* Teams by the hardware synchroniser: docked cores sleep; a fork is a multicast of words; a join and a barrier are
 * gathers (synchroniser.h). */
#include "synchroniser.h"

void hal_init(void) {}
void hal_mapped(struct team *team) { synchroniser_get(team, team->root); }
void hal_unmapped(struct team *team) { synchroniser_give_back(team); }
bool hal_turn(struct team *team) { return synchroniser_has_masks(team, team->slots, team->version); }

void hal_release(struct team *team)
{
    uintptr_t what = (uintptr_t)team | (team->root ? ORDER_ROOT : 0);
    /* If `again` is set, the masks in the team's slots are still the team's, so synchroniser_ready is not needed. */
    if (PS_LIKELY(team->again)) {
        uint32_t again = (uint32_t)what | ORDER_AGAIN, fn = (uint32_t)(uintptr_t)team->fn,
                 data = (uint32_t)(uintptr_t)team->data;
        const struct span *span = team->spans;
        for (const struct span *end = span + team->num_spans; span != end; span++) {
            mc_hws_clusters(span->clusters);
            mc_hws_targets(span->cores);
            mc_hws_send(SLOT_ORDER, again);
            mc_hws_send(SLOT_ORDER, fn);
            mc_hws_send(SLOT_ORDER, data);
        }
        return;
    }
    synchroniser_ready(team);
    for (unsigned s = 0; s < team->num_spans; s++) {
        mc_hws_clusters(team->spans[s].clusters);
        mc_hws_targets(team->spans[s].cores);
        mc_hws_send(SLOT_ORDER, (uint32_t)what);
        mc_hws_send(SLOT_CORES, team->spans[s].cores | (uint32_t)team->version << 16);
    }
}

static inline void send_again(uint32_t cores, uint32_t what, uint32_t fn, uint32_t data)
{
    mc_hws_targets(cores);
    mc_hws_send(SLOT_ORDER, what);
    mc_hws_send(SLOT_ORDER, fn);
    mc_hws_send(SLOT_ORDER, data);
}

/* Called by the parent when member 0's share is done, and its core was told of tasks of this team or an enclosing one:
 * waits for the members, and ends the region. */
static PS_NOINLINE void end_with_tasks(struct team *team)
{
    hal_gather(team);
    pool_end_first(team, &pool_self);
    pool_end_with_tasks(team);
}

/* Runs member 0's share, and joins. Returns false if the core was told of tasks: then end_with_tasks has ended the
 * region. */
static PS_ALWAYS_INLINE bool run_share(struct team *team, void (*fn)(void *), void *data)
{
    pool_phase("BODY");
    team->run_again(pool_begin_first(team), fn, data);
    pool_phase("GATHER");
    struct self *self = POOL_OWN(pool_self);
    /* Both values are read before either is used. */
    uint32_t seen = self->sees_tasks, pending = mc_hws_pending();
    if (PS_UNLIKELY((seen | (pending & 1u << SLOT_TASKS)) != 0)) {
        end_with_tasks(team);
        return false;
    }
    volatile uint32_t *joined = team->joined;
    pool_end_first(team, self);
    (void)*joined;
    __asm__ volatile("" ::: "memory");
    return true;
}

/* The root's team and a nested team have a function each, so that neither function tests which of them it runs. */
static PS_NOINLINE void run_root_by_hws(struct team *team, void (*fn)(void *), void *data)
{
    uint32_t what = (uint32_t)(uintptr_t)team | ORDER_AGAIN | ORDER_ROOT, f = (uint32_t)(uintptr_t)fn,
             d = (uint32_t)(uintptr_t)data;
    const struct span *span = team->spans, *end = span + team->num_spans;
    pool_phase("RELEASE");
    pool_open_again(team, &pool_self);
    team->region += 2;
    do {
        mc_hws_clusters(span->clusters);
        send_again(span->cores, what, f, d);
    } while (++span != end);
    if (PS_UNLIKELY(!run_share(team, fn, data)))
        return;
    uint32_t notified = pool_load(&team->notified);
    struct self *self = POOL_OWN(pool_self); /* computed while the load of `notified` is under way */
    if (PS_UNLIKELY(notified != 0)) {
        pool_end_with_tasks(team);
        return;
    }
    pool_close_again(self);
    pool_phase("CLOSE");
}

static PS_NOINLINE void run_near_by_hws(struct team *team, void (*fn)(void *), void *data)
{
    uint32_t what = (uint32_t)(uintptr_t)team | ORDER_AGAIN, f = (uint32_t)(uintptr_t)fn, d = (uint32_t)(uintptr_t)data;
    uint32_t cores = team->near, region;
    pool_phase("FETCH");
    if (PS_UNLIKELY(!pool_claim_again(team, cores, &region))) {
        pool_run_otherwise(team, fn, data);
        return;
    }
    pool_phase("RELEASE");
    team->region = region + 2;
    mc_hws_clusters(0);
    send_again(cores, what, f, d);
    if (PS_UNLIKELY(!run_share(team, fn, data)))
        return;
    uint32_t notified = pool_load(&team->notified);
    _Atomic uint32_t *idle = team->idle;
    cores = team->near;
    if (PS_UNLIKELY(notified != 0)) {
        pool_end_with_tasks(team);
        return;
    }
    pool_phase("UPDATE");
    pool_or(idle, cores);
    pool_phase("CLOSE");
}

bool ee_team_lasts(struct ee_team *t)
{
    struct team *team = team_of(t);
    team->joined = &MC_HWS(0x0c0 + 4u * team->slots);
    team->go = team->root ? run_root_by_hws : run_near_by_hws;
    return team->slots != 0 && pool_lasts(team);
}

void ee_team_run_again(struct ee_team *t, void (*fn)(void *), void *data)
{
    struct team *team = team_of(t);
    void (*go)(struct team *, void (*)(void *), void *) = team->go;
    if (PS_UNLIKELY(!pool_may_run_again(team, &pool_self)))
        go = pool_run_otherwise;
    go(team, fn, data);
}

/* Returns the register to which the core stores to count its member in the join. The address is computed once for all
 * regions of a team; the asm keeps the compiler from computing it again. */
static inline volatile uint32_t *join_of(const struct known *known)
{
    volatile uint32_t *join = &MC_HWS(0x140 + 4u * known->slots);
    __asm__ volatile("" : "+r"(join));
    return join;
}

struct order hal_dock(void)
{
    struct self *self = &pool_self;
    struct known *known = self->known;
    struct order order;
    if (PS_UNLIKELY(known == NULL || known->slots == 0)) {
        order.what = mc_hws_receive(SLOT_ORDER);
        goto other;
    }
    volatile uint32_t *join = join_of(known);
    for (;;) {
        struct expected e = pool_expect(self, known);
        order.what = mc_hws_receive(SLOT_ORDER);
        /* If the expected order has come, no branch is taken: a taken branch costs two cycles more. */
        __asm__ goto("bne %0, %1, %l2" : : "r"(order.what), "r"(e.order) : : turn);
    run:;
        uint32_t fn = mc_hws_receive(SLOT_ORDER), data = mc_hws_receive(SLOT_ORDER);
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        pool_run_expected(&e, (void (*)(void *))(uintptr_t)fn, (void *)(uintptr_t)data);
        *join = 0; /* counts the member in the join; needs no fence, since memory is sequentially consistent */
        pool_ran_expected(&e);
        continue;
    turn: /* the order is for the core's other known team */
        known = pool_other_known(self);
        if (PS_UNLIKELY(known->order != order.what || known->slots == 0))
            break;
        pool_know(self, known, order.what);
        join = join_of(known);
        e = pool_expect(self, known);
        goto run;
    }
other:
    if (order.what & ORDER_AGAIN) {
        order.fn = (void (*)(void *))(uintptr_t)mc_hws_receive(SLOT_ORDER); // NOLINT(performance-no-int-to-ptr)
        order.data = (void *)(uintptr_t)mc_hws_receive(SLOT_ORDER);         // NOLINT(performance-no-int-to-ptr)
    } else if (!(order.what & ORDER_ASSIST)) {
        order.cores = mc_hws_receive(SLOT_CORES);
    }
    return order;
}

void hal_order_assist(unsigned core, struct member *m)
{
    mc_hws_clusters(UINT64_C(1) << core / pool_cores);
    mc_hws_targets(1u << core % pool_cores);
    mc_hws_send(SLOT_ORDER, (uint32_t)(uintptr_t)m | ORDER_ASSIST);
}
