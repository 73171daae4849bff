/* A thread is made to give way to a root.
 *
 * User-level threads are not preempted, with one exception. A root (a thread on a kernel thread's own stack) can run on that kernel
 * thread alone. While it waits, its vp runs other threads there; one of them may spin, or block in the kernel, until the root
 * has done something - and then no number of further kernel threads helps. So when a root is ready and the monitor finds its vp
 * stuck, it interrupts that kernel thread; the handler runs on the stack of the thread that holds it, puts that thread into
 * the vp's queue as if it had yielded, and switches to the root. The thread goes on inside its handler, on whatever vp takes it, and
 * returns from there to what it did.
 *
 * When this is safe: only in code of the program's own, or in a system call in which the C library waits for the program
 * (os_interrupted_program). Then no spin lock of the runtime's is held, nothing is half switched, and no function of the C
 * library has an address of the kernel thread's storage in hand. Anywhere else the interrupt does nothing, and comes again at the monitor's next
 * tick. A signal that is late finds another state: everything is looked at anew in the handler.
 *
 * Limits: a root's kernel thread on which the program has blocked every signal cannot be interrupted. System calls that no restart
 * is defined for (poll, nanosleep, semtimedop) return EINTR as with any handled signal. Not under ThreadSanitizer, which
 * delivers signals when it likes.
 *
 * Rejected: roots that sleep while their vp is carried on by another kernel thread (two system calls for each wait of a root, which is
 * the first thread of every outermost team); running the root elsewhere (its kernel thread's storage, number and mask are
 * part of its identity). */
#include "race.h"
#include "vp.h"

static bool give_way(void *frame)
{
    struct vp *vp;
    struct psthread *self;
    struct uth *stack = ps_current_uth();
    if (!stack || !stack->stack || !os_interrupted_program(frame, stack->stack, stack->stack_bytes))
        return false;
    vp = ps_vp();
    self = vp->current;
    if (!self || self->uth != stack || stack->vp || self->flags & PS_T_NOSTACK)
        return false;
    if (!vp_give_way_to_root(vp, self))
        return false;
    ps_add_relaxed(&ps_progress.preempted, 1);
    return true;
}

void progress_preempt(struct vp *vp)
{
    if (!PS_TSAN && !ps_race_watched())
        os_interrupt(ps_load_relaxed(&vp->tid), give_way);
}
