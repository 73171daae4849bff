/* The dedicated kernel thread of a thread: it carries this thread and no other.
 *
 * The kernel keeps some state for each kernel thread: signal mask, alternate stack, name, priority, affinity, number,
 * clock. A user-level thread that sets such state gets a dedicated kernel thread first, and runs there until it ends; a
 * member until its region ends. The kernel thread stays with the member's block (uth_tls.own), and keeps the state that
 * the member has set. So the member finds both in the next region. A thread that only reads such state stays where it
 * is. Its dedicated kernel thread is started, and the call reads the state of that kernel thread.
 *
 *   NONE       own == NULL              The thread has no dedicated kernel thread.
 *   ASKED      own, dedicated == NULL   The thread has this kernel thread's number, and runs elsewhere. The kernel
 *                                       thread sleeps on its native stack.
 *   DEDICATED  own == dedicated         The thread moves to this kernel thread when it sets state, or when it next
 *                                       begins. From then on it runs there.
 * ASKED -> DEDICATED (ps_dedicate): the thread or another one sets state, or asks for a clock; or a signal comes to the
 * kernel thread (thread_signal.h). A thread stays DEDICATED. A vp that enters a block reads `dedicated` only.
 *
 * The dedicated kernel thread has a vp of its own, with run.dedicated_to. This vp takes nothing out of queues. Its
 * thread waits on its own stack, in a futex. Before that the vp spins, if its team has no more members than there are
 * vps, and if fewer threads are DEDICATED than there are vps. While it spins, it is counted in ps_dedicated_spins: so
 * many other vps end their search, so that spinning kernel threads do not outnumber processors.
 *
 * A thread does not move in a signal handler, in a function of the program's that the runtime calls by name (malloc),
 * in a child between vfork and exec, or if the system refuses a kernel thread. Its call then applies to the kernel
 * thread that carries it. Cost: 30 us for a thread's first call; own_stack.h has the cost of later regions. Proofs:
 * tests/models/own_stack.md. */
#ifndef PS_DEDICATED_H
#define PS_DEDICATED_H

#include "atomic.h"
#include "compiler.h"
#include "parts.h"

struct psthread;
struct uth_tls;
struct vp;

/* Moves the running thread to its dedicated kernel thread. True: it runs there now. False: it could not move; the head
 * of this file has the usual reasons. May switch. */
bool ps_dedicate_self(void);
/* Called when the running thread asks for the bounds of its stack. Makes a member DEDICATED, so that it keeps this
 * stack, or the stack that it gets in its next region (own_stack.h). May switch. */
void ps_keep_stack(void);
/* Called when thread self begins to run on the present stack; `block` is its block, which the vp has not entered yet.
 * If the block is DEDICATED, moves self to the block's dedicated kernel thread. Otherwise the vp enters the block here.
 * May switch. */
void ps_dedicate_again(struct psthread *self, struct uth_tls *block);
/* For vp, which is dedicated to a thread and runs nothing else: returns the vp in whose queue other threads are put
 * instead. That is the vp from which the thread came, or vp 0, or vp 1 if vp 0 stands aside. */
struct vp *ps_vp_for_others(const struct vp *vp);
/* Returns the number of the dedicated kernel thread of block's thread, and starts this kernel thread if there is none.
 * 0: it cannot be started. Any kernel thread may call; the thread does not move. ps_dedicated_number makes the thread
 * DEDICATED as well. */
int ps_number_of(struct uth_tls *block);
int ps_dedicated_number(struct uth_tls *block);
/* Called by the running thread, which is about to read its kernel state; `block` is its block. Returns the number of
 * the kernel thread that it has to ask about; 0: the calling one. A DEDICATED thread is moved to its kernel thread
 * first. May switch. */
int ps_number_to_ask(struct uth_tls *block);
/* Returns the calling thread's number (gettid). No other thread has it, unless threads have no blocks or no kernel
 * thread could be started. */
int ps_number_of_caller(void);
/* Called before a call of the program's sets something for kernel thread `number`, or sends it something. If this is a
 * dedicated kernel thread, makes its thread DEDICATED. Returns the number for the call: `number`, or that of the
 * calling kernel thread if the running thread has `number` and cannot move there now. May switch. */
int ps_number_to_set(int number);
/* Makes the block's thread DEDICATED. Returns the vp of its dedicated kernel thread; NULL: this kernel thread cannot be
 * started. Any kernel thread may call. */
struct vp *ps_dedicate(struct uth_tls *block);

/* Moves the context of the running thread `self` from vp to `to`, which is dedicated to the thread. May switch. */
void ps_move_dedicated(struct vp *vp, struct psthread *self, struct vp *to);

/* Called when the library starts, and in a forked child: notes which process this is, for ps_in_vfork_child. */
void ps_dedicate_in_this_process(void);
/* Returns true if the caller is a child between vfork and exec: a process of its own in this memory, which is none of
 * the runtime's threads. */
bool ps_in_vfork_child(void);

/* Called when the running thread leaves its block. If it runs on its dedicated kernel thread, its context leaves this
 * kernel thread, and the code below it on the same stack goes on in block `next` (NULL: in the kernel thread's own
 * storage). If next's thread is dedicated, its vp goes on. Else the vp to which the context was bound before does, or
 * any vp. May switch. */
void ps_go_home_slow(struct uth_tls *next);
/* Called when the block's thread has ended. Tells its dedicated kernel thread to end, and waits until this kernel
 * thread has left its vp. */
void ps_retire_dedicated(struct uth_tls *block);
/* Called in a forked child, which has no dedicated kernel threads: forgets all of them. */
void ps_dedicated_after_fork_in_child(void);
/* Returns how many dedicated kernel threads have not ended yet. */
unsigned ps_dedicated_count(void);

/* ps_wait_dedicated: called by ps_block in the thread to which vp is dedicated; waits until another thread has readied
 * it. ps_wake_dedicated: wakes vp's kernel thread if it sleeps there, in ps_await_pinned, or as a home that stands
 * aside and has found no work. Any thread may call ps_wake_dedicated. */
void ps_wait_dedicated(struct vp *vp, const struct psthread *self);
void ps_wake_dedicated(struct vp *vp);
/* Makes t ready on vp, which is dedicated to a thread, through its pinned slot, and wakes vp. */
void ps_pin_dedicated(struct vp *vp, struct psthread *t);
/* Waits until something is pinned to vp or vp is to end. Called by vp's own kernel thread. Handles signals meanwhile
 * (thread_signal.h). */
void ps_await_pinned(struct vp *vp);

#endif
