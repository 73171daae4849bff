/* Takes the watchdog's sample: see watchdog_sample.h. */
#include "watchdog_sample.h"

#include "bind.h"
#include "idle.h"
#include "run.h"
#include "runtime.h"
#include "sources.h"
#include "watchdog.h"

#include <limits.h>

static struct watchdog_seen seen[PS_MAX_VPS];
/* What the system allowed at the last look. in_mask 0: there was no look. */
static struct {
    uint64_t at_ns;
    unsigned in_mask, by_quota;
} limits;

void watchdog_sample_reset(void)
{
    limits.at_ns = os_now_ns();
    limits.in_mask = 0;
}

static unsigned count_ready(struct vp *vp, unsigned bound)
{
    unsigned ready = ps_load_relaxed(&vp_queue(vp)->count) + bound;
    /* threads in the global queue also wait for this vp: while it is stuck it takes none of them */
    if (ps_rt.has_global && ps_load_relaxed(vp_attached(vp)))
        ready += ps_load_relaxed(&ps_rt.global.count);
    return ready;
}

static void see(struct vp *vp, struct watchdog_seen *at)
{
    *at = (struct watchdog_seen){.vp = vp};
    if (!vp)
        return;
    at->ticks = ps_load_relaxed(&vp_run(vp)->ticks);
    at->bound = ps_places_on() ? ps_bind_pending(vp) : 0;
    at->ready = count_ready(vp, at->bound);
    at->tid = ps_load_relaxed(&vp_run(vp)->tid);
    uint32_t attached = ps_load_acquire(vp_attached(vp));
    at->attached = attached != 0;
    /* PS_ATTACHED is tested too, since a slot without it may get another owner at any time */
    at->roots = attached == PS_ATTACHED && vp_is_roots(vp);
    /* a worker's pinned slot has its request to go offline, not a root */
    at->root_ready = ps_load_seq(vp_pinned(vp)) && at->roots;
}

static void sample_limits(struct watchdog_sample *s)
{
    s->new_limits = s->num_vps > 1 && s->now_ns - limits.at_ns >= WATCHDOG_ALLOWED_NS;
    if (s->new_limits) {
        struct os_cpuset mask;
        unsigned quota = os_cpu_quota();
        limits.at_ns = s->now_ns;
        limits.in_mask = os_affinity_get(&mask) == 0 ? os_cpuset_count(&mask) : 1;
        limits.by_quota = quota ? quota : UINT_MAX;
    }
    s->in_mask = limits.in_mask;
    s->by_quota = limits.by_quota;
}

void watchdog_sample_take(struct watchdog_sample *s)
{
    *s = (struct watchdog_sample){
        .now_ns = os_now_ns(),
        .num_vps = ps_rt.num_vps,
        .vps = ps_load_acquire(&ps_rt.table_size),
        .spares = ps_load_relaxed(&ps_watchdog.spares),
        .most_spares = ps_rt.max_spares,
        .coming = ps_load_acquire(&ps_watchdog.coming),
        .idle = idle_any(),
        .seen = seen,
    };
    sample_limits(s);
    for (unsigned id = 0; id < s->vps; id++) {
        see(ps_vp_at(id), &seen[id]);
        s->pending += seen[id].ready;
        s->roots_ready += seen[id].root_ready;
    }
}

bool watchdog_root_ready(void)
{
    unsigned vps = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < vps; id++) {
        struct vp *vp = ps_vp_at(id);
        if (vp && ps_load_seq(vp_pinned(vp)) && vp_is_roots(vp))
            return true;
    }
    return false;
}

unsigned watchdog_members(struct watchdog_seen *at)
{
    if (!at->counted)
        at->members = vp_count_members(vp_queue(at->vp));
    at->counted = true;
    return at->members;
}

const struct os_usage *watchdog_usage(struct watchdog_seen *at)
{
    if (at->usage == WATCHDOG_NOT_READ)
        at->usage = os_thread_usage(at->tid, &at->usage_at) == 0 ? WATCHDOG_READ : WATCHDOG_UNREADABLE;
    return at->usage == WATCHDOG_READ ? &at->usage_at : NULL;
}
