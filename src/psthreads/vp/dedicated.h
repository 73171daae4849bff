/* Promotion: a thread gets a kernel thread of its own.
 *
 * What the kernel keeps for a thread - signal mask, alternate stack, name, priority, affinity, number, clock - belongs
 * to the kernel thread that carries a user-level thread just now. So a thread that sets such state is promoted first.
 * Its context moves to a kernel thread that carries nothing else until the thread ends. A member of a team stays there
 * until the region ends. The kernel thread P stays with the thread's block (uth_tls.own). A member finds it again in
 * the next region, with the state that the member left there, as with a kernel thread of a pool.
 *
 * A question does not move the thread. P is started, and is asked by its number: it has what the thread would begin
 * with there. The thread stays where it runs, in this region and in later ones, as if it had no P:
 *   NONE       own == NULL           No thread has asked.
 *   ASKED      own == P, !alone      The number is the thread's. P sleeps on its native stack.
 *   DEDICATED  own == alone == P     From its next beginning on, or its next such call, the thread runs on P.
 * ASKED -> DEDICATED (dedicate) where the thread itself, or another one by its handle or its number, sets something or
 * asks for its clock; and where a signal comes to P, before P looks where the thread is. It stays DEDICATED: P has that
 * state. A thread that enters a block reads `alone` only. What is said of `alone` in thread_signal.h and vp_tls.h
 * holds, since P has set `alone`, and cleared cached, before it looks into the block.
 *
 * The kernel thread P has a vp of its own, `dedicated_to` the thread. P takes nothing out of queues. The thread waits
 * on its own stack, in a futex. While the thread is elsewhere P has its own storage, and the signals that come to it:
 * thread_signal.h.
 *
 * States of P, seen by the context c of the thread (uth.vp says whose context it is):
 *   EMPTY    P sleeps on its native stack; c is not bound to P
 *   COMING   c.vp == P, pinned == thread; its vp is about to leave c's stack, P waits until it has (uth.running)
 *   RUNS     P is on c's stack: runs, or sleeps in ps_wait_dedicated
 *   EMPTY    c.vp is what it was before, c is published there; P is about to leave c's stack, and the vp that takes c
 *            waits until P has left it
 * That is for the first such region of a member. From then on P calls the member on a stack of P's, and waits there as
 * well: own_stack.h.
 * A context is bound by the thread itself, so there is no race for c.vp. Contexts are nested: a promoted thread may run
 * a member as a call, and the member may be promoted too. Then c goes on to the member's kernel thread, and `home`
 * tells where c comes back to. If the stack is a root's own, it moves as well: what stands on it below the member
 * cannot go on before the member ends.
 *
 * P waits as a vp that searches: it spins for a while, learns for how long (adaptive_spin.h), and then sleeps. It spins
 * where its team has no more members than there are vps, and fewer threads are DEDICATED. Vps that find nothing end
 * their search beside it (ps_dedicated_spins). So no more kernel threads spin than there are processors.
 *
 * A parent that spins for P finds P's slot still full where P does not run. On a busy machine P then waits for the
 * parent's processor, region after region: both sleep now and then, so the system does not move either. So the parent
 * writes where it is into dedicated.leave, and P, when it runs, leaves that processor. P's mask is narrowed and set
 * back for that, as in root_spread.h, with that limit.
 *
 * No wake-up is lost: a thread that readies another one on P stores pinned, then reads dedicated.sleeps. If P sleeps,
 * or is about to, the thread exchanges dedicated.wake 0 -> 1 and wakes (ps_wake_pinned). P sets dedicated.sleeps, and
 * looks at pinned. It parks where pinned is empty and dedicated.wake is 0. It takes dedicated.wake back before it
 * looks at pinned again. All seq_cst: one of the two sees the other. A lone root (lone_root.h) waits in the same way.
 * The word is not wake_word: that one is counted (idle.h), and a wake that is left there would be taken for one of
 * those.
 *
 * In four cases a thread is not promoted, and the call goes to the kernel thread that carries it. The first is a
 * signal handler: the runtime may be anywhere below it. The second is a function of the program's that the runtime
 * calls by name (malloc), in the middle of its own work. The third is a child between vfork and exec: it is a process
 * of its own on the thread's stack, and what it sets is its own. The fourth is a system that refuses a kernel thread.
 *
 * Cost: a kernel thread's start for the first call of a thread, some 30 us. After something was set each region costs
 * what kernel threads cost (own_stack.h).
 * Rejected: virtual copies of the state, set anew at each switch. Virtual copies would take a system call for each kind
 * and switch, and signals would still reach the thread that runs. Rejected as well: a kernel thread for each thread
 * from the start. Nested regions would cost what they cost under libgomp. */
#ifndef PS_DEDICATED_H
#define PS_DEDICATED_H

#include "atomic.h"
#include "compiler.h"
#include "parts.h"

struct psthread;
struct uth_tls;
struct vp;

/* The running thread has a kernel thread of its own when this returns true. False: see above. Called by the program,
 * by a call that the runtime answers in the C library's place. [switches] */
bool ps_dedicate_self(void);
/* The running thread asks for the bounds of its stack. If it is a member, it is promoted, and keeps that stack
 * (own_stack.h). Called as ps_dedicate_self. [switches] */
void ps_keep_stack(void);
/* Thread self, which begins on the context that runs, enters its block, and is promoted, as it was before. [switches]
 */
void ps_dedicate_again(struct psthread *self, struct uth_tls *block);
/* For what vp, which carries a thread alone, leaves to others: the vp that the thread came from, or vp 0. */
struct vp *ps_vp_for_others(const struct vp *vp);
/* The number of the kernel thread that is block's thread's own; 0: refused. Any kernel thread; does not move the
 * thread. With the second the thread is DEDICATED from now on. */
int ps_number_of(struct uth_tls *block);
int ps_dedicated_number(struct uth_tls *block);
/* The number of the kernel thread that is asked for the running thread, whose block this is; 0: the one that calls.
 * [switches] */
int ps_number_to_ask(struct uth_tls *block);
/* The calling thread's number (gettid), which is its own. */
int ps_number_of_caller(void);
/* The same where something is to be set for, or sent to, kernel thread `number`. [switches] */
int ps_number_to_set(int number);
/* The block's thread is DEDICATED from now on: the vp of its dedicated kernel thread; NULL: refused. Any kernel
 * thread. */
struct vp *ps_dedicate(struct uth_tls *block);

/* The running thread's context goes on alone on `to`. [switches] */
void ps_move_dedicated(struct vp *vp, struct psthread *self, struct vp *to);

/* The library starts, or is started in a forked child. */
void ps_dedicate_in_this_process(void);
/* The caller is a process of its own in this memory, a child between vfork and exec, and none of the runtime's
 * threads. */
bool ps_in_vfork_child(void);

/* The running thread leaves its block, in which it may have been promoted, and goes back to where its context came
 * from. The thread goes on with `next`, which is to be entered (NULL: the kernel thread's own storage). [switches] */
void ps_go_home_slow(struct uth_tls *next);
/* The block's thread has ended: its kernel thread ends by and by. */
void ps_retire_dedicated(struct uth_tls *block);
/* In a forked child: there is none. */
void ps_dedicated_after_fork_in_child(void);
/* Kernel threads of this kind that have not ended yet. */
unsigned ps_dedicated_count(void);

/* For scheduler.c. The thread, which runs on vp alone, waits until it is readied; it has been readied. */
void ps_wait_dedicated(struct vp *vp, const struct psthread *self);
void ps_wake_dedicated(struct vp *vp);
/* t is for vp, which carries a thread alone, to run. */
void ps_pin_dedicated(struct vp *vp, struct psthread *t);
/* vp waits until something is pinned to it, or it is to end. */
void ps_await_pinned(struct vp *vp);

#endif
