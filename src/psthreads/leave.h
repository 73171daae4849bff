/* A handler leaves by a jump (siglongjmp, longjmp, setcontext) into a frame of the thread as which it runs, while that
 * thread waits.
 *
 * With kernel threads the wait is left with the handler's frames. Here the thread may stand in a queue, or among those
 * that wait for something; and its saved context would be continued later. So the C library's functions for jumps are
 * answered (calls/jumps.c), and ask ps_leaves_handler. A kernel thread on which such a handler may run has a *point*
 * meanwhile, where it goes on when the handler has been left. The jump is kept, and is made by the thread itself.
 *
 * A point is set
 *   by P, below the thread's saved context (directed.h), and so by a lone root's vp below the root's;
 *   by a thread that waits on a kernel thread of its own, on its own stack (ps_wait_alone).
 * Handlers' frames lie between the point and the frame of the function that jumps, since stacks grow downwards: a jump
 * to an address between the two leaves no handler. If the jumper is on an alternate stack and the point is not, that is
 * so inside of the alternate stack, and from `low` up to the point. A jumper above the point is no handler that came
 * after it. All signals are blocked while a kernel thread comes to a point and goes from it: a handler
 * finds the point, or does not run as the thread there. vp.directed.point is the kernel thread's own, and its
 * handlers'.
 *
 * What becomes of the wait is decided by its kind (uth.wait), when the handler has been left:
 *   none, or on the way to P  The thread is ready. Its jump is made when it gets a processor.
 *   PS_WAIT_WORD              The thread is taken out of the bucket (ps_wait_give_up). If it is not there any more, the
 *                             thread that wakes it has it: it is about to be readied, or is. Then it has used up a wake
 *                             that was meant for a thread that goes on, and wakes the next one, when the wake is over.
 *                             What else knows of the wait is put in order by the thread (uth_wait.left).
 *   PS_WAIT_TEAM_BARRIER      The thread has arrived. Its jump is made when the barrier lets it go.
 *   all others                The handler has returned, for the wait: no jump. Timers, descriptors and the objects of
 *                             psthread.h know of the thread; the thread that waits for a region has others on its data.
 * After a wake, the word is looked at anew by whichever thread gets it: so one wake too many does nothing.
 *
 * Below a saved context. P visits it (uth_visit): nobody continues the context. P makes it a context that begins with
 * leave_main, below all that is saved (redirect). Then it takes the thread out of the wait, readies it, leaves the
 * block, and ends the visit. From then on the thread is ready as any other. Whichever vp takes it enters its block,
 * ends the switch as for any context, and runs leave_main, which moves to P and jumps there. P has the signal mask that
 * the handler has left, as the kernel thread of a thread that jumps.
 *   The thread runs once: its context is continued by the vp that takes it out of a queue. It is put there by P or by
 *   the thread that wakes it: by the one that has taken it out of the bucket, under the bucket's lock.
 *   No wake is lost: P finds the thread in the bucket, and no wake was meant for it; or the waker has readied it, or
 *   will. The thread then runs leave_main, which wakes the next one (hand_on) before it jumps.
 *   Ordering: redirect happens before the visit's end (seq_cst), which the vp waits for that continues the context
 *   (acquire).
 * A second handler may come below the new context before the thread runs. If it jumps, its jump is made in the place of
 * the first one.
 *
 * On the own stack. The thread is on P, in ps_await_pinned. The guarded part only looks at `pinned`, and never takes
 * it: so no jump loses a wake that has been taken. Behind it, if the thread is not in the bucket, it waits until it has
 * been pinned, and takes that; then nothing else will come for it. A thread with a kernel thread of its own blocks all
 * signals before it publishes itself, until it has its point: no handler finds it between the two.
 *
 * tests/models/leave.pml checks both.
 *
 * Limits: a handler that interrupts the runtime elsewhere (it spins for a lock, is between a wake and its next look, or
 * searches for tasks) is left as on any thread, with what the runtime had begun. libgomp has such places as well. Not
 * seen: a handler that changes the interrupted registers (ucontext_t), swapcontext. An exception that leaves a handler
 * below a point ends the process by std::terminate (leave_point.c).
 * Elsewhere than on x86-64 jumps are not answered. A handler on a stack of the program's own (a coroutine's, one with
 * SS_AUTODISARM) that lies above its thread's is not seen to leave. sigsetjmp on a worker keeps that one's mask, not
 * the member's.
 * Cost: four system calls for a visit; two for a wait on a word on a thread's own kernel thread; a call in each jump.
 * Rejected: to take the thread out of whichever ready queue it stands in, and jump at once. A thread in a queue may be
 * on its way to another one (stealing, places). */
#ifndef PS_LEAVE_H
#define PS_LEAVE_H

#include "atomic.h"
#include "compiler.h"
#include "cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psthread;
struct uth;
struct vp;

/* A jump to be made later: make(this) does not return. `context` is a copy of what the C library's function gets. */
struct ps_jump {
    void (*make)(struct ps_jump *jump);
    int value;
    uint64_t mask;           /* the signals that the handler has left blocked */
    struct cpu_float floats; /* what the handler has left */
    _Alignas(16) unsigned char context[1024];
};

/* --- for the answers to the C library's functions --- */

/* A jump to a frame at this address leaves a handler of a thread that waits. The caller may be any code. */
bool ps_leaves_handler(uintptr_t to);
/* The same for setcontext, with its ucontext_t: jumps.c. */
void ps_leave_by_context(const void *ucontext);
/* Makes the jump when that can be. The caller has asked ps_leaves_handler. */
PS_NORETURN void ps_leave_handler(const struct ps_jump *jump);

/* --- for those that wait --- */

/* Of a stack that is not ours, what is surely there below a frame, for handlers. */
#define LEAVE_UNKNOWN_BYTES ((size_t)64 * 1024)

struct ps_leave_point {
    void *back[5];                /* __builtin_setjmp's */
    struct ps_leave_point *outer; /* of a wait that a handler has interrupted which opens a region */
    uintptr_t low;                /* of the stack, as far as it is known to belong to this point */
    struct ps_jump *jump;
    struct cpu_float floats; /* of the code that has the point */
};
/* Calls fn(arg), on the kernel thread that carries vp, with a point. True: a handler was left, and the jump is in
 * *jump; `fn` was interrupted anywhere; all signals are blocked. */
bool ps_leave_point(struct vp *vp, uintptr_t low, void (*fn)(void *arg), void *arg, struct ps_jump *jump);

/* The two ends (ps_above). The kernel thread that carries vp visits `saved`, below which a handler was left; NULL:
 * below a thread that has called another one. The thread is to make the jump. *mask: what the kernel thread will have
 * as mask; it changes if no jump is made. */
void ps_leave_saved(struct vp *vp, struct uth *saved, const struct ps_jump *jump, uint64_t *mask);
/* The running thread, which waits on its own kernel thread, with all signals blocked, makes the jump, and does not
 * return. True: when it has been readied (`woken`), then this is called anew. False: it makes none, and is to go on
 * waiting. jump->mask is the mask meanwhile. */
bool ps_leave_wait(struct vp *vp, struct psthread *self, struct ps_jump *jump, bool woken);

#endif
