/* A handler is told the numbers of the thread in whose thread-local storage it runs.
 *
 * When a vp goes from one thread to another, run.current and the thread pointer change some instructions apart. So they
 * do where a thread calls members on its stack, and where a vp begins or ends members from its loop. A signal may come
 * between the two. Its handler runs in the storage that the thread pointer names, and asks by run.current for its
 * number (ps_local). So the function that stands before each handler of the program's (calls/handlers.c) looks whether
 * the two agree. If they do not, the vp answers for the thread of the storage while the handler runs: run.current is
 * NULL then, as in the vp's loop, and run.stands_as has that thread's `local` (directed.h). Nothing of the runtime's
 * takes the handler for a thread that might be switched away from meanwhile.
 *
 * Whether they agree: a member's block is known (ps_member.tls). A first member has none; it is in that of the thread
 * which has opened the region. A root has the kernel thread's own. Of another thread it is known only that its stack is
 * the vp's, or has this block where it is saved.
 *
 * Whose storage it is, where they do not agree:
 *   a switch                     vp_left_by of the stack that is left. A thread says there that it leaves before
 *                                run.current changes; run.uth changes behind the thread pointer.
 *   current, which was called    the nearest of its ancestors that is in this storage: the thread that is about to
 *                                call members, or has called them
 *   a member after another one   the member that keeps the block (uth_tls.team)
 *   the kernel thread's own      the root, if it has left its stack; else as for a called one. If neither is known
 *                                nothing is changed.
 * Where the program's own code was interrupted the vp is not on its way, and nothing is changed: a thread that a member
 * makes by psthread_spawn runs in the member's block.
 * All of it is this vp's, or the team's of the block that the vp is in; teams that hold the block wait for lookers.
 *
 * Limits: a block of a member that has been lent may name another vp (vp_in_own_block); then nothing is changed. A
 * handler that is left by a jump leaves the switch or the call half done, as it always did (leave.h), and run.current
 * NULL; run.stands_as is cleared by the next handler. One that forks there is no thread to the child. Where the C
 * library's sigaction is not answered (calls.h) handlers are told what run.current says.
 * Cost: of a handler, some loads. Of a switch, nothing: two stores stand elsewhere.
 *
 * A handler may wait in the runtime itself, for a lock or another word. Its thread may wait as well, or be about to: it
 * may have been published, and whatever readies it means that wait. So a handler does not wait as the thread, but as
 * its kernel thread, on the word itself (address_wait.c), and never leaves its stack. However handlers nest, each wait
 * has a word of its own, and the one that was interrupted looks at its word again. run.in_handler is set from a
 * handler's begin to its end, or to a jump that is seen (handler_mask.h). So a wait that finds it set asks the unwinder
 * whether a handler is below (ps_in_handler), and clears it where none is. Where a vp carries a thread alone, a handler
 * counts in ps_idle.parks at its end: it may have readied others (deadlock.c). While a handler runs on a kernel thread
 * whose thread is elsewhere, senders of signals find it there (directed.h).
 * Limits: a handler that opens a region, or comes to a barrier, waits as the thread. So does one that was installed by
 * the system call itself. A handler that interrupts the runtime while that holds a spin lock must not need that lock:
 * it may where it frees a lock at which others wait. While a handler waits its kernel thread runs nobody else. A root
 * that has that kernel thread waits for the handler's end, and so does a vp that goes on with its thread. A wake
 * for one of several may go to the thread below the handler. A wait 128 calls deep inside a handler is taken for one
 * outside.
 * Rejected: a descriptor for each handler that waits, readied as threads are. Its wait would need the bucket's spin
 * lock, which the interrupted code may hold; and a jump out of the handler would have to find and take it out. */
#ifndef PS_HANDLER_SELF_H
#define PS_HANDLER_SELF_H

#include <stdbool.h>

struct psthread;
struct vp;

/* What ps_handler_ends puts back. */
struct ps_handler_self {
    struct vp *vp; /* NULL: it is told what run.current says */
    struct psthread *current;
    void *told, *before;
    struct vp *on; /* the vp on which it began */
    bool within;   /* another handler */
    bool is_there; /* directed_handles */
};

/* A handler of the program's begins, with this frame, on a kernel thread that carries a vp. */
struct ps_handler_self ps_handler_begins(const void *frame);
void ps_handler_ends(const struct ps_handler_self *self);

#endif
