/* A thread that is about to block in the kernel gives its vp's processor away. See blocking.h. */
#include "blocking.h"

#include "current.h"
#include "dedicated.h"
#include "home.h"
#include "idle.h"
#include "os.h"
#include "runtime.h"
#include "scheduler.h"
#include "sources.h"

PS_NOINLINE struct vp *blocking_vp(void)
{
    struct vp *vp = ps_vp();
    if (!vp || ps_rt.max_spares == 0 || vp_is(vp, VP_LONE) || idle_any() || !vp_run(vp)->current || vp_run(vp)->held ||
        !(vp_work_waits() || ps_load_relaxed(vp_pinned(vp))) || ps_in_handler() || ps_in_vfork_child())
        return NULL;
    return vp;
}

PS_NOINLINE void blocking_begin(struct vp *vp)
{
    if (!vp)
        return;
    /* Signals are blocked, so that no handler of the program leaves this function by a jump. */
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    if (!vp_is(vp, VP_BLOCKED)) {
        vp_becomes(vp, VP_BLOCKED);
        ps_add_seq(&ps_watchdog.blocked, 1);
    }
    if (ps_load_seq(vp_pinned(vp)))
        home_release(vp);
    watchdog_want_spare_for_blocked();
    os_set_signal_mask(mask);
}

void blocking_end(struct vp *vp)
{
    if (!vp)
        return;
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    blocking_forget(vp);
    os_set_signal_mask(mask);
}
