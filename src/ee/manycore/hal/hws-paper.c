/* The paper's hardware way (manycore-nested-2016, section 3.2.1), with its pool (paper.h). The synchroniser broadcasts
 * the descriptor's address as a word to the selected threads. The release is a signal, the join is a gather. The root's
 * team is released and joined through the hierarchy of synchronisers, every other team inside of its cluster
 * (synchroniser.h). Masks are set for each mapping. For a team of all threads paper-implicit.c keeps the mapping, and
 * so the masks. */
#include "paper.h"
#include "synchroniser.h"

void hal_init(void) {}

void hws_paper_tell(const struct team *team)
{
    for (unsigned s = 0; s < team->num_spans; s++) {
        mc_hws_clusters(team->spans[s].clusters);
        mc_hws_targets(team->spans[s].cores);
        mc_hws_send(SLOT_CORES, (uint32_t)(uintptr_t)team->descriptor);
    }
    synchroniser_ready(team);
}
void hal_mapped(struct team *team)
{
    synchroniser_get(team, pool_self.member == NULL);
    hws_paper_tell(team);
}
void hal_unmapped(struct team *team) { synchroniser_give_back(team); }
bool hal_turn(PS_UNUSED struct team *team) { return false; }

void hal_release(struct team *team)
{
    for (unsigned s = 0; s < team->num_spans; s++)
        mc_hws_multicast(team->spans[s].clusters, team->spans[s].cores, SLOT_ORDER);
}

struct order hal_dock(void)
{
    if (mc_hws_wait_any(1u << SLOT_ORDER | 1u << (16 + SLOT_ORDER)) & 1u << (16 + SLOT_ORDER))
        return (struct order){.what = mc_hws_receive(SLOT_ORDER)};
    mc_hws_wait(SLOT_ORDER);
    struct paper_descriptor *d = (struct paper_descriptor *)(uintptr_t)mc_hws_receive(SLOT_CORES);
    paper_descriptors[board_core()] = d;
    return paper_order(d);
}

void hal_order_assist(unsigned core, struct member *m)
{
    mc_hws_clusters(UINT64_C(1) << core / pool_cores);
    mc_hws_targets(1u << core % pool_cores);
    mc_hws_send(SLOT_ORDER, (uint32_t)(uintptr_t)m | ORDER_ASSIST);
}
