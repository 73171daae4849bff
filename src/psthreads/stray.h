/* Signals for the process, and the library's kernel threads.
 *
 * The kernel gives a signal for the process to any kernel thread that does not block it. One of the library's is a
 * thread of the program's only while its thread pointer is that of a thread's block. Else it is *nobody*: it searches,
 * or is about to enter a block, or has just left one. A handler that ran there would run as no thread that the program
 * knows.
 *
 * What the first thread does not block is for that alone: lone_root.h. It comes elsewhere where it is blocked there.
 *
 * Two things keep handlers from there:
 *   deaf     The kernel thread blocks all signals, from somewhere outside of blocks until it enters the next one
 *            (vp_hear). A new one is deaf from its first instruction on. Where threads have kernel threads of their own
 *            (promote.h), with masks of their own, workers are deaf whenever they are nobody: two system calls each
 *            time. Elsewhere they hear, and pay nothing.
 *   passed   A signal that has come to nobody all the same is passed on. The library's handler stands before the
 *   on       program's (calls/handlers.c) and asks ps_signal_strays. This makes the kernel thread deaf, by the mask
 *            that the handler's frame restores, and sends the signal to the process once more, with all that it
 *            brought. The kernel chooses again, among the others. One that hears in a block runs the handler, as
 *            natively.
 *
 * No signal is lost, and none goes round in circles. A kernel thread that passes one on is deaf until it enters a
 * block, or until the signal has been taken (stray_look), or has been left to the ear. So each signal is passed on at
 * most once by each kernel thread that is nobody, and once in LATE_NS by the ear. While the ear waits, either some
 * kernel thread hears the signal, and takes it when it has a processor; or all block it, and a member is roused.
 *
 * The ear. Where the other threads block a signal, or handle one, a member that has no kernel thread of its own would
 * take it natively: it is one of a pool, and hears. Nobody may be in its block. So the watchdog's kernel thread hears
 * for such members, as long as there is one, from the program's first handler on, or the first signal that a root
 * blocks and its members do not. (A signal without a handler stops or ends the process wherever it is heard.) What
 * comes to it is passed on as above. If that is pending still after LATE_NS, a
 * member is *roused*: it gets a kernel thread of its own, which enters its block, hears, and takes it. Where all
 * members have one already the ear is deaf; the signal is pending, as among kernel threads that all block it.
 *   The watchdog never waits for a member, since threads that ask for kernel threads wait for the watchdog (starter.h).
 *   It takes one step in each tick, and when it is woken:
 *     LISTENS  strays is 0. The ear hears where a member may be roused, and is deaf elsewhere.
 *              -> WAITS, by the handler: something has come, and has been passed on. The ear is deaf from here on.
 *     WAITS    -> LISTENS  nothing that was passed on is pending: it has been taken
 *              -> WAITS    it is pending after LATE_NS, and another kernel thread hears it: that one has no processor,
 *                          as natively. A roused member would keep its kernel thread for nothing
 *              -> ROUSES   it is pending after LATE_NS, and UNHEARD_LOOKS looks in a row have found that all others
 *                          block it (one may do so for a moment); a member was chosen, and has been roused
 *              -> LISTENS  the same, and no member can be roused
 *     ROUSES   -> LISTENS  it has been taken; or ROUSE_NS are over
 *   After ROUSE_NS the signal may come to the ear again, which rouses the next member. So a member that cannot be
 *   reached delays the others by that much. No member is roused twice, and each goes on trying by itself.
 *   The watchdog stores PS_LONE_ROUSED in run.lone, and then wakes the member's kernel thread P (seq_cst both, as in
 *   promote.h); so P sees the request before it sleeps, or wakes. All that follows is done by P, on its own
 *   (directed_be_roused): it looks each ROUSED_LOOK_NS, and later each ROUSED_LATE_NS, whether it can be in its block,
 *   and else asks what runs there to move to P. P takes PS_LONE_ROUSED back when it has been in the block, or when
 *   nothing that it would take is pending. A signal may be on its way between two kernel threads, and pending nowhere:
 *   so P looks ROUSED_LEAST times at least. What comes later comes to P itself, which hears from then on.
 *   The ear looks whether such a member is there when it is told (`due`): a member has begun, has got a kernel thread,
 *   or ends. The teller changes the block first, then sets `due` (seq_cst both), then wakes the watchdog.
 *
 * run.is_deaf, run.deaf_mask and run.strays are read and written by the vp's kernel thread alone, also in the handler.
 * The handler may come between any two instructions while the kernel thread hears, and never while it is deaf:
 *   vp_deafen  blocks first, then looks whether the handler has come in between, and has kept the mask already
 *   vp_hear    says that it hears, then unblocks; in a block, where the handler does not pass signals on
 *   vp_heard_mask  reads the kernel's mask, then looks whether the handler has come, and has kept the mask. Read the
 *              other way round, `all signals` would pass for the mask with which the kernel thread hears
 *   parking    the handler wakes the vp, as any waker would, or [L] (idle.h) sees `strays`; a member's own kernel
 *              thread finds alone.wake set
 *
 * A member's own kernel thread P begins deaf, and hears while it waits for the member (hear_alone in promote.c). The
 * ear does not hear for a member that has P. And a sender that P has not answered in time sends all the same.
 *   P is in the block only while no other kernel thread can be: on its thread's stack, below the saved context, and
 *   while no region of the team is open. Before it lets a saved context go it leaves the block (come_in in directed.c).
 *   Else a handler there would run beside the member, with the same storage.
 *   Elsewhere it is nobody, and passes on what is for the process. It then takes that itself where it can come in at
 *   once; else it looks each millisecond what has become of it, and rouses itself after LATE_NS.
 *
 * The members' end and the member that is chosen: the watchdog counts `rousing` up (seq_cst), then reads the block's
 * team. It counts `rousing` down in the same step, when the member's kernel thread is there. The thread that ends a
 * member clears the team, then waits until `rousing` is 0, and then ends that kernel thread as any other.
 *
 * Not passed on are faults, which are the instruction's, and what was sent to the kernel thread by its number. A sender
 * that lists kernel threads in /proc sends to the library's as well, and waits for each. Limit: what is sent by number
 * with a value (pthread_sigqueue, a timer) is marked as what is sent to the process with one. So it is passed on, where
 * it comes to P after the sender's time limit. Nor is anything passed on where threads have no blocks, or where the
 * kernel refuses to queue it. Order: a queued real-time signal that is passed on comes behind those that wait already.
 * So it may where several kernel threads hear it: natively each takes one, and their handlers run at once. Of signals
 * of job control the younger one takes the older one back, also where that is passed on (os_signal_again).
 *
 * A profiler's signal for the time that a searching worker has used goes to another thread in this way.
 *
 * tests/models/stray.pml checks this, for one worker and one member.
 *
 * Rejected: workers that block signals whenever they search (two system calls in each region). A kernel thread that
 * takes the process's signals with sigtimedwait and hands them to members: it would take them from the program's own
 * sigwait and signalfd, and profilers' samples from the threads that compute. */
#ifndef PS_STRAY_H
#define PS_STRAY_H

#include "os.h"
#include "promote.h"
#include "run.h"

/* The library's kernel thread that carries vp hears nothing from here on, where masks differ. */
void vp_deafen_slowly(struct vp *vp);
static inline bool vp_is_to_be_deaf(const struct vp *vp)
{
    return PS_UNLIKELY(ps_load_relaxed(&ps_alone_threads) > 0) && !vp_is_roots(vp) && !vp_run(vp)->alone_for;
}
static inline void vp_deafen(struct vp *vp)
{
    if (vp_is_to_be_deaf(vp) && !vp_run(vp)->is_deaf)
        vp_deafen_slowly(vp);
}
/* It hears: in a block; or all signals that it could pass on have been taken. */
static inline void vp_hear(struct vp *vp)
{
    if (!vp_run(vp)->is_deaf)
        return;
    vp_run(vp)->is_deaf = false;
    os_set_signal_mask(vp_run(vp)->deaf_mask);
}
/* The mask with which vp's kernel thread, the caller's, hears: now, or when it is not deaf any more. */
static inline uint64_t vp_heard_mask(const struct vp *vp)
{
    uint64_t mask = os_signal_mask();
    ps_fence_compiler();
    return vp_run(vp)->is_deaf ? vp_run(vp)->deaf_mask : mask;
}
/* A kernel thread that begins with all signals blocked carries vp, and would hear with this mask. */
static inline void vp_begin_deaf(struct vp *vp, uint64_t mask)
{
    vp_run(vp)->deaf_mask = mask;
    vp_run(vp)->is_deaf = true;
    ps_store_relaxed(&vp_run(vp)->strays, 0);
}
/* The library's kernel thread that carried vp ends: it hears nothing any more. */
static inline void vp_end_deaf(struct vp *vp)
{
    os_set_signal_mask(OS_ALL_SIGNALS);
    vp_run(vp)->is_deaf = false;
    ps_store_relaxed(&vp_run(vp)->strays, 0);
}

/* vp's kernel thread, which carries one thread alone, takes a mask that was posted to it (handler_mask.h). */
static inline bool vp_mask_is_new(const struct vp *vp)
{
    return ps_load_seq(&vp_alone(vp)->masks_posted) != ps_load_seq(&vp_alone(vp)->masks_taken);
}
void vp_take_mask_slowly(struct vp *vp);
static inline void vp_take_mask(struct vp *vp)
{
    if (PS_UNLIKELY(vp_mask_is_new(vp)))
        vp_take_mask_slowly(vp);
}

/* In a handler: signal `number`, with this siginfo_t and ucontext_t, has come to nobody, and has been passed on. */
bool ps_signal_strays(int number, const void *info, void *frame);
/* vp, which searches, has passed signals on (strays): looks what has become of them. */
void stray_look_slowly(struct vp *vp);
static inline bool stray_look(struct vp *vp)
{
    if (PS_LIKELY(!ps_load_relaxed(&vp_run(vp)->strays)))
        return false;
    stray_look_slowly(vp);
    return true;
}

/* The ear's, for the watchdog: its kernel thread begins, does what is due, has something to do, ends. rouse: ps_rouse
 * (promote.h), of a higher file. */
void stray_ear_begin(void);
void stray_ear_serve(bool (*rouse)(struct uth_tls *block));
bool stray_ear_wanted(void);
void stray_ear_end(void);
/* A forked child has none yet, and no members. */
void stray_reset(void);
/* The program has a handler, or a root blocks signals that its members do not: an ear is needed from here on. */
void stray_expect(void);
/* A team has a new member, whose thread blocks this; a member has got a kernel thread of its own, or ends. */
void stray_member_begins(uint64_t mask);
void stray_member_goes(void);
/* The block's member ends, and has no team any more: nobody rouses it from here on. */
void stray_await_rousers(void);

#endif
