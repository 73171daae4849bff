/* What the scheduler offers to the rest of this room: the current thread, the waiting primitive, spinning.
 *
 * Everything that waits (join, waitall, barrier, mutex, cond, monitor, work-queue, once, ee_wait ...) is built on
 * ps_block and ps_ready. There is one exception: members that wait in a batch for their team's barrier. team_barrier.c
 * puts each of them into a list of its vp, and switches to the next thread itself. */
#ifndef PS_SCHEDULER_H
#define PS_SCHEDULER_H

#include "atomic.h"
#include "compiler.h"

struct ps_list;
struct psthread;
struct vp;

/* Returns the thread that runs on the calling kernel thread. NULL: the kernel thread carries no vp, or the vp's loop
 * runs on it. The compiler must not inline this function. A thread may return from a switch on another kernel thread,
 * so no address of a native thread-local variable may be kept across a switch. */
struct psthread *ps_current(void);
/* As ps_current, and never returns NULL. If the calling kernel thread carries no vp, makes it a root, and starts the
 * library if it is not started. In a handler that has interrupted the vp's loop, returns the descriptor of the vp's
 * root. */
struct psthread *ps_self(void);
/* Returns the current thread's `local`, the pointer that the entity layer keeps there. In a handler that has
 * interrupted the vp's loop, returns the `local` of the thread as which the handler runs. NULL: the entity layer keeps
 * nothing for that thread, or the kernel thread carries no vp. */
void *ps_local(void);

/* --- the waiting primitive ---
 *
 * A thread publishes itself in the object that it waits for (under the object's own lock, or by a compare-and-swap),
 * and then calls ps_block. Later another thread, the readier, takes it from there and calls ps_ready. Each ps_block has
 * exactly one ps_ready. If the ps_ready comes first, the thread is ready while it still runs. If its own vp dequeues it
 * in that state, ps_block returns at once. Any other vp that dequeues it waits until the thread's context is saved
 * (uth.running). Two vps never wait for each other in this way (vp_switch_away). A thread may end as soon as it is
 * ready, so the readier must not touch it after ps_ready. Ordering: what the readier did before ps_ready happens before
 * the return of ps_block. */

/* What a thread waits for. The kind and the object's address are kept with the thread's context, for debuggers and
 * reports (debug_layout.h). */
enum ps_wait {
    PS_WAIT_NOTHING,
    PS_WAIT_JOIN,      /* the end of a thread */
    PS_WAIT_CHILDREN,  /* the end of its children */
    PS_WAIT_MUTEX,     /* a psthread_mutex_t or psthread_monitor_t */
    PS_WAIT_COND,      /* a psthread_cond_t */
    PS_WAIT_BARRIER,   /* a psthread_barrier_t */
    PS_WAIT_WORKQUEUE, /* a psthread_workqueue_t */
    /* a word in memory (ps_wait_on): psthread_once, and all waits of the OpenMP core except the next two */
    PS_WAIT_WORD,
    PS_WAIT_TEAM_BARRIER, /* ps_team: a member waits in the barrier */
    /* ps_team: the parent waits for the members' end. Or a thread waits for the end of member 0's helper (recall.h). */
    PS_WAIT_TEAM_END,
    PS_WAIT_SEM,    /* a psthread_sem_t */
    PS_WAIT_RWLOCK, /* a psthread_rwlock_t */
    PS_WAIT_FD,     /* a file descriptor; the object is its number */
    PS_WAIT_TIME,   /* a point in time: psthread_sleep */
    /* The event that a layer over a foreign interface waits for (layer.h), such as an MPI message. */
    PS_WAIT_OUTSIDE,
};

/* Blocks `self`, the running thread, which waits for `object`. Returns once another thread has called ps_ready(self).
 * Aborts with one line if the thread has no stack of its own (PS_T_NOSTACK). */
void ps_block(struct psthread *self, enum ps_wait kind, const volatile void *object);
/* Makes t ready; waits for nothing but the lock of a queue. t goes into the queue of the vp that last ran it, at the
 * back (PS_BACK) or at the front (PS_FRONT). If no kernel thread carries that vp, or the vp is offline, t goes into the
 * queue of the caller's vp. If the caller's vp is a home that stands aside (home.h), t goes into the queue of vp 1, or
 * of vp 0 if there is no vp 1. If t is bound to a place, it goes into the place's queue. If only one vp may run t, it
 * goes into that vp's pinned slot. */
enum ps_end { PS_FRONT, PS_BACK };
void ps_ready(struct psthread *t, enum ps_end end);
/* Wakes vp if it is parked, or if it sleeps as a dedicated vp does (dedicated.h). The caller has just filled vp's
 * pinned slot. */
void ps_wake_pinned(struct vp *vp);
/* Makes n threads ready, in this order, each as ps_ready does with PS_BACK. Neighbours in `t` that the same vp ran
 * last, and that any vp may run, enter that vp's queue together, under one lock. In a program that uses places each
 * thread enters its queue alone. */
void ps_ready_many(struct psthread *const *t, unsigned n);

/* A gathering: the threads of one vp that wait for the same thing. Another thread makes them ready together, without
 * reading each thread's descriptor. The threads' item.link form a ring; `first` is the link of the thread that came
 * first. `num` is the number of threads. If it is 0, `first` means nothing.
 *
 * ps_gather puts the caller, which is about to block, into the gathering of the vp on which it runs. `gathered` points
 * to the first of `num` gatherings, one for each vp by its number; the next one begins `apart` bytes behind it. No lock
 * is needed, since only code on the vp puts threads into the vp's gathering. The caller is not gathered
 * (ps_gatherer.gathered is false) if its vp's number is `num` or more, if only one vp may run it, or if the program
 * uses places.
 *
 * ps_ready_gathered readies all threads of g, the gathering of vp number `id`, and returns how many these are. If the
 * last of them is `except`, the caller itself, this thread is left out. No thread may call ps_gather for g meanwhile.
 * Ordering: each thread that waits counts itself by a release operation after ps_gather. The caller of
 * ps_ready_gathered has seen all these counts by an acquire operation. */
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
/* Puts the caller at the back of its vp's queue (a root: into its vp's pinned slot), and runs another ready thread.
 * Returns false at once if there is no such thread, or if the caller may not switch. */
bool ps_yield(void);
/* Returns true if the root of the caller's vp is ready now, and the watchdog has seen before that another thread kept
 * this root waiting. Then the caller should yield soon. */
bool ps_root_wanted(void);

_Atomic uint32_t *vp_root_first(const struct vp *vp); /* Returns the address of vp's field root_first (vp.h). */

/* Returns true if the caller, a function of the runtime, was called in a signal handler of the program
 * (process_signal.h). */
bool ps_in_handler(void);

/* Returns how many rounds of a spin loop take as long as two context switches (balder-threads-2004 section 2). The
 * number is measured once, when the library starts. It is 0 if the user wants no spinning (passive). */
unsigned ps_spin_limit(void);
/* Returns true if it can pay to spin for another thread. It cannot if the caller's vp has other ready threads, or if
 * the user wants no spinning. */
bool ps_spin_useful(void);

/* Returns the address of the pointer to self's array of thread-specific values (key.c). The pointer is NULL until self
 * sets its first value. Only the thread itself uses it. */
void **ps_thread_keys_slot(struct psthread *self);

#endif
