/* A signal that is sent to one thread: by its pthread_t, or by the number of its kernel thread. The kernel sends it to
 * the thread's own kernel thread P (dedicated.h), which is started where there is none. The handler runs as the thread
 * T, in its block B. A sender waits for nothing but P's start.
 *
 * P takes signals with T's mask, wherever it is. From the first one on T is DEDICATED (dedicated.h). What comes to P
 * while it is in B is handled there, as the kernel has it. What comes elsewhere is *kept*: the function before the
 * handlers (process_signal.h) makes P deaf, sends the signal to P itself again, so that it stays pending, and wakes P.
 * P's loop (ps_await_pinned) calls thread_signal_look then, at once and each LOOK_NS, until nothing is pending that T
 * does not block:
 *   T is saved           P visits the context (uth_visit), and hears below it, on T's stack (stand_below.h).
 *   T has called another thread on its stack
 *                        P hears in an area at the far end of that stack (src/uth/area.c). T comes up on P then.
 *   no region is open, or T's body has returned in this one
 *                        P is in B, on its native stack, until T begins. (On the stack that T keeps: own_stack.h.)
 *   T runs on another kernel thread X
 *                        P takes one signal (sigtimedwait), and keeps it as a *letter*. It pokes X by a signal of the
 *                        same number that says so. The function before X's handlers takes the letter of the block
 *                        that is current there, and lets the handler run. It drops a poke that finds no letter,
 *                        and one that comes while a switch is under way (run.left_uth).
 *   none of these        T is on its way. P looks again.
 * A root has such a P, too, for its storage R (home.h), where it has been sent signals. While its home may stand in R
 * itself, beside the saved root, P waits until home has gone to E.
 *
 * letter: 0, none; the signal's number; or TAKEN.
 *   0 -> number      P, release: `info` is written before
 *   number -> TAKEN  X, compare-and-swap, acquire; it copies `info`
 *   TAKEN -> 0       X, release; then it wakes P
 *   number -> 0      P, compare-and-swap, when it is in B: it sends the signal to itself again, and hears
 * No signal is lost, and each is handled once. It is pending on P, or is P's letter, or its handler has begun. P looks
 * until neither is left. One compare-and-swap takes the letter: X's, which is in B then, or P's, which is in B then. A
 * poke carries nothing, so one that comes late, twice, or to a kernel thread that runs another thread by now, does no
 * harm by itself. But the kernel merges signals of one number: a real one that comes to X while a poke is pending there
 * is gone with it, if the poke finds no letter. So X says that it has seen the poke (on_way) after it has taken the
 * letter, and P reads that before the letter. P pokes X again where X has seen the last poke and the letter is still
 * there, and another kernel thread at once. A poke that was not seen for 64 ms is sent again: the program may have
 * taken it (sigwait). It ends: T is saved, or runs somewhere, after a bounded time; the visit or the poke finds it.
 * While T runs on without a scheduling point on a kernel thread that blocks what T does not, the signal waits for the
 * next one. P wakes: the handler sets dedicated.wake before P's futex looks at it, or interrupts that. Limit: a poke
 * that X blocks, and that P no longer needs, stays pending there, and a real signal that comes to X is merged with it.
 *
 * Below a saved context P is in the block of a thread that any vp may take out of a queue and go on with. P and that vp
 * agree which of them is in the block:
 *   vp (vp_leave, vp_swap)   1. claims the context (uth.running)   2. waits until no kernel thread visits the context
 *                            3. enters the block
 *   P  (uth_visit)           1. sets uth.visited   2. fences for all kernel threads   3. reads uth.running
 *                            4. enters the block, which makes P's vp the current one there
 * Either P finds the claim in 3, and does not come in; or the vp waits in 2, and finds in 3 that it was not the last in
 * the block: it writes the current vp anew. P leaves the block before it lets the context go.
 *
 * Below another thread. uth_tls.below of the thread's block is the thread, from when it is about to call another one
 * until it comes up. The thread writes it, on the vp that runs the call.
 *   vp (vp_come_up)          1. clears `below`           2. reads the block's carrier; where that is the vp, enters
 *   P  (take_from_caller)    1. takes the carrier away   2. fences for all kernel threads   3. reads `below` again
 * If P still finds the thread in 3, the vp finds in 2 that it was not the last in the block. Then it does not enter:
 * the thread's context goes to P. Else P does nothing, and the vp may find the same: the context goes to P for nothing.
 * The fence lets the vp do with a compiler barrier (uth_visit does the same). A context may also come up from a kernel
 * thread of the other thread's (ps_go_home_slow): it goes to P at once; or `below` is cleared, then P is looked for
 * again (seq_cst), and P is made before it reads `below`. tests/models/called_on.pml.
 *
 * P answers as the thread (ps_local): run.stands_as has its `local` while P is in B and runs nothing. P takes it from
 * the thread that has left the context, from uth_tls.below, or from the team's member that keeps the block, as one of
 * `lookers`. A larger team that takes the block over waits for lookers, and then writes stands_as itself.
 *
 * Limits: where there is no room below a context, or in its stack's areas, the handler runs on P's native stack, in B.
 * Real-time signals of one number may change their order where a letter is taken back. tests/models/mail.pml; signals
 * that merge are not in it.
 * Rejected: to wait for an answer of P's, and then to send (two kernel threads that send to each other wait for each
 * other). To send what P has taken to X as it is: X may be deaf by then, or run another thread. */
#ifndef PS_THREAD_SIGNAL_H
#define PS_THREAD_SIGNAL_H

#include "atomic.h"
#include "os.h"
#include "parts.h"
#include "run.h"

#include <stdbool.h>
#include <stdint.h>

struct uth_tls;
struct vp;

/* P, in its loop: what is kept is handled where that can be. How long P may sleep, in ns; 0: it is to look again. */
int64_t thread_signal_look(struct vp *vp);
/* P's thread is about to run on P: a letter that nobody has taken is handled there. */
void thread_signal_take_back(struct vp *vp);
/* In a handler that was poked by signal `number`: *info becomes what the current block's letter has. False: none. */
bool thread_signal_take(int number, void *info);

/* The root whose kernel thread has this thread pointer, or (NULL) the number tid, may be sent signals: where it may be
 * away it has a kernel thread of its own from now on. Returns the number of that one where signal `number` (0: none) is
 * to be sent there, as the root is not at home. A real signal that is sent to home then might find a poke of the same
 * number pending, and the kernel would drop it. 0: it is sent as the program has it. */
int ps_ready_root_for_signals(const void *tp, int tid, int number);
/* Vp's root is about to open its first region: the same, if that was said of its number before. */
void thread_signal_root_begins(const struct vp *vp);

#endif
