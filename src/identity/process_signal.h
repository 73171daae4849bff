/* As which thread a signal's handler runs, and on which kernel threads it does not run.
 *
 * A kernel thread of the library's is a thread of the program's only while its thread pointer is that of a thread's
 * block. (For a root's kernel thread, the root's own storage counts, too.) At all other times no thread runs on it: the
 * scheduler searches, or is about to enter a block, or has just left one. The library's function stands before each
 * handler of the program's (handlers.c) and calls ps_handler_begins (comes_here in process_signal.c has the cases). A
 * signal to the process that comes where no thread runs is passed on: the kernel thread blocks all signals until it is
 * in a block again (receiver.h). It sends the signal to the process once more, and the kernel chooses another kernel
 * thread.
 *
 * Invariants: No signal is lost. It stays pending for the process until a thread runs that does not block it. No signal
 * is passed on for ever, since each kernel thread that passes it on blocks it.
 *
 * A handler may interrupt the runtime anywhere. So a thread in a handler gets no dedicated kernel thread, and does not
 * yield. run.in_handler is the frame of the innermost handler, run.handler_on the uth on which it runs. Below that
 * frame ps_in_handler is true. If the stack pointer is above the frame, or only one of the two is on the alternate
 * stack, the program has left the handler by a jump, and the runtime forgets it. Limits for handlers: they must not
 * wait in the runtime, nor open a region, nor need a spin lock that the interrupted runtime holds. A handler must not
 * be left by a jump if its thread waits inside the runtime. A mask that a handler leaves (uc_sigmask) applies to the
 * kernel thread. A thread that has left a handler by a jump, and is deeper on its stack than that handler was, gets no
 * dedicated kernel thread. tests/models/process_signal.md has the other limits and the rejected designs;
 * process_signal.pml is the model. */
#ifndef PS_PROCESS_SIGNAL_H
#define PS_PROCESS_SIGNAL_H

#include "os.h"
#include "receiver.h"
#include "run.h"

/* A handler of the program's that runs now. The structure is in the frame of call_handler (handlers.c). */
struct ps_handler {
    struct vp *vp; /* the vp on which it has begun; NULL: the kernel thread carries no vp */
    void *outer;   /* outer, outer_on: run.in_handler and run.handler_on before this handler */
    struct uth *outer_on;
};
/* Called when signal `number` has come; info is its siginfo_t, frame its ucontext_t. True: the handler runs here, and
 * ps_handler_ends must be called when it returns. False: the handler must not run here. */
bool ps_handler_begins(struct ps_handler *handler, int number, void *info, void *frame);
void ps_handler_ends(const struct ps_handler *handler);

#endif
