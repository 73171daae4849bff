/* A root whose kernel thread carries nothing else, so that signals that are sent to it find it.
 *
 * A root has no kernel thread beside its own. That one carries other threads while the root waits, until one of these
 * happens:
 *   - a signal is sent to the root, by handle, number, timer or a file's owner;
 *   - a member's mask may leave a signal of the process to the root;
 *   - a signal of the process comes to it while the root is away (below);
 *   - the root asks for what the kernel counts for it (ps_root_counted).
 * From then on the kernel thread carries the root alone (run.lone): the root waits in a futex on its own stack, and
 * calls no members there. If another thread is on that kernel thread when the first signal is sent, this thread is
 * interrupted and goes back to a queue. A thread that the root has called on its stack moves to a kernel thread of its
 * own, with that stack. The loop then stands below the root's saved context, or in an area of its stack
 * (stand_below.h). A loop that searches sees run.lone before it parks (idle.h); one that is parked is woken. Where that
 * takes too long the handler runs as the root, on the loop's stack.
 *
 * A root may be about to leave when its first signal is sent. Root and sender agree on that. The root's mark is
 * uth.calls (it calls others; calls nest, so they are counted), uth.left_by (it yields) or uth.wait.thread (it waits):
 *   root    1. sets its mark   2. reads run.lone; if that is set, clears the mark and stays   3. leaves
 *           4. is back: its stack and its storage are its kernel thread's again   5. clears the mark
 *   sender  1. sets run.lone   2. fences for all kernel threads   3. reads the marks; sends only where none is set, or
 *           where the root sleeps on its stack
 * If the root reads run.lone before the fence, the sender sees the mark in 3. Else the root finds run.lone set in 2. So
 * the fence lets the root do with a compiler barrier. Without such a fence the sender interrupts the root once before
 * it looks; that has to do. tests/models/root_leaves.pml.
 *
 * Signals for the process. The kernel gives them to the process's first kernel thread where that does not block them.
 * Programs expect the handler to run as their first thread, and to be able to jump to its frames. So where the root of
 * that kernel thread is away (root_is_there) the signal is *kept*, with all that it brought. The kernel thread is to
 * carry the root alone.
 *   keep_signal In the handler that stands before the program's. Sets run.lone, wakes the loop if that is parked, and
 *               calls the watchdog. The system call of the thread that was interrupted goes on (os_signal_passed).
 *   serve       The watchdog, at each look until nothing is kept. It interrupts the kernel thread: there the thread
 *               that is not the root leaves, as above; or the root is there, and gets what is kept.
 *   send_kept   What is kept is sent to the kernel thread by its number: by that interrupt, or where the kernel thread
 *               comes to stand below the root (wait_there). From then on the root is never away. A root does the same
 *               where it has stopped the watchdog, and where it ends: nobody looks again.
 * `kept` is written on that kernel thread alone, all signals blocked; the watchdog reads `n` and `since_ns`. The latter
 * is relaxed, for nothing else is read by it. A signal that the kernel refuses to queue stays kept, and is sent at the
 * next look. No signal is lost. n is stored before the watchdog is called (seq_cst); that looks at n after it has taken
 * the call, at each tick until n is 0, and after it has disarmed. So send_kept stores n when it knows what is refused,
 * and not before: the watchdog might disarm in between. What is sent by send_kept, and finds the root away, is kept
 * again. A signal that comes again while it is kept comes once, as with the kernel; real-time signals are kept one by
 * one. After DIRECTED_TRIES_NS, with KEPT_MOST, or without a watchdog the handler runs as the thread that runs there.
 * tests/models/kept_signals.pml.
 * The runtime blocks all signals on the first kernel thread for short whiles, and the kernel chooses another one then.
 * That one sends the signal on to the first, if /proc says that this hears it now, or that it blocks all signals.
 * The signals of interval timers for processor time are for the thread that runs.
 * Limits: not in the child that a member has forked (own_by_fork, fork.c). A first thread that blocks all signals in a
 * handler gets what others send on to it when that handler returns.
 * Rejected: the root alone from the program's first handler on: each of its regions would be dearer. To block a kept
 * signal on the kernel thread, pending there: what saves and restores the mask meanwhile would block it for good.
 *
 * A root's kernel thread carries the root alone as well while its mask keeps the interrupt out
 * (os_interrupt_is_blocked). A thread there could not be made to give way to the root (preempt.c). So it does while the
 * root blocks a fault's signal: another thread's fault there would end the process. The root itself sets and clears
 * this state, when it changes its mask or opens a region. */
#ifndef PS_LONE_ROOT_H
#define PS_LONE_ROOT_H

#include "work.h"
#include <stdbool.h>
#include <stdint.h>

struct vp;

/* A signal is about to be sent to the root whose kernel thread has this thread pointer, or (NULL) the number tid. Its
 * kernel thread carries nothing else from now on, and the handler finds it there. Not for other threads. Blocks some
 * ms, 2 s at most. */
void ps_ready_root_for_signals(const void *tp, int tid);
/* The same for all roots, from their next wait on. */
void ps_all_roots_alone(void);
/* The same for the root whose kernel thread has this thread pointer, or (NULL) for the calling kernel thread, also if
 * it becomes a root later. The program asks for what the kernel counts for it (processor time, events). The caller is
 * not in a block. */
void ps_root_counted(const void *tp);

/* Whether signals were sent to kernel thread tid by its number, before it was a root's. */
bool lone_root_expected(int tid);
/* What a root's vp runs next that carries the root alone. The vp is on the stack of its loop, and waits on the root's
 * own stack, where that can be, until something is pinned to it. */
struct ps_work lone_root_await(struct vp *vp);
/* The caller is vp's root, outside of regions or as a region's first member, and has this mask. */
void lone_root_has_mask(struct vp *vp, uint64_t mask);
/* Roots with kernel threads that carry no other thread. */
unsigned lone_root_count(void);
/* Such a root is about to wait: a spare is started where something is ready and no vp would come for it before the
 * watchdog. */
void lone_root_call_stand_in(void);

/* In a handler: the signal was for the first thread, and is kept for that, or has been sent to it. */
bool ps_signal_is_kept(int number, const void *info);
/* For the watchdog: signals are kept; it sees to it that they reach the first thread. */
bool lone_root_keeps(void);
void lone_root_serve(void);
/* What is kept comes now, where vp's root is the first thread. The caller is on vp's kernel thread, and the root is
 * there: the watchdog is gone, or the root ends. */
void lone_root_send_kept(struct vp *vp);
/* A forked child has none. */
void lone_root_reset(void);

#endif
