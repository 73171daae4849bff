/* The dedicated kernel thread of a thread: it carries this thread and no other.
 *
 * Some state the kernel keeps for a kernel thread: signal mask, alternate stack, name, priority, affinity, number,
 * clock. A user-level thread that sets such state gets a dedicated kernel thread first. Its context moves there
 * until the thread ends; a member of a team stays there until the region ends. The kernel thread stays with the
 * thread's block (uth_tls.own), and keeps the state that the member left. So the member finds both in the next
 * region. A call that only reads such state does not move the thread: the dedicated kernel thread is started, and
 * the call is made for its number.
 *
 *   NONE       own == NULL              No thread has asked.
 *   ASKED      own, dedicated == NULL   The number is the thread's. The kernel thread sleeps on its native stack.
 *   DEDICATED  own == dedicated         From its next beginning on, or its next such call, the thread runs there.
 * ASKED -> DEDICATED (ps_dedicate): the thread or another one sets state, or asks for a clock; or a signal comes to
 * the kernel thread (thread_signal.h). A thread stays DEDICATED. A vp that enters a block reads `dedicated` only.
 *
 * The dedicated kernel thread has a vp of its own, with run.dedicated_to. This vp takes nothing out of queues. Its
 * thread waits on its own stack, in a futex. The vp spins before that only if its team has at most one member a vp,
 * and there are fewer DEDICATED threads than vps. While it spins, ps_dedicated_spins makes other vps end their
 * search, so that spinning kernel threads never outnumber processors.
 *
 * A thread is not dedicated in a signal handler, in a function of the program's that the runtime calls by name
 * (malloc), in a child between vfork and exec, or if the system refuses a kernel thread. Its call then applies to
 * the kernel thread that carries it. Cost: 30 us for a thread's first call; own_stack.h says what later regions
 * cost. Proofs: tests/models/own_stack.md. */
#ifndef PS_DEDICATED_H
#define PS_DEDICATED_H

#include "atomic.h"
#include "compiler.h"
#include "parts.h"

struct psthread;
struct uth_tls;
struct vp;

/* Moves the running thread to its dedicated kernel thread. True: it runs there now. False: it is not dedicated, for
 * a reason named above. Called by the functions that the runtime interposes. [switches] */
bool ps_dedicate_self(void);
/* Called when the running thread asks for the bounds of its stack. Makes a member DEDICATED; the member keeps this
 * stack (own_stack.h). The caller is the same as for ps_dedicate_self. [switches] */
void ps_keep_stack(void);
/* Thread self begins on the stack that runs. Enters its block, and moves self to its dedicated kernel thread again,
 * as in the last region. [switches] */
void ps_dedicate_again(struct psthread *self, struct uth_tls *block);
/* For vp, which is dedicated to a thread and runs nothing else: returns the vp in whose queue other threads are put
 * instead. That is the vp that the thread came from, or vp 0. */
struct vp *ps_vp_for_others(const struct vp *vp);
/* Returns the number of the dedicated kernel thread of block's thread; 0: the system refuses one. Any kernel thread
 * may call; the thread does not move. ps_dedicated_number makes the thread DEDICATED as well. */
int ps_number_of(struct uth_tls *block);
int ps_dedicated_number(struct uth_tls *block);
/* Returns the number of the kernel thread whose state the running thread is to read, whose block this is. 0: that of
 * the calling kernel thread. [switches] */
int ps_number_to_ask(struct uth_tls *block);
/* Returns the calling thread's number (gettid), which belongs to it alone. */
int ps_number_of_caller(void);
/* As ps_number_to_ask, for a call that sets something for kernel thread `number`, or sends it something. [switches] */
int ps_number_to_set(int number);
/* Makes the block's thread DEDICATED. Returns the vp of its dedicated kernel thread; NULL: the system refuses one.
 * Any kernel thread may call. */
struct vp *ps_dedicate(struct uth_tls *block);

/* Moves the context of the running thread `self` from vp to `to`, which is dedicated to the thread. [switches] */
void ps_move_dedicated(struct vp *vp, struct psthread *self, struct vp *to);

/* Called when the library starts, and in a forked child. */
void ps_dedicate_in_this_process(void);
/* Whether the caller is a child between vfork and exec: a process of its own in this memory, which is none of the
 * runtime's threads. */
bool ps_in_vfork_child(void);

/* The running thread, which may be dedicated, leaves its block and goes back to the vp from which its context came.
 * There it goes on in block `next` (NULL: the kernel thread's own storage). [switches] */
void ps_go_home_slow(struct uth_tls *next);
/* The block's thread has ended: tells its dedicated kernel thread to end. Does not wait for that. */
void ps_retire_dedicated(struct uth_tls *block);
/* Called in a forked child, which has no dedicated kernel threads: forgets all of them. */
void ps_dedicated_after_fork_in_child(void);
/* Returns how many dedicated kernel threads have not ended yet. */
unsigned ps_dedicated_count(void);

/* For scheduler.c. ps_wait_dedicated: the thread to which vp is dedicated waits until another thread readies it.
 * ps_wake_dedicated: wakes vp after its thread was readied. */
void ps_wait_dedicated(struct vp *vp, const struct psthread *self);
void ps_wake_dedicated(struct vp *vp);
/* Makes t ready on vp, which is dedicated to a thread, through its pinned slot, and wakes vp. */
void ps_pin_dedicated(struct vp *vp, struct psthread *t);
/* Waits until something is pinned to vp or vp is to end. Called by vp's own kernel thread. */
void ps_await_pinned(struct vp *vp);

#endif
