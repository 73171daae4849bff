/* Virtual processors.
 *
 * A vp is carried by one kernel thread: a worker that the library starts at the first need, or a root's own. Slots 0 ..
 * num_vps-1 are the regular ones (0 for the first root, the rest workers). Slots from num_vps on are guests: one for
 * each further kernel thread that uses the library, recycled when it ends. Slots are never freed before
 * psthread_finalize, so that a pointer to a vp may be looked through at any time.
 *
 * This header is for code that reads or writes a vp's fields. What is done with a vp stands in headers of its own:
 *   without its fields   current.h (which one is it?), sources.h (work is put there), idle.h (it is woken), sched.h
 *                        (its threads wait), loop.h
 *   with them            visit.h (work is taken), taken.h, search.h, switch.h */
#ifndef PS_VP_H
#define PS_VP_H

#include "lone_thread.h"
#include "os.h"
#include "queue.h"
#include "run.h"
#include "steal.h"

struct ps_team;
struct uth_tls;

/* Members of one team that have arrived at its barrier on this vp, while others of the team run there:
 * team_barrier.c. */
struct ps_waiters {
    _Atomic uint32_t count; /* in list, and root */
    uint32_t uncounted;     /* of them, whose arrival the team does not know yet */
    struct ps_team *team;
    struct ps_list list;   /* of thread.item.link */
    uint32_t phase;        /* for which they wait */
    struct psthread *root; /* the one on the kernel thread's own stack; NULL: it is not among them */
    /* "Turns" there: openings until this one's end, and when it began; owner only, with the lock or without. */
    uint32_t turn_left;
    uint64_t turn_began;
};

/* Whether thieves are to leave a vp's queue alone, but for a peek now and then (serial_predictor.h). */
enum { PS_CLOSED_NOT, PS_CLOSED, PS_CLOSED_CALLED_OFF };

/* A worker's kernel thread. kernel_thread is valid (release, acquire) where it RUNS. */
enum { PS_WORKER_NONE, PS_WORKER_STARTING, PS_WORKER_RUNS, PS_WORKER_REFUSED };

/* In a vp's `attached`. A slot is claimed as one or the other, so that no thread ever takes a spare for a root. */
enum { PS_ATTACHED = 1, PS_ATTACHED_OURS };

/* Whether a worker's kernel thread is a standby, in its vp's by_standby. Written before `started` is RUNS, by the
 * thread that starts it; THROUGH (release) by the standby, as its last access; read by the thread that stops the
 * workers. */
enum { PS_STANDBY_NONE, PS_STANDBY_CARRIES, PS_STANDBY_THROUGH };

/* Of a kernel thread that carries one thread alone, in its vp's alone_state. */
enum { PS_ALONE_STARTS, PS_ALONE_STARTED, PS_ALONE_LEFT };

/* In a vp's `pinned`: it is to rest (quota_park.h). No thread has this address. */
#define PS_PINNED_REST ((struct psthread *)1)

struct vp {
    struct vp_run run;
    /* the vp's own */
    bool by_watchdog;        /* the watchdog has started its kernel thread; written before that begins */
    uint64_t spin_ns;        /* how long it searches before it parks (adaptive_spin.h); owner only */
    uint8_t apart;           /* apart.h; owner only */
    bool opened;             /* its root has opened a region; owner only */
    bool starts_like_opener; /* promote.c: it starts kernel threads for members of a region that it opens; owner only */
    bool searching;          /* counted in idle's searching; owner only (the waker counts for a parked one) */
    unsigned place;          /* that its kernel thread is bound to, from 1; 0: none */
    struct ps_magazine threads; /* descriptors (descriptor.h) */
    char *slab;                 /* rest of the slab that they are carved from */
    size_t slab_left;
    /* [num_vps - 1] regular vps in visiting order; NULL: all, cyclically from its own. Written once (release). */
    _Atomic(const uint16_t *) victims;
    uint16_t victims_end[PS_STEAL_LEVELS]; /* where each level ends among them (steal.h); written before victims is */
    struct vp *peeked; /* the vp whose queue was closed at its last peek, and that one's serial_regions; owner only */
    uint32_t peeked_region;
    unsigned deal;                           /* cyclic distribution of outer threads */
    uint64_t rechecked_at;                   /* cpu_cycles at the last look for loaded objects */
    uint64_t look_at, waits;                 /* root_spread.h */
    unsigned meetings;                       /* root_spread.h */
    _Atomic uint64_t made, submitted, ended; /* threads; written by the vp, summed by psthread_finalize */
    /* Visits to other queues that found something, by the level that the victim is in; the last number counts guests as
     * victims. Written by the vp, read by dump.c. */
    _Atomic uint64_t thefts[PS_STEAL_LEVELS + 1];
    os_thread kernel_thread;   /* workers */
    struct os_cpuset own_mask; /* with place: its kernel thread's mask of before */
    uintptr_t detour_from;     /* preempt.c: of a thread on its way to give way */
    uint64_t deaf_mask;        /* with is_deaf */
    /* A root's: signal mask, processors and name of its kernel thread outside of regions, which threads begin with that
     * are promoted in its regions. One that carries a thread alone: what it begins with. */
    uint64_t outer_mask;
    struct os_cpuset outer_cpus;
    char outer_name[OS_THREAD_NAME_BYTES];
    uint64_t inner_mask;  /* what a root, or the thread alone, has set last, inside of regions too */
    bool outer_changed;   /* it has set its own since its last region; owner only */
    _Atomic bool changed; /* a root's: what kernel threads begin with was set here, inside of a region (starter.h) */
    const struct psthread *forked_as; /* in a forked child: what ran here at the fork, and in which region, if it was */
    uint32_t forked_region;           /* a member; owner only */
    struct vp *home, *came_from;      /* promote.c: of the context that it carries alone; owner only */
    _Atomic uint64_t signals_sent;    /* to alone_for, bits from 0: senders set, the thread takes; directed_leaves */
    _Atomic uint32_t alone_state, alone_ends; /* promote.c: PS_ALONE_..., the kernel thread's; 1: it is to end */
    _Atomic uint32_t alone_sleeps;            /* promote.c: written by the kernel thread; for deadlock.c */
    _Atomic uint32_t alone_given_up; /* promote.c: by a handler that had no use for it; taken where the vp ends */
    struct ps_lone lone_thread;      /* how often it looks into queues while it searches; owner only */
    _Atomic uint32_t directed;       /* directed.c: senders to its thread, and where a handler would run */

    PS_LINE_ALIGNED struct ps_queue queue;
    struct ps_waiters waiters; /* guarded by the queue's lock; count is looked at without it */

    PS_LINE_ALIGNED _Atomic uint64_t handoff;

    /* What only this vp may run and that is ready: a context (its uth is adopted), or PS_PINNED_REST; NULL: nothing.
     * Written by the thread that readies it, taken by the vp. */
    _Atomic(struct psthread *) pinned;
    _Atomic uint64_t seen_at; /* its root opened an outermost region, in cpu_cycles, on processor cpu: root_spread.h */
    _Atomic uint32_t cpu;
    _Atomic uint32_t wake_word;  /* idle.h. 1: a wake is due; taken by the vp */
    _Atomic uint32_t wake_alone; /* promote.h: the same, of a vp that waits for `pinned` alone */
    _Atomic uint32_t turn;       /* root_fairness.h */
    _Atomic uint32_t rest;       /* quota_park.h */
    /* 1: its root was stuck behind a thread here; the watchdog sets it for good, threads that wake others here read
     * it */
    _Atomic uint32_t root_first;
    /* Not 0: a kernel thread carries it, PS_ATTACHED_OURS: one of the library's in a guest's slot. */
    _Atomic uint32_t attached;
    /* Workers: PS_WORKER_...; written by the thread that has taken the bit of one that is NONE (idle.c), and by
     * quiesce. */
    _Atomic uint32_t started;
    _Atomic uint32_t by_standby; /* PS_STANDBY_... */
    _Atomic uint32_t
        serial_regions; /* run alone by its root (serial_predictor.h): written by the vp, read by thieves that peek */

    /* Read in every search of others, hence on a line that seldom changes: PS_CLOSED_... Set by its root, at an
     * outermost region's start; to PS_CLOSED_CALLED_OFF by a thief. Relaxed: it says where to look less often, not what
     * is there. */
    PS_LINE_ALIGNED _Atomic uint32_t closed;
};

static inline void vp_count_made(struct vp *vp) { ps_store_relaxed(&vp->made, ps_load_relaxed(&vp->made) + 1); }
static inline void vp_count_submitted(struct vp *vp)
{
    ps_store_relaxed(&vp->submitted, ps_load_relaxed(&vp->submitted) + 1);
}
static inline void vp_count_theft(struct vp *vp, unsigned level)
{
    ps_store_relaxed(&vp->thefts[level], ps_load_relaxed(&vp->thefts[level]) + 1);
}
static inline void vp_count_ended(struct vp *vp) { ps_store_release(&vp->ended, ps_load_relaxed(&vp->ended) + 1); }
static inline bool vp_root_wanted(struct vp *vp)
{
    return PS_UNLIKELY(ps_load_relaxed(&vp->root_first)) && ps_load_relaxed(&vp->pinned);
}

#endif
