/* Signals that come: as which thread a handler runs, and where it does not.
 *
 * A kernel thread of the library's is a thread of the program's only while its thread pointer is that of a thread's
 * block; a root's, also in the root's own storage. Else it is *nobody*: it searches, or is about to enter a block, or
 * has just left one. The library's function stands before each handler of the program's (calls/handlers.c) and asks
 * ps_handler_begins:
 *   faults      The handler runs where the fault is.
 *   in a block, or in a root's storage: it runs there, as that thread. The kernel has chosen.
 *   nobody, to the process
 *               Passed on: the kernel thread blocks all signals, by the mask that the handler's frame restores, and
 *               sends the signal to the process once more. The kernel chooses again, among the others.
 *   a member's own kernel thread P (promote.h), outside of its block: kept for the member (directed.h).
 *   a letter for the block that is here: the handler runs, as for a signal that was sent here (directed.h).
 *   sent to a root that is elsewhere: sent on to the root's own kernel thread, where it has one.
 *
 * Deaf: a kernel thread blocks all signals from somewhere outside of blocks until it enters the next one (vp_hear). So
 * does one that passes a signal on, and a new one from its first instruction. Where threads begin on kernel threads of
 * their own (DEDICATED, promote.h), workers are deaf whenever they are nobody: two system calls each time. Elsewhere
 * they hear, and pay nothing. No signal goes round in circles: each kernel thread passes one on at most once before it
 * is in a block again. No signal is lost: it is pending for the process until a thread that does not block it is in its
 * storage.
 *
 * VP_DEAF and run.deaf_mask are read and written by the vp's kernel thread alone, also in the handler. The handler
 * may come between any two instructions while the kernel thread hears, and never while it is deaf:
 *   vp_deafen  blocks first, then looks whether the handler has come in between, and has kept the mask already
 *   vp_hear    says that it hears, then unblocks
 *   vp_heard_mask  reads the kernel's mask, then looks whether the handler has come, and has kept the mask. Read the
 *              other way round, `all signals` would pass for the mask with which the kernel thread hears
 *
 * In a handler. The runtime may be anywhere below it. So a handler is not promoted (promote.h), and does not yield.
 * run.in_handler is a place in the frame of the innermost one, run.handler_on the stack that its vp was on.
 * ps_in_handler is true where the caller is on that stack, below that place; where it is above, the handler was left by
 * a jump, and is forgotten.
 * Limits: a handler must not wait in the runtime, nor open a region. A handler that interrupts the runtime while that
 * holds a spin lock must not need that lock. A handler whose thread waits inside the runtime must not be left by a
 * jump. A mask that a handler leaves (uc_sigmask) is the kernel thread's. A thread that has left a handler by a jump,
 * and is deeper on its stack than that was, is not promoted. Between two threads a handler may be told the number of
 * either (run.current). Not passed on is what the kernel refuses to queue. A queued real-time signal that is passed on
 * comes behind those that wait already.
 *
 * Rejected: workers that block signals whenever they search (two system calls in each region). A kernel thread that
 * takes the process's signals with sigtimedwait and hands them to members: it would take them from the program's own
 * sigwait and signalfd, and profilers' samples from the threads that compute. */
#ifndef PS_STRAY_H
#define PS_STRAY_H

#include "os.h"
#include "promote.h"
#include "run.h"

/* The library's kernel thread that carries vp hears nothing from here on, where masks differ. */
void vp_deafen_slowly(struct vp *vp);
static inline bool vp_is_to_be_deaf(const struct vp *vp)
{
    return PS_UNLIKELY(ps_load_relaxed(&ps_alone_threads) > 0) && !vp_is_roots(vp) && !vp_is(vp, VP_ALONE);
}
static inline void vp_deafen(struct vp *vp)
{
    if (vp_is_to_be_deaf(vp) && !vp_is(vp, VP_DEAF))
        vp_deafen_slowly(vp);
}
/* It hears. */
static inline void vp_hear(struct vp *vp)
{
    if (!vp_is(vp, VP_DEAF))
        return;
    vp_is_no_more(vp, VP_DEAF);
    os_set_signal_mask(vp_run(vp)->deaf_mask);
}
/* It has entered this block: a worker has the mask of the member whose block it is. */
static inline void vp_hear_in(struct vp *vp, const struct uth_tls *tls)
{
    if (PS_UNLIKELY(tls->mask != vp_run(vp)->deaf_mask) && ps_load_relaxed(&tls->team) && !vp_is_roots(vp) &&
        !vp_is(vp, VP_ALONE)) {
        vp_run(vp)->deaf_mask = tls->mask;
        vp_becomes(vp, VP_DEAF);
    }
    vp_hear(vp);
}
/* The mask with which vp's kernel thread, the caller's, hears: now, or when it is not deaf any more. */
static inline uint64_t vp_heard_mask(const struct vp *vp)
{
    uint64_t mask = os_signal_mask();
    ps_fence_compiler();
    return vp_is(vp, VP_DEAF) ? vp_run(vp)->deaf_mask : mask;
}
/* A kernel thread that begins with all signals blocked carries vp, and would hear with this mask. */
static inline void vp_begin_deaf(struct vp *vp, uint64_t mask)
{
    vp_run(vp)->deaf_mask = mask;
    vp_becomes(vp, VP_DEAF);
}
/* The library's kernel thread that carried vp ends: it hears nothing any more. */
static inline void vp_end_deaf(struct vp *vp)
{
    os_set_signal_mask(OS_ALL_SIGNALS);
    vp_is_no_more(vp, VP_DEAF);
}

/* A handler of the program's, in the frame of what stands before it. */
struct ps_handler {
    struct vp *vp; /* on which it has begun; NULL: the kernel thread carries none */
    void *outer;   /* run.in_handler and run.handler_on of before */
    struct uth *outer_on;
};
/* Signal `number` has come, with this siginfo_t and ucontext_t. False: its handler does not run here. Else
 * ps_handler_ends follows, where the handler returns. */
bool ps_handler_begins(struct ps_handler *handler, int number, void *info, void *frame);
void ps_handler_ends(const struct ps_handler *handler);

#endif
