/* What a vp has for each of its roles: the parts of struct vp (vp.h) that need no line of their own.
 *
 * Each part belongs to the file that its comment names; that file says what the fields mean together. A file takes the
 * part by the function that is declared beside it (vp.c has these): a few instructions more, so no path that is hot
 * uses it. */
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

/* inherited.h. What a vp's kernel thread is like to the program. */
struct vp_outer {
    /* A root's vp: the signal mask and processors of its kernel thread outside of regions. Threads that are dedicated
     * in its regions begin with them. A dedicated vp: those that its kernel thread begins with. */
    uint64_t mask;
    struct os_cpuset cpus;
    _Atomic uint64_t inner_mask; /* what a root, or a dedicated thread, has set last, inside of regions too */
    bool own_changed;            /* the root has set its mask or processors since its last region; owner only */
};
struct vp_outer *vp_outer(const struct vp *vp);

/* home.h. A vp's where it is a root's. */
struct vp_home {
    struct uth_tls block;  /* R; the root's from its attach on, where blocks are on; in a child: home_block */
    ptrdiff_t errno_at;    /* of errno, from a thread pointer */
    struct uth_tls *empty; /* E; NULL: there is none, and the root stays. Written by the root */
    _Atomic bool leaves;   /* own_tp is E's, and there was a fence since; written by releasers, for good */
    _Atomic bool was_out;  /* home has been in E since; written by home, for good */
    _Atomic bool stays;    /* the root is coming home, or ends: it is not released; written by the root */
    struct vp *at;         /* its home: this vp; in a child that the root forked while away: the child's */
    stack_t stack;         /* what the root has set last, at home or away; as vp_outer.inner_mask */
};

/* dedicated.h. Of a dedicated kernel thread. */
enum { PS_DEDICATED_STARTS, PS_DEDICATED_STARTED, PS_DEDICATED_LEFT };
/* A vp's that is dedicated to one thread. */
struct vp_dedicated {
    struct vp *home, *came_from; /* of the context that it carries; owner only */
    _Atomic uint32_t state;      /* PS_DEDICATED_..., the kernel thread's */
    _Atomic uint32_t ends;       /* 1: it is to end */
    _Atomic uint32_t sleeps;     /* written by the kernel thread; read where something is pinned, and by deadlock.c */
    _Atomic uint32_t wake;       /* 1: a wake is due, of one that waits for `pinned`; taken by the vp */
    _Atomic uint32_t may_spin;   /* 1: its thread is a member of a team that has a vp for each; by the team's parent */
    uint64_t spin_ns;            /* how long it spins before it sleeps (adaptive_spin.h); owner only */
    _Atomic uint32_t leave;      /* the processor, from 1, on which a thread spins for it; taken by the vp */
};
/* dedicated.h. A vp's in a forked child; owner only. */
struct vp_forked {
    const struct psthread *as; /* what ran here at the fork */
    uint32_t region;           /* and in which region, if it was a member */
};
struct vp_dedicated *vp_dedicated(const struct vp *vp);
struct vp_forked *vp_forked(const struct vp *vp);

/* priority.h. Only of a vp whose kernel thread is a root's; no other kernel thread uses it. */
struct vp_priority {
    bool opened;   /* its root has opened a region */
    uint64_t mask; /* the root's signal mask at that time, which its members have */
};
struct vp_priority *vp_priority(const struct vp *vp);

/* thread_signal.h. Of a vp that is dedicated to a thread. The vp writes all of this; handlers elsewhere write `letter`
 * and `on_way`. */
struct vp_thread_signal {
    _Atomic uint32_t letter;
    _Atomic int poked;       /* number of the kernel thread that was poked last for this letter; handlers read it */
    _Atomic uint32_t on_way; /* 1: that kernel thread has not seen the poke yet; the handler there clears it */
    bool blocked;     /* all signals are blocked until its thread is on its own stack; mask: run.unblocked_mask */
    uint64_t poke_ns; /* the time of the last poke */
    _Alignas(8) unsigned char info[OS_SIGNAL_BYTES];
};
struct vp_thread_signal *vp_thread_signal(const struct vp *vp);
/* A slot begins anew; in a forked child no kernel thread has a letter. */
static inline void thread_signal_begins(struct vp_thread_signal *d)
{
    ps_store_relaxed(&d->letter, 0);
    ps_store_relaxed(&d->on_way, 0);
    d->blocked = false;
}

/* root_spread.h. Only of a vp whose kernel thread is a root's. Where nothing else is said, only the root uses it. */
struct ps_root_spread {
    uint64_t look_at, waits;
    unsigned meetings;
    _Atomic uint32_t cpu;     /* the root opened an outermost region on this processor, read by other roots */
    _Atomic uint64_t seen_at; /* the time of that, in cpu_cycles; read by other roots */
};
struct ps_root_spread *vp_root_spread(const struct vp *vp);

/* workers.c. A worker's kernel thread. kernel_thread is valid (release, acquire) in state RUNS. WANTED: the watchdog is
 * to start it. */
enum { PS_WORKER_NONE, PS_WORKER_WANTED, PS_WORKER_STARTING, PS_WORKER_RUNS, PS_WORKER_REFUSED };
/* A vp's that one of the library's kernel threads carries. */
struct vp_worker {
    os_thread kernel_thread;
    /* PS_WORKER_...; written by the thread that has taken the bit of a worker that is NONE (idle.c), by the watchdog
     * where the worker is WANTED, and by quiesce. */
    _Atomic uint32_t started;
    bool by_watchdog;             /* the watchdog has started its kernel thread; written before that begins */
    const struct ps_team *helped; /* a spare: the team of the last member that it took, and the region; its own */
    uint32_t helped_in;
};
struct vp_worker *vp_worker(const struct vp *vp);

/* wake_spread.h: when a waker tries next, and a vp's part. */
struct ps_wake_tries {
    unsigned in_a_row; /* the last tries that were in vain */
    uint64_t until_ns; /* wake-ups are left as they are until then */
};
struct ps_wake_spread {
    int slept_on, woken_from; /* processors: the vp's own when it parked, and its last waker's (negative: unknown) */
    bool moved;               /* its waker has narrowed its mask; the vp takes it off */
    unsigned pulled;          /* wake-ups to be made elsewhere, since the system made one on the waker's processor */
    struct ps_wake_tries tries;
    uint64_t woken_at_ns; /* of the last try */
    _Atomic uint32_t moving;
    /* the vp's own, from a try to the next time that it parks */
    bool tried;
    uint64_t late_ns, preempted; /* preempted: os_times_preempted */
};
/* Returns vp's part of this, in place; struct vp is in vp.h. */
struct ps_wake_spread *vp_wake_spread(const struct vp *vp);

struct vp_home *vp_home(const struct vp *vp);

/* Single fields, in place. */
/* Ready work that only vp may run. */
_Atomic(struct psthread *) *vp_pinned(const struct vp *vp);
/* PS_REST_... (quota_park.h) */
_Atomic uint32_t *vp_offline(const struct vp *vp);
/* root_fairness.h. When the root asked, if it has opened no region since; else 0. Only the root uses it. */
uint64_t *vp_asked_at(const struct vp *vp);

#endif
