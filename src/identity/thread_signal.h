/* Signals that are sent to one thread: by its pthread_t, or by the number of its kernel thread.
 *
 * Such a signal goes to the thread's dedicated kernel thread (dedicated.h), which is started where there is none. The
 * handler runs as the thread, in the thread's block. A sender waits for nothing but that start. A root that has been
 * sent signals has a dedicated kernel thread for its storage, too (home.h).
 *
 * The dedicated kernel thread takes signals with the thread's mask, wherever it is. From the first signal on the thread
 * is DEDICATED. A signal that comes while the kernel thread is in the block is handled there. A signal that comes
 * elsewhere is deferred: the function before the handlers (process_signal.h) blocks all signals, sends the signal to
 * the same kernel thread again, so that it stays pending, and wakes it. Its loop (ps_await_pinned) then calls
 * thread_signal_look, at once and each LOOK_NS, until nothing is pending that the thread does not block. Where the
 * thread runs on another kernel thread, the signal becomes a letter, and that kernel thread is poked: its handler takes
 * the letter (write_letter).
 *
 * Invariants: A signal is pending on the dedicated kernel thread, or is its letter, or its handler has begun. None is
 * lost, and each is handled once: one compare-and-swap takes a letter. A poke carries nothing. At most one kernel
 * thread is in a block, as tests/models/mail.md shows with the orderings. The dedicated kernel thread answers as the
 * thread (ps_local) while it is in the block: run.stands_as has the thread's `local`.
 *
 * Limits: while the thread runs without a scheduling point on a kernel thread that blocks a signal which the thread
 * does not block, this signal waits. Without room below a context, or in its stack's areas, the handler runs on the
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

/* The dedicated kernel thread, in its loop: handles what is deferred where that can be. Returns for how many ns it may
 * sleep; 0: it has to look again. */
int64_t thread_signal_look(struct vp *vp);
/* Called when the thread is about to run on its dedicated kernel thread: a letter that no handler has taken is handled
 * there. */
void thread_signal_take_back(struct vp *vp);
/* Called in a handler that was poked by signal `number`: takes the current block's letter and sets *info to its
 * content. False: there is no letter. */
bool thread_signal_take(int number, void *info);

/* A root may be sent signals: the one whose kernel thread has the thread pointer tp, or, where tp is NULL, the number
 * tid. If it can be away from home it gets a dedicated kernel thread. Returns that one's number if signal `number` has
 * to be sent there: the root is away, and does not block the signal. (Sent to home, the signal might find a poke of the
 * same number pending, and the kernel would drop it.) Else 0: the signal is sent as the program asked. number 0: only
 * prepares. */
int ps_ready_root_for_signals(const void *tp, int tid, int number);
/* vp's root is about to open its first region: it gets that kernel thread now, if its number was the last one that
 * ps_ready_root_for_signals was given. */
void thread_signal_root_begins(const struct vp *vp);

#endif
