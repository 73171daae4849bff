/* A signal that is sent to one thread, by its pthread_t. The kernel sends it to the thread's own kernel thread P
 * (promote.h); this sees to it that the handler runs as the thread: with its storage, on its stack, and while the
 * thread does nothing else.
 *
 * Where the thread is when a sender asks:
 *   on P           nothing to do
 *   saved          P visits it: the context stays saved (uth_visit), and P stands below it on its stack, in a futex,
 *                  where the handler runs
 *   runs elsewhere its kernel thread is interrupted, and the thread promoted there, as if it had called what promotes;
 *     then it is on P.
 *                  Refused in the runtime's code and most of the C library's (os_interrupted_program): tried again
 *                    after a while
 *   else           neither, ABSENCES times in a row (it is called below another thread on the same stack), or not
 *                  interrupted for TRIES_NS: the handler runs on P's native stack, and the thread goes on meanwhile
 *
 * vp.directed of P holds the number of senders, how many have come (so that a word that has been left and filled again
 * is another word), and P's answer. A sender counts itself in, wakes P where there is no answer yet, and waits for one.
 * Then it sends, and counts itself out.
 *   EMPTY    P has not answered
 *   THERE    P stands below the saved context
 *   REFUSED  the context is not saved
 *   RUNS     P runs the thread
 * P answers when it finds a sender, before it sleeps; RUNS stands there as long as it runs the thread. It goes back to
 * EMPTY by a compare-and-swap of the whole word, when no sender is left; where one has come, after a system call: what
 * was sent is handled at its end, before P leaves the stack. No wake-up is lost: see promote.h; a sender is as pinned
 * is there. After REFUSED a sender waits for EMPTY before it asks again, so that P finds out whether the thread has
 * come meanwhile.
 *
 * Rejected: to send first and let the handler find the thread (the handler is the program's); to stop a thread's kernel
 * thread while its handler runs on P (another stack: a collector looks for the stack pointer in the handler). */
#ifndef PS_DIRECTED_H
#define PS_DIRECTED_H

#include "vp.h"

/* P, on its native stack: has a sender not been answered? Answer it, and stay until all senders have gone. */
bool directed_waits(struct vp *vp);
void directed_serve(struct vp *vp);
/* P, on its thread's stack: the thread runs here now; it is about to go. */
void directed_runs(struct vp *vp);
void directed_ran(struct vp *vp);

#endif
