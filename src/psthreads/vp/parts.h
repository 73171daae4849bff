/* What a vp has for each of its roles: the parts of struct vp (vp.h) that need no cache line of their own.
 *
 * Each part belongs to the file that its comment names. That file says what the fields mean together. A file gets
 * its part from the function that is declared beside the part (vp.c defines these functions). The call costs a few
 * instructions, so no hot path makes it. */
#ifndef PS_PARTS_H
#define PS_PARTS_H

#include "atomic.h"
#include "compiler.h"
#include "os.h"
#include "tls.h"

#include <signal.h>
#include <stddef.h>

struct ps_team;
struct psthread;
struct vp;

/* Belongs to inherited.h. The mask and processors that the program has given to a vp's kernel thread. */
struct vp_outer {
    /* A root's vp: the signal mask and processors of its kernel thread outside of regions. Threads that become
     * dedicated in the root's regions begin with them. A dedicated vp: those with which its kernel thread begins. */
    uint64_t mask;
    struct os_cpuset cpus;
    /* The signal mask that the vp's root, or the thread to which the vp is dedicated, has set last, inside of regions
     * or outside. Other threads read it: vps that begin members of inner regions (inherited.c), the root's dedicated
     * vp, and threads that send a signal to the root. */
    _Atomic uint64_t inner_mask;
    bool own_changed; /* The root has set its mask or processors since its last region. Owner only. */
};
struct vp_outer *vp_outer(const struct vp *vp);

/* Belongs to home.h. Used in a vp that is a root's. */
struct vp_home {
    /* R: the root's block, which home_begin makes if threads have blocks. In a forked child home_block may be another
     * block. */
    struct uth_tls block;
    ptrdiff_t errno_at; /* bytes from a thread pointer to errno */
    /* E: the storage of home's loop. NULL: there is none, so the root is never released. Written by the root. */
    struct uth_tls *empty;
    /* True: run.own_tp is the thread pointer of E, and home's kernel thread reads this value from now on. (It has set
     * own_tp itself, or a fence for all kernel threads has followed.) Set for good, by a releaser or by the root
     * (home.c). */
    _Atomic bool leaves;
    _Atomic bool was_out; /* home's loop has been in E, at least once after `leaves` was set. Set by home, for good. */
    /* The root is coming home, or ends, so it is not released now. Written by the root. */
    _Atomic bool stays;
    /* The root's home: this vp. In a child that the root forked while it was away: the child's vp. */
    struct vp *at;
    /* The alternate signal stack that the root has set last, at home or away. The root's dedicated kernel thread gets
     * it before the root runs there, and home gets it when the root comes back. */
    stack_t stack;
};

/* States of a dedicated kernel thread: it is being started; it carries its vp; it has left its vp for good
 * (dedicated.h). */
enum { PS_DEDICATED_STARTS, PS_DEDICATED_STARTED, PS_DEDICATED_LEFT };
/* Belongs to dedicated.h. Used in a vp that is dedicated to one thread. `sleeps` and `wake` are also used in a lone
 * root's vp and in a home that stands aside, `sleeps` also in a spare that stands by (search.c). */
struct vp_dedicated {
    /* home: the vp to which the context that this vp carries was bound before; NULL: to none. came_from: the vp that
     * ran the context before. Written by the vp that hands the context over, read by this vp. */
    struct vp *home, *came_from;
    /* PS_DEDICATED_...: STARTS is written by the thread that claims the vp, the others by the vp's kernel thread. */
    _Atomic uint32_t state;
    _Atomic uint32_t ends; /* 1: the vp's kernel thread is to end; set by ps_retire_dedicated */
    /* 1: the kernel thread sleeps, or is about to. Written by this kernel thread. Read by threads that fill the vp's
     * pinned slot, or the queue of a home that stands aside; by parents at a fork; and by idle_all_parked. */
    _Atomic uint32_t sleeps;
    /* 1: a wake-up is due for the vp, which waits for something in `pinned`. Set by wakers, taken by the vp. */
    _Atomic uint32_t wake;
    /* 1: the vp's thread is a member of a team with no more members than vps, so this kernel thread may spin. Written
     * by the team's parent. */
    _Atomic uint32_t may_spin;
    /* How long the vp spins before it sleeps (adaptive_spin.h). Owner only. */
    uint64_t spin_ns;
    /* The processor, counted from 1, on which the team's parent waits for this vp's thread; 0: none. The parent sets
     * it. The vp takes it, and leaves that processor. */
    _Atomic uint32_t leave;
};
/* Belongs to dedicated.h. Used in a forked child by the vp of the thread that forked; owner only. */
struct vp_forked {
    const struct psthread *as; /* the thread that ran on this vp at the fork */
    uint32_t region;           /* the number of its region at that time, if the thread was a member */
};
struct vp_dedicated *vp_dedicated(const struct vp *vp);
struct vp_forked *vp_forked(const struct vp *vp);

/* Belongs to priority.h. Used in a root's vp, by the root's kernel thread only. */
struct vp_priority {
    bool opened;   /* the root has opened a region */
    uint64_t mask; /* the root's signal mask when it opened its first region; the mask of its members */
};
struct vp_priority *vp_priority(const struct vp *vp);

/* Belongs to thread_signal.h. Used in a vp that is dedicated to a thread. letter: the number of a signal that a handler
 * on the thread's present kernel thread is to take; 0: none. The vp writes all fields; handlers on other kernel threads
 * write `letter` and `on_way`. */
struct vp_thread_signal {
    _Atomic uint32_t letter;
    /* The number of the kernel thread that was told last of this letter, by a signal (a poke). Handlers read it. */
    _Atomic int poked;
    /* 1: the poked kernel thread has not handled the poke yet. Its handler stores 0. */
    _Atomic uint32_t on_way;
    /* All signals stay blocked until the vp's thread is on its own stack. Then the mask is run.unblocked_mask. */
    bool blocked;
    uint64_t poke_ns; /* the time of the last poke */
    _Alignas(8) unsigned char info[OS_SIGNAL_BYTES];
};
struct vp_thread_signal *vp_thread_signal(const struct vp *vp);
/* Resets d: there is no letter. Called when the vp's slot is used anew, and in a forked child. */
static inline void thread_signal_begins(struct vp_thread_signal *d)
{
    ps_store_relaxed(&d->letter, 0);
    ps_store_relaxed(&d->on_way, 0);
    d->blocked = false;
}

/* Belongs to root_spread.h. Used in a root's vp, by the root only unless a comment says otherwise. look_at: when the
 * root next looks whether it shares its processor with another root, in cpu_cycles. meetings: how many of its last
 * looks, in a row, found that it does. waits: os_times_preempted at the last of these. */
struct ps_root_spread {
    uint64_t look_at, waits;
    unsigned meetings;
    /* The processor on which the root last opened an outermost region. Other roots read it. */
    _Atomic uint32_t cpu;
    /* When the root opened this region, in cpu_cycles. Other roots read it. */
    _Atomic uint64_t seen_at;
};
struct ps_root_spread *vp_root_spread(const struct vp *vp);

/* Belongs to workers.c. PS_WORKER_...: states of a worker. kernel_thread is valid in state RUNS (release store,
 * acquire load). WANTED: the watchdog is to start the kernel thread. */
enum { PS_WORKER_NONE, PS_WORKER_WANTED, PS_WORKER_STARTING, PS_WORKER_RUNS, PS_WORKER_REFUSED };
/* Used in a vp that one of the library's kernel threads carries. */
struct vp_worker {
    os_thread kernel_thread;
    /* The worker's state, PS_WORKER_... Written by the thread that has taken the bit of a worker in state NONE out of
     * the idle set (idle.c), by the watchdog in state WANTED, by idle_never_start, and by the thread that stops the
     * workers. */
    _Atomic uint32_t started;
    /* The watchdog has started the vp's kernel thread. Written before that kernel thread begins. */
    bool by_watchdog;
    /* A spare: the team of the member that it took last, and the number of the region. Only the spare uses them. */
    const struct ps_team *helped;
    uint32_t helped_in;
};
struct vp_worker *vp_worker(const struct vp *vp);

/* Belongs to wake_spread.h: when a waker may next try to wake the vp on another processor. */
struct ps_wake_tries {
    unsigned in_a_row; /* how many of the last tries were in vain, one after the other */
    uint64_t until_ns; /* no waker tries before this time */
};
struct ps_wake_spread {
    /* slept_on: the processor on which the vp last went to sleep; the vp writes it. woken_from: the processor of its
     * last waker, which writes it. Negative: unknown. tests/models/wake_spread.md says why neither needs an atomic. */
    int slept_on, woken_from;
    /* The waker has narrowed the mask of the vp's kernel thread for this wake-up. The vp clears the flag. */
    bool moved;
    /* How many further wake-ups are to be made on another processor than the waker's. Set by the vp, when it finds that
     * the system has woken it on its waker's processor; counted down by its wakers. */
    unsigned pulled;
    struct ps_wake_tries tries;
    uint64_t woken_at_ns; /* the time of the last try */
    /* 1: the waker has not given the mask back yet. The waker sets and clears it; the vp waits until it is 0. */
    _Atomic uint32_t moving;
    /* Only the vp uses the fields from here on. It sets them when a try has woken it, and reads them when it parks
     * next. */
    bool tried;
    /* late_ns: how long the wake-up took; preempted: os_times_preempted when the vp woke */
    uint64_t late_ns, preempted;
};
/* Returns a pointer to this part of vp. */
struct ps_wake_spread *vp_wake_spread(const struct vp *vp);

struct vp_home *vp_home(const struct vp *vp);

/* The next functions return a pointer to one field of vp. */
/* Ready work that only vp may run (vp.h). */
_Atomic(struct psthread *) *vp_pinned(const struct vp *vp);
/* The vp's state in quota_park.h: PS_ONLINE ... */
_Atomic uint32_t *vp_offline(const struct vp *vp);
/* When vp's root asked whether it is in a region (root_fairness.h); 0: it has opened a region since, or never asked.
 * Only the root uses it. */
uint64_t *vp_asked_at(const struct vp *vp);

#endif
