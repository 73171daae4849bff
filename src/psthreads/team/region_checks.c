/* The per-region work: what a root does now and then as it opens an outermost region (ps_per_region_work in
 * runtime.h). */
#include "dump_request.h"
#include "home.h"
#include "inherited.h"
#include "parts.h"
#include "quota_park.h"
#include "root_fairness.h"
#include "root_spread.h"
#include "run.h"
#include "runtime.h"
#include "team.h"
#include "tls.h"
#include "vp_tls.h"

static PS_NOINLINE void per_region_work(struct vp *vp, struct ps_team *team, uint64_t now)
{
    vp_run(vp)->per_region_at = now;
    vp_priority(vp)->opened = true;
    dump_request_look();
    quota_park_remind(now, team->n);
    ps_root_look(vp);
    if (PS_UNLIKELY(ps_load_relaxed(&ps_rt.table_size) > ps_rt.num_vps)) {
        ps_root_spread_look(vp, now);
        root_fairness_open(vp, team, now);
    }
    if (uth_tls_look_again() && !ps_tls_on())
        ps_store_relaxed(&ps_rt.tls, true);
    home_begin(vp);
    home_prepare(vp);
}

uint64_t ps_per_region_work(struct vp *vp, struct ps_team *team)
{
    uint64_t now = cpu_cycles();
    if (PS_UNLIKELY(now - vp_run(vp)->per_region_at >= ps_rt.per_region_cycles))
        per_region_work(vp, team, now);
    return now;
}
