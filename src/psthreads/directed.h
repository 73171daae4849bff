/* A signal that is sent to one thread, by its pthread_t. The kernel sends it to the thread's own kernel thread P
 * (promote.h). This module makes sure that the handler runs as the thread: with its storage, on its stack, and while
 * the thread does nothing else.
 *
 * What happens depends on where the thread is when a sender asks:
 *   on P            Nothing is to be done.
 *   saved           P visits the context (uth_visit): the context stays saved, and P stands below it on its stack, in a
 *                   futex. The handler runs there.
 *   nowhere         No region of its team is open, or its body has returned in this one: P is in its block, on its
 *                   native stack (ps_team_rests), or on the stack that the thread keeps (own_stack.h).
 *   runs elsewhere  The sender interrupts the kernel thread that runs it. The handler of that interrupt promotes the
 *                   thread, as if it had called what promotes; then it is on P. The handler refuses in the runtime's
 *                   code and in most of the C library's (os_interrupted_program). The sender tries again after a while.
 *   below another thread, which it has called on its stack
 *                   P stands in an area at the far end of that stack (src/uth/area.c), while the other one goes on. The
 *                   thread comes up on P from then on (below). Where P itself carries the other one, the sender
 *                   interrupts it, as above, and the other one moves to a kernel thread of its own.
 *   none of these   After ABSENCES such findings in a row, ABSENT_NS long, or after TRIES_LEAST of any, TRIES_NS long,
 *                   the signal is sent all the same: its handler runs on P's native stack, with P's own storage, as no
 *                   thread of the program's; as the member where P ran it last, and has not answered a sender since.
 * A sender that waits for such an answer is promoted first. Inside the runtime it is not interrupted, and two threads
 * that send each other their first signals would wait for each other. On P it can be sent to at once. Nor is a
 * thread interrupted that polls by sched_yield; it goes to P itself (ps_settle). A thread that sends to itself from a
 * handler is not promoted: the signal goes to the kernel thread that runs it, which is its own until the handler ends.
 *
 * A promoted thread to which signals are sent calls no others from then on (run.lone of P): it waits on P, as a kernel
 * thread would.
 *
 * vp.directed of P is one word with three fields:
 *   SENDERS  the number of senders that are counted in. A sender adds one (come) and takes it away again (leave).
 *   COME     how many senders have come, so that a word that was emptied and filled again is another word. A sender
 *            adds one; P's compare-and-swap to EMPTY clears it.
 *   STATE    P's answer. P alone writes it, by compare-and-swap (answer, stay). Senders read it.
 * A sender counts itself in, wakes P if the state is EMPTY, waits for another state, sends, and counts itself out.
 *
 * state    meaning                           set by P, in                             P is
 * EMPTY    P has not answered                stay, when no sender is counted in       anywhere
 * THERE    P stands below the saved context  directed_serve, when the visit succeeded below the thread, on its stack
 *          or in an area
 * THERE    there is no room on the stack,    directed_serve                           on its native stack,
 *          or no region open                                                          or on the one that is kept
 * THERE    a handler runs, which may wait    directed_handles, which found EMPTY or   on its native stack; until
 *          for the next signal               REFUSED                                  directed_handled
 * REFUSED  the context is not saved          directed_serve                           on its native stack
 * RUNS     P runs the thread                 directed_runs; until directed_ran        on the thread's stack
 *
 * P leaves THERE, REFUSED and RUNS only in stay, by a compare-and-swap of the whole word to EMPTY, when no sender is
 * counted in. If a sender has come since, P first makes a system call. The kernel delivers what was sent when that call
 * ends; so the handler runs before P leaves the stack. After REFUSED a sender waits for EMPTY before it asks again, so
 * that P looks anew for the thread. Before P lets a saved context go it leaves the block, for its own storage.
 *
 * No signal is lost:
 *   - A sender that finds EMPTY is answered. The sender changes the word first and then wakes P (ps_wake_alone). P
 *     stores alone.sleeps, then reads the word (directed_waits), and only then parks. P parks where alone.wake is 0,
 *     and clears alone.wake before it looks again. All of these are sequentially consistent, as for vp.pinned
 *     (promote.h). So P either sees the sender or finds alone.wake set.
 *   - A sender that finds THERE or RUNS holds P where it is: P cannot go to EMPTY while a sender is counted in. If the
 *     sender comes and goes between P's look at the word and P's compare-and-swap, COME differs and the swap fails.
 *   - A sender waits with a limit (PAUSE_NS at a time, until its deadline), so P may also be in a handler.
 *
 * Below a saved context P is in the block of a thread that any vp may take out of a queue and go on with. P and that vp
 * agree which of them is in the block:
 *   vp (vp_leave, vp_swap)   1. claims the context (uth.running)   2. waits until no kernel thread visits the context
 *                            3. enters the block
 *   P  (uth_visit)           1. sets uth.visited   2. fences for all kernel threads   3. reads uth.running
 *                            4. enters the block, which makes P's vp the current one there
 * Either P finds the claim in 3, and does not come in; or the vp waits in 2, and finds in 3 that it was not the last in
 * the block: it writes the current vp anew. A vp that entered first would enter as the last one, and go on with P's vp.
 *
 * Below another thread. uth_tls.below of the thread's block is the thread, from when it is about to call another one
 * until it comes up. The thread writes it, on the vp that runs the call. P and that vp agree which of them is in the
 * block:
 *   vp (vp_come_up)          1. clears `below`           2. reads the block's carrier; where that is the vp, enters
 *   P  (take_from_caller)    1. takes the carrier away   2. fences for all kernel threads   3. reads `below` again
 * If P still finds the thread in 3, the vp finds in 2 that it was not the last in the block. Then it does not enter:
 * the thread's context goes to P, which runs it when no sender is left. Else P does nothing, and the vp may find the
 * same: the context goes to P for nothing. The fence lets the vp do with a compiler barrier (uth_visit does the same).
 * A context may also come up from a kernel thread of the other thread's (ps_go_home_slow). Such a context goes to P at
 * once; or `below` is cleared, then P is looked for again (seq_cst), and P is made before it reads `below`.
 * After it has set `below`, and before it enters another block, the vp is in the same block as P may be. Meanwhile the
 * vp runs some instructions of the runtime's, which look at nothing in the block. tests/models/called_on.pml.
 * Limit: while a handler is there, what runs above has a sixteenth of the stack less, and is not told where it ends. An
 * area is given out only where nothing has touched its pages.
 *
 * `wish` asks the kernel thread that runs the thread to move over. There is one for the process.
 *   taken   Exchanged 0 -> 1 by the sender that asks, and stored 0 by it at the end. A sender that finds 1 tries later.
 *   block, root
 *           The block's thread, or a thread on the root's stack, is to move. Written by that sender before ASKED
 *           (release); read by the interrupt's handler after ASKED (acquire).
 *   carrier A free kernel thread, where the thread that is to move may have none. Put in by the sender, taken
 *           by exchange by the handler, or at the end by the sender: one of them has it.
 *   answer  ASKED by the sender; MOVES or LEFT_ALONE by the handler; ASKED -> LEFT_ALONE by the sender after ANSWER_NS,
 *           so that a late handler finds that no sender asks. A handler inside another one's answer does nothing
 *           (answer.h); the outer one then answers LEFT_ALONE once more, perhaps to another wish.
 * A wish that is not fulfilled loses nothing: the sender is not counted in meanwhile, has sent nothing, and asks again.
 *
 * tests/models/directed.pml checks this, with a carrier whose store of `running` is late.
 *
 * A handler may be left by a jump into a frame of the thread: leave.h.
 *
 * What a handler is told by the OpenMP core (ps_local). `current` of P's vp is NULL while P stands there: P runs
 * nothing. A handler is answered by run.stands_as instead, which has the `local` of the thread. P's kernel thread
 * writes it before P enters the block (come_in), and before a thread leaves P (vp_leave_alone). P takes it
 *   from a saved context     from the thread that has left it. This is uth.wait.thread, where that waits; else
 *                            uth.left_by, written by a thread that leaves without a wait. Both stay while P visits.
 *   below another thread     from uth_tls.below. That thread cannot go on without P.
 *   nowhere                  from the team's member that keeps the block, as one of `lookers`. A larger team that takes
 *                            the block over changes the block's team, waits for lookers, and then writes stands_as:
 *                            no region is open, and P does not write it meanwhile. A team that ends waits for P's end.
 * A root's vp in its loop answers for the root in the same way, by the root's context, which it alone can continue.
 * Where the vp goes from one thread to another, a handler is answered by stands_as as well: handler_self.h.
 * Limit: a handler may be in the middle of such a question while the larger team takes over. It reads the smaller
 * team's memory some instructions later.
 *
 * vp.signals_sent of P tells a thread that has left its stack in an interrupt, and has come back, what it has handled
 * meanwhile. A sender that is counted in and was answered sets its bit, then sends. The thread clears the word before
 * its context is saved (directed_leaves). When it is back it blocks all signals, then takes the word
 * (directed_is_back, os_interrupt_handled); all seq_cst. So no handler runs behind the taking. While it clears the word
 * no sender is counted in that was answered: P would stand below its context, or run it. So each bit of a signal that
 * is handled meanwhile is set behind the clearing, and no older bit stays. tests/models/signals_sent.pml checks this,
 * with all signals blocked in the last step.
 *
 * A root has no P: lone_root.h.
 *
 * Rejected: to send first and let the handler find the thread (the handler is the program's). To stop the thread's
 * kernel thread while its handler runs on P (that is another stack: a collector looks for the stack pointer in the
 * handler). */
#ifndef PS_DIRECTED_H
#define PS_DIRECTED_H

#include "atomic.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_leave_point;
struct psthread;
struct uth_tls;
struct vp;

/* A vp's that carries a thread alone, P. */
struct vp_directed {
    _Atomic uint32_t senders;      /* senders to its thread, and where a handler would run; see above */
    _Atomic uint64_t signals_sent; /* to alone_for, bits from 0: senders set, the thread takes; directed_leaves */
    struct ps_leave_point *point;  /* where its kernel thread goes on when a handler is left (leave.h); its own */
    uint64_t mask_of_waiter;       /* with is_unheard: the mask of what waits here, owner only */
    bool is_unheard;               /* the thread waits, and has blocked all signals until it has a point */
};
/* The whole is in vp.h. */
struct vp_directed *vp_directed(const struct vp *vp);
/* A slot begins anew: the point of its last user, which may have ended in a handler, is none of its own. */
static inline void directed_begins(struct vp_directed *d)
{
    d->point = NULL;
    d->is_unheard = false;
}

/* P, on its native stack: has a sender not been answered? Answer it, and stay until all senders have gone. */
bool directed_waits(struct vp *vp);
void directed_serve(struct vp *vp);
/* P is where the handler may run, if it can be there at once, and hears there. */
bool directed_hears(struct vp *vp);
/* P, on whatever stack: where P is roused (promote.h, ps_rouse) it comes to be where a handler may run, hears there,
 * and is roused no more; else its thread is asked to move there. `looks`: how often P has looked so far. Returns how
 * long P may sleep, in ns. */
int64_t directed_be_roused(struct vp *vp, unsigned looks);
/* The same where P wants its thread (handler_mask.h): the thread is asked to move there. Readies nothing. */
int64_t directed_want_thread(struct vp *vp, unsigned looks);
/* A handler of the program's begins on the kernel thread that carries vp. True: P has not answered, or refused; while
 * the handler runs it is where the next handler may run, and says so. directed_handled is called at its end then. */
bool directed_handles(struct vp *vp);
void directed_handled(struct vp *vp);
/* P, on its thread's stack: the thread runs here now; it is about to go. */
void directed_runs(struct vp *vp);
void directed_ran(struct vp *vp);

/* Lets send(its kernel thread's number, arg) be called so that a signal `number` that it sends there finds the thread,
 * whose block this is (directed.h). What send returned, or EAGAIN: no kernel thread is to be had. Any kernel thread;
 * blocks until the thread is where its handler may run, some ms at most. */
int ps_promoted_signal(struct uth_tls *block, int number, int (*send)(int tid, const void *arg), const void *arg);

/* The thread that runs leaves its kernel thread in the handler of an interrupt, and has come back. What it has handled
 * meanwhile ends the system call in which it was interrupted. (A sender sets the bit, then sends.) */
void directed_leaves(void *frame);
void directed_is_back(void *frame);

/* For lone_root.c, with the limits of a sender: tries for so long, and at least so often. */
#define DIRECTED_TRIES_NS UINT64_C(2000000000)
#define DIRECTED_TRIES_LEAST 1000u /* on a busy machine each takes long, and few meet the program's own code */
#define DIRECTED_PAUSE_NS INT64_C(100000)
/* Asks the thread on vp to move to a kernel thread of its own: block's thread, or (NULL) one on the stack of `root`'s
 * root. False: another sender asks a thread. */
bool directed_ask_to_move(struct uth_tls *block, const struct vp *root, struct vp *vp, bool needs_carrier);
/* A thread that vp's root has called runs on the root's kernel thread. */
bool directed_root_has_called(struct vp *vp);
/* Before a sender's pause. Other senders may wait for this one; so it waits on its own kernel thread. [switches] */
void directed_wait_as_oneself(unsigned tries);

#endif
