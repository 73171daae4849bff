/* Promotion: a thread gets a kernel thread of its own.
 *
 * What the kernel keeps for a thread - signal mask, alternate stack, name, priority, affinity, number, clock - belongs
 * to the kernel thread that carries a user-level thread just now. So a thread that sets such state, or asks for it, is
 * promoted first. Its context moves to a kernel thread that carries nothing else until the thread ends. A member of a
 * team stays there until the region ends. The kernel thread stays with the thread's block (uth_tls.alone). A member
 * finds it again in the next region, with the state that the member left there, as with a kernel thread of a pool.
 *
 * The kernel thread P has a vp of its own, `alone_for` the thread. P takes nothing out of queues. Its thread pointer is
 * the thread's, even while the thread is elsewhere. So a signal that is sent to P finds the thread. The thread waits on
 * its own stack, in a futex.
 *
 * States of P, seen by the context c of the thread (uth.vp says whose context it is):
 *   EMPTY    P sleeps on its native stack; c is not bound to P
 *   COMING   c.vp == P, pinned == thread; its vp is about to leave c's stack, P waits until it has (uth.running)
 *   RUNS     P is on c's stack: runs, or sleeps in ps_wait_alone
 *   EMPTY    c.vp is what it was before, c is published there; P is about to leave c's stack, and the vp that takes c
 *            waits until P has left it
 * A member that keeps its stack is called there by P, which waits there as well: own_stack.h.
 * A context is bound by the thread itself, so there is no race for c.vp. Contexts are nested: a promoted thread may run
 * a member as a call, and the member may be promoted too. Then c goes on to the member's kernel thread, and `home`
 * tells where c comes back to. If the stack is a root's own, it moves as well: what stands on it below the member
 * cannot go on before the member ends.
 *
 * No wake-up is lost: a thread that readies another one on P stores pinned, then exchanges wake_alone 0 -> 1 and wakes
 * (ps_wake_alone). P takes pinned, else parks where wake_alone is 0, and takes wake_alone back before it looks at
 * pinned again. All seq_cst: a store of pinned that P's look misses comes before a wake_alone that P has not taken back
 * yet. A lone root (directed.h) waits in the same way. The word is not wake_word: that one is counted (idle.h), and a
 * wake that is left there would be taken for one of those.
 *
 * In four cases a thread is not promoted, and the call goes to the kernel thread that carries it. The first is a
 * signal handler: the runtime may be anywhere below it. The second is a function of the program's that the runtime
 * calls by name (malloc), in the middle of its own work. The third is a child between vfork and exec: it is a process
 * of its own on the thread's stack, and what it sets is its own. The fourth is a system that refuses a kernel thread.
 *
 * Cost: a kernel thread's start for the first call of a thread, some 30 us; two switches of the kernel's in each
 * region after that.
 * Rejected: virtual copies of the state, set anew at each switch. Virtual copies would take a system call for each kind
 * and switch, and signals would still reach the thread that runs. Rejected as well: a kernel thread for each thread
 * from the start. Nested regions would cost what they cost under libgomp. */
#ifndef PS_PROMOTE_H
#define PS_PROMOTE_H

#include "atomic.h"
#include "compiler.h"
#include "os.h"
#include "work.h"

struct psthread;
struct uth_tls;
struct vp;

/* Of a kernel thread that carries one thread alone. */
enum { PS_ALONE_STARTS, PS_ALONE_STARTED, PS_ALONE_LEFT };
/* A vp's that carries one thread alone. */
struct vp_alone {
    struct vp *home, *came_from;                /* of the context that it carries; owner only */
    _Atomic uint32_t state;                     /* PS_ALONE_..., the kernel thread's */
    _Atomic uint32_t ends;                      /* 1: it is to end */
    _Atomic uint32_t sleeps;                    /* written by the kernel thread; for deadlock.c */
    _Atomic uint32_t given_up;                  /* by a handler that had no use for it; taken where the vp ends */
    _Atomic uint32_t wake;                      /* 1: a wake is due, of one that waits for `pinned`; taken by the vp */
    _Atomic uint32_t masks_posted, masks_taken; /* different: its mask is to become new_mask; handler_mask.h */
    _Atomic uint64_t new_mask;
};
/* A vp's: what its kernel thread is like to the program. */
struct vp_outer {
    /* A root's: signal mask, processors and name of its kernel thread outside of regions, which threads begin with that
     * are promoted in its regions. One that carries a thread alone: what it begins with. */
    uint64_t mask;
    struct os_cpuset cpus;
    char name[OS_THREAD_NAME_BYTES];
    _Atomic uint64_t inner_mask; /* what a root, or the thread alone, has set last, inside of regions too */
    bool own_changed;            /* it has set its own since its last region; owner only */
    bool starts_like_opener;     /* it starts kernel threads for members of a region that it opens; owner only */
    _Atomic bool changed; /* a root's: what kernel threads begin with was set here, inside of a region (starter.h) */
};
/* A vp's in a forked child; owner only. */
struct vp_forked {
    const struct psthread *as; /* what ran here at the fork */
    uint32_t region;           /* and in which region, if it was a member */
};
/* The wholes are in vp.h. */
struct vp_alone *vp_alone(const struct vp *vp);
struct vp_outer *vp_outer(const struct vp *vp);
struct vp_forked *vp_forked(const struct vp *vp);

/* The running thread has a kernel thread of its own when this returns true. False: see above. Called by the program,
 * by a call that the runtime answers in the C library's place. [switches] */
bool ps_promote(void);
/* The running thread is about to give its processor away, and polls perhaps. Where it has a kernel thread of its own
 * and is elsewhere, it goes there: a sender of a signal may wait for it, and nobody interrupts it in a yield. Called as
 * ps_promote, or by a wait of the runtime's. [switches] */
void ps_settle(void);
/* The running thread asks for the bounds of its stack. If it is a member, it is promoted, and keeps that stack
 * (own_stack.h). Called as ps_promote. [switches] */
void ps_keep_stack(void);
/* Thread self, which begins on the context that runs, enters its block, and is promoted, as it was before. [switches]
 */
void ps_promote_again(struct psthread *self, struct uth_tls *block);
/* The number of the kernel thread that is, or from now on will be, block's thread's own; 0: refused. Any kernel
 * thread; does not move the thread. */
int ps_promoted_id(struct uth_tls *block);

/* The same before the member begins whose block this is, by the opener of its region: the kernel thread begins with all
 * that the opener's has. */
void ps_carrier_like_opener(struct uth_tls *block);

/* The same, its vp; NULL: refused. The second does not wait until the kernel thread has started, which may be what a
 * handler has interrupted. */
struct vp *ps_carrier_soon(struct uth_tls *block);
struct vp *ps_promoted_vp(struct uth_tls *block);
/* A parked kernel thread for any thread that needs one, with what the root of `from` begins with; NULL: refused. The
 * second: no thread has taken it, and it ends. Caller: the watchdog, or the sender of a signal. */
struct vp *ps_carrier_for_somebody(const struct vp *from);
void ps_carrier_for_nobody(struct vp *carrier);
/* The carrier that block's thread has, or gets now out of *carrier; NULL: none. Caller: a handler on the kernel thread
 * that runs block's thread. */
struct vp *ps_carrier_of(struct uth_tls *block, _Atomic(struct vp *) *carrier);
/* The running thread's context goes on alone on `to`. [switches] */
void ps_move_alone(struct vp *vp, struct psthread *self, struct vp *to);

/* Block's thread gets a kernel thread, which comes to be where a handler may run and hears there (PS_LONE_ROUSED).
 * False: refused. Does not wait for that. Caller: the watchdog, which keeps the block from going away. */
bool ps_rouse(struct uth_tls *block);
/* Lets send(its kernel thread's number, arg) be called so that a signal `number` that it sends there finds the thread,
 * whose block this is (directed.h). What send returned, or EAGAIN: no kernel thread is to be had. Any kernel thread;
 * blocks until the thread is where its handler may run, some ms at most. */
int ps_promoted_signal(struct uth_tls *block, int number, int (*send)(int tid, const void *arg), const void *arg);
/* The same for the root whose kernel thread has this thread pointer, or (NULL) the number tid: its kernel thread
 * carries nothing else from now on, and the handler finds it there. Not for other threads. Blocks some ms, 2 s at
 * most. */
void ps_ready_root_for_signals(const void *tp, int tid);
/* The same for all roots, from their next wait on. */
void ps_all_roots_alone(void);
/* The same for the root whose kernel thread has this thread pointer, or (NULL) for the calling kernel thread, also if
 * it becomes a root later. The program asks for what the kernel counts for it (processor time, events). The caller is
 * not in a block. */
void ps_root_counted(const void *tp);
/* The running thread has changed its signal mask, processors or name. A root passes that on, outside of regions; its
 * next region looks again what there is, since this may be called in a signal handler, which has another mask. A
 * promoted thread, or a root in a region, passes its mask on to members of inner regions. */
void ps_root_changed(void);
/* A handler that now ends leaves this mask to the thread that it has interrupted: vp's root, or the one that vp carries
 * alone. Passed on as above. */
void ps_own_mask_becomes(struct vp *vp, uint64_t mask);
/* Around a handler, by its frame: handler_mask.h. Whether it may change the mask of a thread of the library's. What is
 * shown to it as the mask of what it has interrupted. It ends, and that or it has changed the mask in the frame, which
 * was `before`. [switches] */
bool ps_handler_may_leave_mask(void);
uint64_t ps_handler_is_shown(void *frame);
void ps_handler_left_mask(void *frame, uint64_t before, uint64_t shown);
/* The mask of the running thread, whose block this is, as long as it has no kernel thread of its own. */
uint64_t ps_mask_to_begin_with(const struct uth_tls *block);
/* `to`, the vp of block's kernel thread that is about to be started, gets what this one begins with. */
void ps_inherit_kernel_state(struct vp *to, const struct uth_tls *block);
/* vp's kernel thread has this mask. What it is to have when the running thread has gone: without what a handler of a
 * fault has left blocked that was left by longjmp. */
uint64_t ps_mask_to_leave(const struct vp *vp, uint64_t mask);
/* What kernel threads begin with (but for mask and processors) is about to be set on one of them: the one with this
 * thread pointer, or (NULL) with the number tid; 0: the calling one. A root's kernel thread starts no others from then
 * on (starter.h), unless the root itself sets it outside of regions, or it is the only one of a forked child. May start
 * a kernel thread. */
void ps_root_changes(const void *tp, int tid);
/* Whether a member that blocks these signals has a mask of its own: not what threads begin with. */
bool ps_mask_is_own(uint64_t mask);
/* A root opens an outermost region. */
void ps_root_look(struct vp *vp);
/* The library starts, or is started in a forked child. */
void ps_promote_in_this_process(void);
/* The caller is a process of its own in this memory, a child between vfork and exec, and none of the runtime's
 * threads. */
bool ps_in_vfork_child(void);

/* Calls fn(arg) in the storage of the kernel thread, outside of the running thread's block. fn may call what asks for
 * the kernel thread and runs nothing of the program's. */
void ps_call_outside_block(void (*fn)(void *arg), void *arg);
/* The running thread leaves its block, in which it may have been promoted, and goes back to where its context came
 * from. The thread goes on with `next`, which is to be entered (NULL: the kernel thread's own storage). [switches] */
void ps_go_home_slow(struct uth_tls *next);
/* The block is to be given back: its kernel thread ends by and by. False: it is not, for it is that of the kernel
 * thread which forked (uth_tls_after_fork_in_child). */
bool ps_retire_alone(struct uth_tls *block);
/* In a forked child: there is none. */
void ps_alone_after_fork_in_child(void);
/* Kernel threads of this kind that have not ended yet. The second is for fast looks. */
unsigned ps_alone_count(void);
extern _Atomic uint32_t ps_alone_threads;

/* For sched.c. The thread, which runs on vp alone, waits until it is readied; it has been readied. */
void ps_wait_alone(struct vp *vp, struct psthread *self);
void ps_wake_alone(struct vp *vp);
/* vp waits until something is pinned to it. */
void ps_await_pinned(struct vp *vp);
/* For search.c: what a root's vp runs next that carries that root alone. */
struct ps_work ps_await_root(struct vp *vp);

#endif
