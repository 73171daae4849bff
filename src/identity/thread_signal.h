/* Signals that are sent to one thread: by its pthread_t, or by the number of its kernel thread.
 *
 * Such a signal goes to the thread's dedicated kernel thread (dedicated.h), which is started if there is none. The
 * handler runs as the thread, in the thread's block. A sender waits only for that start. A root that has been sent
 * signals has a dedicated kernel thread for its storage, too (home.h).
 *
 * The dedicated kernel thread has the thread's signal mask also while it is not in the block. From the first signal on
 * the thread is DEDICATED. A signal that comes while the kernel thread is in the block is handled there. A signal that
 * comes elsewhere is deferred: the function before the handlers (process_signal.h) blocks all signals, sends the signal
 * to the same kernel thread again, so that it stays pending, and wakes it. Its loop (ps_await_pinned) then calls
 * thread_signal_look, at once and each LOOK_NS, until nothing is pending that the thread does not block. If the thread
 * runs on another kernel thread, that one must run the handler. The signal becomes a *letter*, and the other kernel
 * thread is *poked*: it gets a signal, in whose handler it takes the letter (write_letter).
 *
 * Invariants: A signal is pending on the dedicated kernel thread, or is its letter, or its handler has begun. None is
 * lost, and each is handled once: one compare-and-swap takes a letter. A poke carries only the number of the vp that
 * has the letter. At most one kernel thread is in a block, as tests/models/mail.md shows with the orderings. While the
 * dedicated kernel thread is in the block, it counts as the thread (ps_local): run.stands_as has the thread's `local`.
 *
 * Limits: If the kernel thread that runs the thread blocks a signal which the thread does not block, this signal waits
 * until the thread passes a scheduling point. If a thread's stack has no room for a handler, the handler runs on the
 * dedicated kernel thread's native stack, in the block. Models: tests/models/mail.md and mail.pml (letters),
 * thread_signal.pml (saved contexts), called_on.pml (calls). */
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

/* Called by vp's kernel thread, a dedicated one, in its loop: handles deferred signals if that is possible now. Returns
 * for how many ns it may sleep; 0: it has to call again at once. */
int64_t thread_signal_look(struct vp *vp);
/* Called by vp's kernel thread, a dedicated one, when its thread is about to run there. A letter that no handler has
 * taken becomes a pending signal of this kernel thread again, and is handled on it. */
void thread_signal_take_back(struct vp *vp);
/* Called in the handler of a poke with signal `number`: takes the letter for the current block, and copies its content
 * to *info. False: there is no letter. */
bool thread_signal_take(int number, void *info);

/* Called when a root may be sent signals: the root whose kernel thread has the thread pointer tp, or, if tp is NULL,
 * the number tid. If the root can be away from home, it gets a dedicated kernel thread. Returns the number of that
 * kernel thread if signal `number` must be sent there: the root is away, and does not block the signal. (If the signal
 * were sent to home, a poke of the same number might be pending there, and the kernel would drop one of them.)
 * Otherwise returns 0: the signal is sent as the program asked. With number 0 it only prepares. */
int ps_ready_root_for_signals(const void *tp, int tid, int number);
/* Called when vp's root makes a team outside of regions. If ps_ready_root_for_signals was last called with the number
 * of vp's kernel thread, the root gets its dedicated kernel thread now. */
void thread_signal_root_begins(const struct vp *vp);

#endif
