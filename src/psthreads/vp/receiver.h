/* Which kernel threads take signals, and when.
 *
 * A kernel thread of the library's acts as a thread of the program only while its thread pointer is that of a thread's
 * block. Outside of blocks it may block all signals (VP_SIGNALS_BLOCKED) until it enters the next block
 * (vp_unblock_signals). If some threads are DEDICATED (dedicated.h), workers block signals whenever they are outside,
 * at two system calls each time. Otherwise they leave signals unblocked, which costs nothing. A new kernel thread
 * blocks signals from its first instruction on. So does a kernel thread in no block that has sent a signal to the
 * process again (identity/process_signal.h).
 *
 * Only the vp's kernel thread reads and writes VP_SIGNALS_BLOCKED and run.unblocked_mask, also in a handler. Before it
 * exists, the thread that starts it does. A handler may come between any two instructions while signals are unblocked,
 * and never while they are blocked. Each function allows for that by its order of steps:
 *   vp_block_signals    blocks first, then looks whether a handler has come before that and has noted the mask
 *   vp_unblock_signals  clears VP_SIGNALS_BLOCKED, then unblocks
 *   vp_unblocked_mask   reads the kernel's mask, then looks whether a handler has come and has noted the mask. In the
 *                       other order it might return `all signals` as the mask */
#ifndef PS_RECEIVER_H
#define PS_RECEIVER_H

#include "os.h"
#include "parts.h"
#include "run.h"

/* The number of DEDICATED threads, and the number of their kernel threads that spin (dedicated.h). */
extern _Atomic uint32_t ps_dedicated_threads, ps_dedicated_spins;

/* Blocks all signals on the calling kernel thread, which is the library's and carries vp. */
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
/* Unblocks signals on the calling kernel thread, which carries vp, if they are blocked. */
static inline void vp_unblock_signals(struct vp *vp)
{
    if (!vp_is(vp, VP_SIGNALS_BLOCKED))
        return;
    vp_is_no_more(vp, VP_SIGNALS_BLOCKED);
    os_set_signal_mask(vp_run(vp)->unblocked_mask);
}
/* Unblocks signals after vp has entered block tls. A worker gets the mask of the member that keeps this block. */
static inline void vp_unblock_signals_in(struct vp *vp, const struct uth_tls *tls)
{
    if (PS_UNLIKELY(tls->mask != vp_run(vp)->unblocked_mask) && ps_load_relaxed(&tls->team) && !vp_is_roots(vp) &&
        !vp_is(vp, VP_DEDICATED)) {
        vp_run(vp)->unblocked_mask = tls->mask;
        vp_becomes(vp, VP_SIGNALS_BLOCKED);
    }
    vp_unblock_signals(vp);
}
/* Returns the mask with which vp's kernel thread, the caller, takes signals now, or will once it has unblocked them. */
static inline uint64_t vp_unblocked_mask(const struct vp *vp)
{
    uint64_t mask = os_signal_mask();
    ps_fence_compiler();
    return vp_is(vp, VP_SIGNALS_BLOCKED) ? vp_run(vp)->unblocked_mask : mask;
}
/* Notes that the kernel thread which carries vp begins with all signals blocked. mask: the mask with which it is to
 * take signals later. */
static inline void vp_begin_blocked(struct vp *vp, uint64_t mask)
{
    vp_run(vp)->unblocked_mask = mask;
    vp_becomes(vp, VP_SIGNALS_BLOCKED);
}
/* The library's kernel thread that carried vp ends: blocks all signals for good. */
static inline void vp_end_blocked(struct vp *vp)
{
    os_set_signal_mask(OS_ALL_SIGNALS);
    vp_is_no_more(vp, VP_SIGNALS_BLOCKED);
}

/* Notes that vp's kernel thread has blocked all signals. mask: the mask that it had before. A worker's unblocked_mask
 * is not changed: it stays that of the last member that the worker ran, or the one with which the worker began. */
static inline void vp_become_blocked(struct vp *vp, uint64_t mask)
{
    if (vp_is_roots(vp) || vp_is(vp, VP_DEDICATED))
        vp_run(vp)->unblocked_mask = mask;
    vp_becomes(vp, VP_SIGNALS_BLOCKED);
}
/* The running thread has arrived on its own stack, perhaps on a dedicated kernel thread. Unblocks signals if they
 * were blocked for that move: handlers run on this stack from now on. */
static inline void thread_signal_arrives(struct vp *vp)
{
    if (PS_LIKELY(!vp_thread_signal(vp)->blocked))
        return;
    vp_thread_signal(vp)->blocked = false;
    os_set_signal_mask(vp_run(vp)->unblocked_mask);
}

#endif
