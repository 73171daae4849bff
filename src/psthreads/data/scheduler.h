/* The scheduler's face to the rest of this room: the current thread, the waiting primitive, spinning.
 *
 * Everything that waits (join, waitall, barrier, mutex, cond, monitor, work-queue, once, ee_wait ...) is built on
 * ps_block/ps_ready and nothing else. The exception are members that wait in a batch for their team's barrier:
 * team_barrier.c publishes them in their vp's list, and switches by itself. */
#ifndef PS_SCHEDULER_H
#define PS_SCHEDULER_H

#include "atomic.h"
#include "compiler.h"

struct ps_list;
struct psthread;
struct vp;

/* Returns the thread that runs on the calling kernel thread; NULL if that is no root yet. Not inlined: a thread may
 * return from a switch on another kernel thread, so no address of a native thread-local variable may be kept across a
 * switch. */
struct psthread *ps_current(void);
/* As ps_current, but makes the calling kernel thread a root where needed, and starts the library. */
struct psthread *ps_self(void);
/* Returns the current thread's `local` (the pointer that the entity layer keeps there) in one look; NULL where there is
 * no thread. */
void *ps_local(void);

/* --- the waiting primitive ---
 *
 * A thread publishes itself (under the object's own lock, or by a compare-and-swap), then calls ps_block(). The thread
 * that completes what it waits for takes it from where it is published, and calls ps_ready(t). There is exactly one
 * ps_ready for each ps_block, in any order. A ps_ready that comes first makes the thread ready while it still runs. If
 * the thread's own vp dequeues it then, ps_block returns at once. Another vp waits until the thread's context is saved
 * (uth.running), but not where others may wait for that vp's own context (vp_switch_away). ps_ready does everything
 * with t before the thread can run: t may be gone when it returns.
 * Ordering: what the readier did before ps_ready happens before ps_block's return. */

/* What a thread waits for: the kind, and the object's address. Debuggers and reports read it (debug_layout.h). */
enum ps_wait {
    PS_WAIT_NOTHING,
    PS_WAIT_JOIN,         /* the end of a thread */
    PS_WAIT_CHILDREN,     /* the end of its children */
    PS_WAIT_MUTEX,        /* psthread_mutex_t, psthread_monitor_t */
    PS_WAIT_COND,         /* psthread_cond_t */
    PS_WAIT_BARRIER,      /* psthread_barrier_t */
    PS_WAIT_WORKQUEUE,    /* psthread_workqueue_t */
    PS_WAIT_WORD,         /* ps_wait_on: whatever the OpenMP core waits for but the two below */
    PS_WAIT_TEAM_BARRIER, /* ps_team */
    PS_WAIT_TEAM_END,     /* ps_team: the parent at the end of the region */
    PS_WAIT_SEM,          /* psthread_sem_t */
    PS_WAIT_RWLOCK,       /* psthread_rwlock_t */
    PS_WAIT_FD,           /* a file descriptor; its number */
    PS_WAIT_TIME,         /* a moment: psthread_sleep */
    PS_WAIT_OUTSIDE,      /* what a layer over a foreign interface waits for (layer.h): MPI */
};

/* Blocks `self`, the running thread, which waits for `object`. Aborts with one line in a no-stack thread. */
void ps_block(struct psthread *self, enum ps_wait kind, const volatile void *object);
/* Makes t ready: on the queue of the vp that last ran it, at the back (PS_BACK) or the front (PS_FRONT). Never
 * waits. */
enum ps_end { PS_FRONT, PS_BACK };
void ps_ready(struct psthread *t, enum ps_end end);
/* Wakes vp, whose pinned slot has been filled. */
void ps_wake_pinned(struct vp *vp);
/* Readies n threads, in this order, at the back. Consecutive threads of one vp enter its queue together. */
void ps_ready_many(struct psthread *const *t, unsigned n);

/* Threads that wait for one thing, gathered by the vp on which each arrived: they are readied together, without a look
 * at each of them. `first` is the ring of their links; num 0: none.
 * ps_gather puts the caller, which is about to block, into the gathering of its vp. `gathered` is an array of `num`
 * gatherings, one for each vp by its number, `apart` bytes from one to the next. It takes no lock, since only code on
 * that vp puts threads there. The caller is not gathered where its vp's number is too high, or where it must be readied
 * by itself.
 * ps_ready_gathered readies all of g, the gathering of vp number `id`, but for `except`, which may have come last.
 * Returns how many. The caller knows that all have come (acquire; each released its arrival after ps_gather), and that
 * no other comes meanwhile. */
struct ps_gathered {
    struct ps_list *first;
    unsigned num;
};
struct ps_gatherer {
    struct psthread *self;
    bool gathered;
};
struct ps_gatherer ps_gather(struct ps_gathered *gathered, size_t apart, unsigned num);
unsigned ps_ready_gathered(struct ps_gathered *g, unsigned id, const struct psthread *except);
/* Puts the caller at the back of its vp's queue and runs another ready thread; returns false at once where there is
 * none. */
bool ps_yield(void);
/* Whether the root of the caller's vp is ready, and was kept waiting behind a thread here before. */
bool ps_root_wanted(void);

_Atomic uint32_t *vp_root_first(const struct vp *vp); /* in place (vp.h) */

/* Whether the caller, a function of the runtime's, runs in a handler of the program's: process_signal.h. */
bool ps_in_handler(void);

/* Number of spins that take about two context switches (measured once at start; balder-threads-2004 section 2);
 * 0 in a passive configuration. */
unsigned ps_spin_limit(void);
/* Whether it can pay to spin for another thread: not where the current vp has other ready threads behind the caller. */
bool ps_spin_useful(void);

/* The place of a thread's array of specific values (key.c); NULL in it: none yet. Only the thread itself uses it. */
void **ps_thread_keys_slot(struct psthread *self);

#endif
