/* Teams by the hardware synchroniser: docked cores sleep; a fork is a multicast of words, a join and a barrier a
 * gather (synchroniser.h). */
#include "synchroniser.h"

void hal_init(void) {}
void hal_mapped(struct team *team) { synchroniser_get(team, team->root); }
void hal_unmapped(struct team *team) { synchroniser_give_back(team); }

void hal_release(struct team *team)
{
    uintptr_t what = (uintptr_t)team | (team->root ? ORDER_ROOT : 0);
    if (PS_LIKELY(team->again)) { /* and nobody else's masks are in its slots */
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

struct order hal_dock(void)
{
    struct order order = {.what = mc_hws_receive(SLOT_ORDER)};
    if (PS_LIKELY(order.what & ORDER_AGAIN)) {
        order.fn = (void (*)(void *))(uintptr_t)mc_hws_receive(SLOT_ORDER); // NOLINT(performance-no-int-to-ptr)
        order.data = (void *)(uintptr_t)mc_hws_receive(SLOT_ORDER);         // NOLINT(performance-no-int-to-ptr)
    } else if (!(order.what & ORDER_ASSIST))
        order.cores = mc_hws_receive(SLOT_CORES);
    return order;
}

void hal_order_assist(unsigned core, struct member *m)
{
    mc_hws_clusters(UINT64_C(1) << core / pool_cores);
    mc_hws_targets(1u << core % pool_cores);
    mc_hws_send(SLOT_ORDER, (uint32_t)(uintptr_t)m | ORDER_ASSIST);
}
