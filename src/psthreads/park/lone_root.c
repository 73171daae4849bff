/* Lone roots: roots whose kernel threads run no other thread. See lone_root.h. */
#include "lone_root.h"

#include "current.h"
#include "dedicated.h"
#include "idle.h"
#include "run.h"
#include "runtime.h"
#include "sources.h"
#include "vp_tls.h"
#include "watchdog.h"

/* Returns true if there are other vps, or can be. They run what is in a lone root's queue. */
static bool others_can(void) { return ps_rt.num_vps > 1 || ps_rt.max_spares > 0; }

struct ps_work lone_root_await(struct vp *vp)
{
    ps_await_pinned(vp);
    struct psthread *t = ps_xchg_seq(vp_pinned(vp), NULL);
    return t == PS_PINNED_OFFLINE ? (struct ps_work){.what = t, .id = PS_WORK_OFFLINE} : ps_work_of(t);
}

unsigned lone_root_count(void)
{
    unsigned n = 0, vps = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < vps; id++) {
        struct vp *vp = ps_vp_at(id);
        n += vp_is(vp, VP_LONE) && ps_load_acquire(vp_attached(vp)) == PS_ATTACHED && vp_is_roots(vp);
    }
    return n;
}

void lone_root_call_stand_in(void)
{
    uint32_t spares = ps_load_relaxed(&ps_watchdog.spares);
    if (!idle_any() && spares < ps_rt.max_spares && spares < lone_root_count() &&
        vp_look_for_all(PS_IN_QUEUE | PS_IN_PLACES | PS_IN_GLOBAL)) {
        if (watchdog_starts_for(ps_vp()))
            watchdog_ask(WATCHDOG_SPARE);
        else
            vp_get_spare();
    }
}

static __thread bool counted; /* the program has asked what the kernel counts for this kernel thread */

bool lone_root_expected(void) { return counted && others_can(); }

/* Makes vp's root COUNTED. If the caller runs on vp, it is COUNTED at once; if the caller is on the root's own stack,
 * this stack is bound to vp again. If the caller runs elsewhere, the root becomes COUNTED when it next opens an
 * outermost region (VP_TO_BE_COUNTED). */
static void count_root(struct vp *vp)
{
    if (ps_vp() != vp) {
        vp_becomes(vp, VP_TO_BE_COUNTED);
        return;
    }
    vp_becomes(vp, VP_COUNTED);
    if (vp_run(vp)->uth == vp_run(vp)->own_uth)
        vp_run(vp)->uth->vp = vp; /* the root may have been released, and then resumed by its own home */
}

void ps_root_counted(const void *tp)
{
    unsigned vps = ps_load_acquire(&ps_rt.table_size);
    if (tp == cpu_get_tp())
        counted = true;
    for (unsigned id = 0; id < vps; id++) {
        struct vp *vp = ps_vp_at(id);
        if (ps_load_acquire(vp_attached(vp)) && vp_is_roots(vp) && ps_tls_on() && others_can() &&
            !vp_is(vp, VP_COUNTED) && vp_run(vp)->kernel_tp == tp)
            count_root(vp);
    }
}
