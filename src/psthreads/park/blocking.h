/* A thread that is about to block in the kernel gives its vp's processor away.
 *
 * User-level threads are not preempted: while one sleeps, or waits for a file, its vp runs nothing else. The watchdog
 * would start a spare for what is ready behind it, after some milliseconds. The C library's calls that wait are
 * answered by the runtime (identity/blocking_calls.c): where one is about to wait, and something is ready that no vp
 * comes for, a spare that stands by is called at once (standby.h). The thread itself stays on its vp, and goes on
 * there. So it is the same kernel thread all the time, and its signals and its state are as ever. Kernel threads do the
 * same by themselves, which is why users of libgomp may let members wait.
 *
 * States of a vp: not blocked -> blocking_begin: VP_BLOCKED, counted in ps_watchdog.blocked -> blocking_end: neither.
 * At most as many spares work as vps are blocked. When a vp comes back its spare has a member, which it runs to the
 * next scheduling point; so for that long one kernel thread is runnable more than there are processors. Rejected: a
 * thread that comes back waits until the spare is through, as in Go (Go preempts; here that may take for ever). If a
 * root is readied while its home is blocked, it is released at once (ready.c).
 * No work waits while it need not: a spare counts itself off, then looks whether vps are blocked; a vp counts itself
 * among the blocked, then looks how many spares are at work (both seq_cst). What becomes ready later, while the vp
 * waits, is the watchdog's to see. tests/models/blocking.pml.
 *
 * A jump out of such a call (siglongjmp, a cancelled thread) leaves the vp as blocked until it is next looked at:
 * blocking_forget.
 *
 * Cost where nothing is ready: one load and a branch. Where something is: four system calls for the signal mask, and
 * one to wake a spare. Limits: what waits otherwise (a system call by the program itself, a page fault, the C library's
 * own reads as fread's, a lock) is the watchdog's to see. */
#ifndef PS_BLOCKING_H
#define PS_BLOCKING_H

#include "compiler.h"
#include "run.h"
#include "watchdog.h"

/* Whether something may be ready that no vp comes for; else there is nothing to do. A thread that makes something ready
 * and finds no idle vp arms the watchdog, which stays armed for a while. */
static inline bool blocking_may_matter(void) { return PS_UNLIKELY(ps_load_relaxed(&ps_watchdog.armed)); }

/* Returns the calling thread's vp, if something is ready there that no vp comes for; else NULL. Keeps errno. */
struct vp *blocking_vp(void);
/* Called before and after the calling thread, on vp, waits in the kernel. NULL: does nothing. Both keep errno. */
void blocking_begin(struct vp *vp);
void blocking_end(struct vp *vp);
/* Called when vp's kernel thread looks for work, or ends: no thread of it is in such a call any more. */
static inline void blocking_forget(struct vp *vp)
{
    if (!vp_is(vp, VP_BLOCKED))
        return;
    vp_is_no_more(vp, VP_BLOCKED);
    ps_sub_seq(&ps_watchdog.blocked, 1);
}

#endif
