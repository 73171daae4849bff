/* A thread that is about to block in the kernel gives its vp's processor away.
 *
 * User-level threads are not preempted: while a thread sleeps or waits for a file, its vp runs nothing else. The
 * watchdog would start a spare for the work behind it, but only after some milliseconds. So the runtime interposes
 * those functions of the C library that wait (identity/blocking_calls.c; for condition variables mutexes.c). If such a
 * call is about to wait, and work is ready that no vp comes for, a spare that stands by is called (standby.h), or the
 * watchdog starts one at once. The thread itself stays on its vp and its kernel thread, so its signals and its kernel
 * state do not change. Under libgomp another kernel thread gets the processor in the same way.
 *
 * States of a vp: not blocked -> blocking_begin: VP_BLOCKED, counted in ps_watchdog.blocked -> blocking_end: not
 * blocked. A blocked vp calls a spare only if fewer spares are at work than vps are blocked. When that vp comes back,
 * one spare too many is at work. This spare runs its thread or member to the next scheduling point. Until then one
 * kernel thread more is runnable than there are processors. Rejected: the thread that comes back waits for its spare,
 * as in Go (Go preempts; here that wait may never end). A root that becomes ready while its home is blocked is released
 * at once (ready.c). Why no ready work is left behind: a spare that finds none counts itself off, then reads how many
 * vps are blocked. A vp counts itself as blocked, then reads how many spares are at work. All four are seq_cst, so one
 * of the two sees the other (tests/models/blocking.pml). Work that becomes ready later, while the vp is blocked, is
 * left to the watchdog.
 *
 * A jump out of such a call (siglongjmp, a cancelled thread) skips blocking_end. The vp then counts as blocked until
 * blocking_forget is called for it.
 *
 * Cost: while the watchdog is not armed, one load and a branch. If a spare is called: four system calls for the signal
 * mask, and one to wake the spare. Limits: other waits (system calls by the program itself, page faults, the C
 * library's own reads as in fread, locks) are left to the watchdog. */
#ifndef PS_BLOCKING_H
#define PS_BLOCKING_H

#include "compiler.h"
#include "run.h"
#include "watchdog.h"

/* Returns true if work may be ready that no vp comes for. If it returns false, the caller need not call blocking_begin.
 * The function reads `armed`: a thread that makes something ready and finds no idle vp arms the watchdog, which stays
 * armed for a while. */
static inline bool blocking_may_matter(void) { return PS_UNLIKELY(ps_load_relaxed(&ps_watchdog.armed)); }

/* Returns the calling thread's vp if work is ready that no vp comes for, and a spare may be called for it. Otherwise
 * returns NULL, and always in a handler and in a child between vfork and exec. Keeps errno. */
struct vp *blocking_vp(void);
/* Called by the running thread of vp before and after it waits in the kernel. If vp is NULL, both do nothing. Both keep
 * errno. */
void blocking_begin(struct vp *vp);
void blocking_end(struct vp *vp);
/* From now on vp does not count as blocked. Called by vp's kernel thread: in blocking_end, when it looks for work, and
 * when its root ends. */
static inline void blocking_forget(struct vp *vp)
{
    if (!vp_is(vp, VP_BLOCKED))
        return;
    vp_is_no_more(vp, VP_BLOCKED);
    ps_sub_seq(&ps_watchdog.blocked, 1);
}

#endif
