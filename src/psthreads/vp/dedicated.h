/* The dedicated kernel thread of a thread: it carries this thread and no other.
 *
 * What the kernel keeps for a thread (signal mask, alternate stack, name, priority, affinity, number, clock) belongs to
 * the kernel thread that carries a user-level thread just now. So a thread that sets such state gets a dedicated kernel
 * thread first. Its context moves there until the thread ends; a member of a team stays until the region ends. The
 * kernel thread stays with the thread's block (uth_tls.own), with the state that the member left. So the member finds
 * both in the next region. A call that only asks does not move the thread: the kernel thread is started, and the call
 * is made for its number.
 *
 *   NONE       own == NULL              No thread has asked.
 *   ASKED      own, dedicated == NULL   The number is the thread's. The kernel thread sleeps on its native stack.
 *   DEDICATED  own == dedicated         From its next beginning on, or its next such call, the thread runs there.
 * ASKED -> DEDICATED (ps_dedicate) where state is set or a clock is asked for, by the thread or by another one, and
 * where a signal comes to the kernel thread (thread_signal.h). It stays DEDICATED. A thread that enters a block reads
 * `dedicated` only.
 *
 * The dedicated kernel thread has a vp of its own, with run.dedicated_to. The vp takes nothing out of queues; its
 * thread waits on its own stack, in a futex. The vp spins before that only where its team has at most one member a vp,
 * and fewer threads are DEDICATED than there are vps. Other vps end their search then (ps_dedicated_spins), so spinning
 * kernel threads never outnumber processors.
 *
 * A thread is not dedicated in a signal handler, in a function of the program's that the runtime calls by name
 * (malloc), in a child between vfork and exec, or where the system refuses a kernel thread. Its call then applies to
 * the kernel thread that carries it. Cost: about 30 us for a thread's first call, later regions as own_stack.h says.
 * Proofs: tests/models/own_stack.md. */
#ifndef PS_DEDICATED_H
#define PS_DEDICATED_H

#include "atomic.h"
#include "compiler.h"
#include "parts.h"

struct psthread;
struct uth_tls;
struct vp;

/* Moves the running thread to its dedicated kernel thread; true: it is there. False: see above. For calls of the
 * program's that the runtime interposes. [switches] */
bool ps_dedicate_self(void);
/* The running thread asks for the bounds of its stack. A member becomes dedicated, and keeps that stack (own_stack.h).
 * Called as ps_dedicate_self. [switches] */
void ps_keep_stack(void);
/* Thread self begins on the context that runs: enters its block, and is dedicated again, as it was before.
 * [switches] */
void ps_dedicate_again(struct psthread *self, struct uth_tls *block);
/* Returns the vp that gets what vp, which is dedicated to a thread, leaves to others: the vp that the thread came from,
 * or vp 0. */
struct vp *ps_vp_for_others(const struct vp *vp);
/* The number of the dedicated kernel thread of block's thread; 0: refused. Any kernel thread may call; the thread does
 * not move. ps_dedicated_number makes the thread DEDICATED as well. */
int ps_number_of(struct uth_tls *block);
int ps_dedicated_number(struct uth_tls *block);
/* The number of the kernel thread to ask for the running thread, whose block this is; 0: ask the calling one.
 * [switches] */
int ps_number_to_ask(struct uth_tls *block);
/* The calling thread's number (gettid), which is its own. */
int ps_number_of_caller(void);
/* As ps_number_to_ask, where something is to be set for, or sent to, kernel thread `number`. [switches] */
int ps_number_to_set(int number);
/* Makes the block's thread DEDICATED. Returns the vp of its dedicated kernel thread; NULL: refused. Any kernel thread
 * may call. */
struct vp *ps_dedicate(struct uth_tls *block);

/* Moves the running thread's context to `to`, which is dedicated to the thread. [switches] */
void ps_move_dedicated(struct vp *vp, struct psthread *self, struct vp *to);

/* Called when the library starts, also in a forked child. */
void ps_dedicate_in_this_process(void);
/* Whether the caller is a process of its own in this memory, a child between vfork and exec, and none of the runtime's
 * threads. */
bool ps_in_vfork_child(void);

/* The running thread leaves its block, in which it may have been dedicated, and goes back to where its context came
 * from. There it goes on in the block `next` (NULL: the kernel thread's own storage). [switches] */
void ps_go_home_slow(struct uth_tls *next);
/* The block's thread has ended: its kernel thread ends by and by. */
void ps_retire_dedicated(struct uth_tls *block);
/* Called in a forked child, which has none: forgets them all. */
void ps_dedicated_after_fork_in_child(void);
/* Returns how many dedicated kernel threads have not ended yet. */
unsigned ps_dedicated_count(void);

/* For scheduler.c. ps_wait_dedicated: the thread to which vp is dedicated waits until it is readied. ps_wake_dedicated:
 * wakes vp, whose thread has been readied. */
void ps_wait_dedicated(struct vp *vp, const struct psthread *self);
void ps_wake_dedicated(struct vp *vp);
/* Pins t to vp, which is dedicated to a thread. */
void ps_pin_dedicated(struct vp *vp, struct psthread *t);
/* Waits until something is pinned to vp, the caller's, or vp is to end. */
void ps_await_pinned(struct vp *vp);

#endif
