/* Blocks signals outside of blocks: see receiver.h. Also here: ps_in_handler (scheduler.h). */
#include "receiver.h"

#include "current.h"
#include "scheduler.h"

_Atomic uint32_t ps_dedicated_threads, ps_dedicated_spins;

PS_NOINLINE void vp_block_signals_slowly(struct vp *vp)
{
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    if (!vp_is(vp, VP_SIGNALS_BLOCKED))
        vp_become_blocked(vp, mask);
}

bool ps_in_handler(void)
{
    struct vp *vp = ps_vp();
    uintptr_t at = vp ? (uintptr_t)ps_load_relaxed(&vp_run(vp)->in_handler) : 0, here;
    if (PS_LIKELY(!at) || vp_run(vp)->handler_on != vp_run(vp)->uth)
        return false;
    here = (uintptr_t)__builtin_frame_address(0);
    if (here < at && os_on_alternate_stack(here) == os_on_alternate_stack(at))
        return true;
    ps_store_relaxed(&vp_run(vp)->in_handler, NULL);
    return false;
}
