/* Signals that come: as which thread a handler runs, and where it does not.
 *
 * A kernel thread of the library's is a thread of the program's only while its thread pointer is that of a thread's
 * block; a root's, also in the root's own storage. Else it is *nobody*: it searches, or is about to enter a block, or
 * has just left one. The library's function stands before each handler of the program's (handlers.c) and asks
 * ps_handler_begins:
 *   faults      The handler runs where the fault is.
 *   in a block, or in a root's storage: it runs there, as that thread. The kernel has chosen.
 *   nobody, to the process
 *               Passed on: the kernel thread blocks all signals, by the mask that the handler's frame restores, and
 *               sends the signal to the process once more. The kernel chooses again, among the others.
 *   a member's own kernel thread P (dedicated.h), outside of its block: kept for the member (thread_signal.h).
 *   a letter for the block that is here: the handler runs, as for a signal that was sent here (thread_signal.h).
 *   sent to a root that is elsewhere: sent on to the root's own kernel thread, where it has one.
 *
 * So a kernel thread that passes a signal on blocks all of them until it is in a block again (receiver.h), and wakes:
 * no signal goes round in circles. No signal is lost: it is pending for the process until a thread that does not block
 * it is in its storage.
 *
 * In a handler. The runtime may be anywhere below it. So a handler is not promoted (dedicated.h), and does not yield.
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
#ifndef PS_PROCESS_SIGNAL_H
#define PS_PROCESS_SIGNAL_H

#include "os.h"
#include "receiver.h"
#include "run.h"

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
