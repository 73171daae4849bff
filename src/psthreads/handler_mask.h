/* A handler leaves a mask to the thread that it has interrupted: it changes the mask in its frame (uc_sigmask), or it
 * is left by a jump or an exception, and what it had blocked stays blocked.
 *
 * The kernel gives that mask to the kernel thread when the handler returns. It is meant for the thread that the handler
 * ran as. Where this thread has its kernel thread to itself, or is a root, that is right: what its regions pass on is
 * written down, and nothing else is done. Any other member is to have the mask on its own kernel thread P (promote.h),
 * which is started where there is none. The kernel thread that was interrupted keeps its mask.
 *
 *   posted   The handler's caller writes new_mask, counts masks_posted up, then wakes P (seq_cst all). P takes the mask
 *            before it serves a sender, before it sleeps, and when the context of the thread that comes is saved: until
 *            then a handler may run as the thread elsewhere. So whatever comes to P behind the handler's end meets the
 *            new mask: signals that are sent to the thread, and the thread itself. No post is lost: P parks where
 *            alone.wake is 0, as for `pinned`. P reads masks_posted, then new_mask, writes inner_mask, and
 *            then stores what it has read of masks_posted as masks_taken. tests/models/handler_mask.pml.
 *   moves    Where the interrupted code may be left (os_interrupted_program) the thread goes to P inside of
 *            call_handler, and returns from the handler there. No other handler comes meanwhile, which would find this
 *            one's caller interrupted. The kernel thread that is left blocks all signals until it leaves the block, and
 *            has its old mask then (stray.h). P blocks all until the frame's mask is restored.
 *   wanted   Where it may not be left (in the runtime, in the C library, on an alternate stack) the old mask is put
 *            back into the frame. P sees PS_LONE_WANTS and asks its thread to come (directed_want_thread), each ms and
 *            later each 50 ms, until the thread is there or its region has ended. Meanwhile P hears as always. While it
 *            asks it sleeps, to deadlock.c: it readies nothing, for what it asks runs already. All calls that set or
 *            tell what the kernel keeps bring the thread to P before; so none of them sees an old mask. The same where
 *            P itself has handled the signal, below the thread's saved context or between regions.
 *   arrives  P enters the thread's block before it is the current vp there. A handler that comes in between posts, and
 *            P takes that when the thread runs on P (directed_runs).
 *
 * A handler finds the mask of the thread that it runs as in its frame, not that of the kernel thread: what is posted,
 * what P has, or what P would begin with. If it changes nothing the kernel thread's comes back. A handler that has
 * interrupted another handler of the program's changes that one's mask, for as long as that one runs: the kernel does
 * that. The handler of the runtime's interrupts is none of the program's. It may leave its kernel thread, and lets
 * signals in before.
 *
 * A handler may run as no thread. Where that is on P, its mask is P's thread's, to which the signal was sent. A worker
 * has its old mask again.
 *
 * Left by a jump. ps_handler, in the thread's own storage, has what its outermost handler has found. The C library's
 * functions for jumps are answered (calls/jumps.c), and an exception comes through the handler's caller. A jump leaves
 * the handler if it goes to the other side of the handler's frame (way_of_jump). If it goes back into the handler
 * nothing is done: the handler's end restores a mask. Else the kernel thread's mask is now what the thread has natively
 * from here on. Where the two masks at the handler's begin differ, its own is that with what has changed since. The
 * member is to have this mask as above: it moves before it jumps, or the old mask is put back at once and it is wanted.
 * So no other thread meets that mask. A later jump that sets a mask (siglongjmp) while P has another one posts it, too.
 *   Where the handler has been left unseen (swapcontext, __builtin_longjmp) ps_handler stays. A jump above its frame
 *   clears it; so does the next handler, which has interrupted none. If a jump is taken for one out of it meanwhile,
 *   the mask is told from the kernel's all the same.
 *   A thread that waits has a point (leave.h), and is on P when it makes its jump.
 *   A root has its mask on its own kernel thread. That carries no other thread while a fault's signal is blocked there
 *   (lone_root.h).
 *
 * The thread's block is that of the thread pointer, which changes first in a switch; the vp may be that of before.
 * P may not have started when something is posted: a handler may have interrupted its start, and cannot wait for it.
 * Limits: until a wanted thread has come, a signal to the process may be handled as the member although that blocks it.
 * Where the system refuses P a kernel thread the mask is the carrying kernel thread's. What a handler has sent to its
 * own thread, and leaves blocked by a jump, stays pending for the kernel thread that is left. A jump out of a handler
 * may set a mask that sigsetjmp has kept elsewhere, and that is not the kernel thread's. It is set there, too, if the
 * member cannot be moved.
 * Cost: of a handler on a thread of a region, a call in the place of a jump, some loads and stores. Where the member is
 * not on P: a system call; and a look at the callers, if the handler has interrupted another one. Of a jump: two loads;
 * of one that sets a mask, a call; of one out of a handler, some system calls. */
#ifndef PS_HANDLER_MASK_H
#define PS_HANDLER_MASK_H

#include "compiler.h"
#include "os.h"

#include <stdbool.h>
#include <stdint.h>

struct vp;

/* Whether a handler may change the mask of a thread of the library's. */
bool ps_handler_may_leave_mask(void);
/* A handler begins: what is shown to it, in its frame, as the mask of what it has interrupted. */
uint64_t ps_handler_is_shown(void *frame);
/* The handler ends. It was shown `shown`, perhaps has changed the mask in the frame, which was `before`. [switches] */
void ps_handler_left_mask(void *frame, uint64_t before, uint64_t shown);

/* A thread's outermost handler. Written by its caller, and by jumps. */
struct ps_handler {
    void *frame;            /* NULL: none runs */
    const struct vp *vp;    /* it has begun here */
    uint64_t before, shown; /* masks at its begin: the kernel thread's, and the thread's own */
};
extern __thread struct ps_handler ps_handler __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline void ps_handler_ended(void *frame, uint64_t before, uint64_t shown)
{
    if (PS_LIKELY(os_frame_mask(frame) == before && shown == before)) {
        if (ps_handler.frame == frame)
            ps_handler.frame = NULL;
        return;
    }
    ps_handler_left_mask(frame, before, shown);
}
/* The thread is in no handler any more. */
void ps_handler_is_left(void);
/* The thread is about to jump to a frame at this address. brings: the mask that the jump sets, or NULL. [switches] */
void ps_handler_jumps(uintptr_t to, const void *brings);

#endif
