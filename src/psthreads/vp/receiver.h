/* Which kernel threads take signals, and when.
 *
 * A kernel thread of the library's is a thread of the program's only while its thread pointer is that of a thread's
 * block. Outside of blocks it may block all signals (VP_SIGNALS_BLOCKED) until it enters the next block
 * (vp_unblock_signals). Where threads are DEDICATED (dedicated.h), workers block signals whenever they are outside: two
 * system calls each time. Elsewhere they leave signals unblocked, and pay nothing. A new kernel thread blocks signals
 * from its first instruction, and so does one that has passed a signal on (identity/process_signal.h).
 *
 * VP_SIGNALS_BLOCKED and run.unblocked_mask are read and written only by the vp's kernel thread, also in a handler. The
 * handler may come between any two instructions while signals are unblocked, and never while they are blocked:
 *   vp_block_signals    blocks first, then looks whether the handler has come in between, and has noted the mask
 *   vp_unblock_signals  clears VP_SIGNALS_BLOCKED, then unblocks
 *   vp_unblocked_mask   reads the kernel's mask, then looks whether the handler has come, and has noted the mask. The
 *                       other way round, `all signals` would pass for that mask */
#ifndef PS_RECEIVER_H
#define PS_RECEIVER_H

#include "os.h"
#include "parts.h"
#include "run.h"

/* The number of DEDICATED threads, and of their kernel threads that spin (dedicated.h). */
extern _Atomic uint32_t ps_dedicated_threads, ps_dedicated_spins;

/* Blocks all signals for the kernel thread of the library that carries vp, where its threads have different masks. */
void vp_block_signals_slowly(struct vp *vp);
static inline bool vp_is_to_block_signals(const struct vp *vp)
{
    return PS_UNLIKELY(ps_load_relaxed(&ps_dedicated_threads) > 0) && !vp_is_roots(vp) && !vp_is(vp, VP_DEDICATED);
}
static inline void vp_block_signals(struct vp *vp)
{
    if (vp_is_to_block_signals(vp) && !vp_is(vp, VP_SIGNALS_BLOCKED))
        vp_block_signals_slowly(vp);
}
/* Lets vp's kernel thread, the caller, take signals again. */
static inline void vp_unblock_signals(struct vp *vp)
{
    if (!vp_is(vp, VP_SIGNALS_BLOCKED))
        return;
    vp_is_no_more(vp, VP_SIGNALS_BLOCKED);
    os_set_signal_mask(vp_run(vp)->unblocked_mask);
}
/* Unblocks signals after vp has entered block tls: a worker gets the mask of the member whose block it is. */
static inline void vp_unblock_signals_in(struct vp *vp, const struct uth_tls *tls)
{
    if (PS_UNLIKELY(tls->mask != vp_run(vp)->unblocked_mask) && ps_load_relaxed(&tls->team) && !vp_is_roots(vp) &&
        !vp_is(vp, VP_DEDICATED)) {
        vp_run(vp)->unblocked_mask = tls->mask;
        vp_becomes(vp, VP_SIGNALS_BLOCKED);
    }
    vp_unblock_signals(vp);
}
/* Returns the mask with which vp's kernel thread, the caller's, takes signals, now or once it has unblocked them. */
static inline uint64_t vp_unblocked_mask(const struct vp *vp)
{
    uint64_t mask = os_signal_mask();
    ps_fence_compiler();
    return vp_is(vp, VP_SIGNALS_BLOCKED) ? vp_run(vp)->unblocked_mask : mask;
}
/* Notes that vp is carried by a kernel thread that begins with all signals blocked, and would take signals with this
 * mask. */
static inline void vp_begin_blocked(struct vp *vp, uint64_t mask)
{
    vp_run(vp)->unblocked_mask = mask;
    vp_becomes(vp, VP_SIGNALS_BLOCKED);
}
/* Notes that the library's kernel thread that carried vp ends: it takes no signals any more. */
static inline void vp_end_blocked(struct vp *vp)
{
    os_set_signal_mask(OS_ALL_SIGNALS);
    vp_is_no_more(vp, VP_SIGNALS_BLOCKED);
}

/* Notes that vp's kernel thread has blocked all signals. mask: the one with which it takes signals. A worker ignores
 * it: its mask stays that of the last member it ran, or what it began with. */
static inline void vp_become_blocked(struct vp *vp, uint64_t mask)
{
    if (vp_is_roots(vp) || vp_is(vp, VP_DEDICATED))
        vp_run(vp)->unblocked_mask = mask;
    vp_becomes(vp, VP_SIGNALS_BLOCKED);
}
/* Notes that the running thread is on its own stack, perhaps on a dedicated kernel thread: handlers run here from now
 * on. */
static inline void thread_signal_arrives(struct vp *vp)
{
    if (PS_LIKELY(!vp_thread_signal(vp)->blocked))
        return;
    vp_thread_signal(vp)->blocked = false;
    os_set_signal_mask(vp_run(vp)->unblocked_mask);
}

#endif
