/* What a root looks at now and then as it opens an outermost region. */
#include "apart.h"
#include "dump_request.h"
#include "inherited.h"
#include "quota_park.h"
#include "root_spread.h"
#include "run.h"
#include "runtime.h"
#include "tls.h"
#include "vp_tls.h"
#include "watchdog.h"

static PS_NOINLINE void recheck_tls(struct vp *vp, uint64_t now)
{
    vp_run(vp)->rechecked_at = now;
    vp_apart(vp)->opened = true;
    dump_request_look();
    quota_park_remind(now);
    ps_root_look(vp);
    if (PS_UNLIKELY(ps_load_relaxed(&ps_rt.num_slots) > ps_rt.num_vps)) {
        ps_root_spread_look(vp, now);
        watchdog_arm(); /* root_fairness.h */
    }
    if (uth_tls_recheck() && !ps_tls_on())
        ps_store_relaxed(&ps_rt.tls, true);
}

uint64_t ps_recheck_tls(struct vp *vp)
{
    uint64_t now = cpu_cycles();
    if (PS_UNLIKELY(now - vp_run(vp)->rechecked_at >= ps_rt.recheck_cycles))
        recheck_tls(vp, now);
    return now;
}
