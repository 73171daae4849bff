/* Virtual processors and the runtime they make up.
 *
 * A vp is carried by one kernel thread: a worker that the library starts at the first need, or a root's own. Slots 0
 * .. num_vps-1 are the regular ones (0 for the first root, the rest workers); slots from num_vps on are guests: one
 * for each further kernel thread that uses the library, recycled when it ends. Slots are never freed before
 * psthread_finalize, so that a pointer to a vp may be looked through at any time.
 *
 * Switching. Every switch goes through vp_leave; what must happen on the other side (the left uth's context is saved;
 * a dead uth goes to the cache) is done by vp_arrived. */
#ifndef PS_VP_H
#define PS_VP_H

#include "bind.h"
#include "idle.h"
#include "os.h"
#include "queue.h"
#include "rest.h"
#include "sched.h"
#include "team.h"
#include "thread.h"
#include "tls.h"
#include "uth.h"

/* What find_work hands to a loop: a thread (id 0), a claimed member of a team (its number, never 0), or nothing.
 * Two words, so that it travels in registers. */
struct ps_work {
    void *what;
    uintptr_t id;
};
#define PS_NO_WORK ((struct ps_work){0})
static inline bool ps_work_some(struct ps_work w) { return w.what != NULL; }
static inline struct psthread *ps_work_thread(struct ps_work w) { return w.id ? NULL : w.what; }
static inline struct ps_team *ps_work_team(struct ps_work w) { return w.id ? w.what : NULL; }
static inline struct ps_work ps_work_of(struct psthread *t) { return (struct ps_work){.what = t}; }

/* Mailbox: MAIL_BUSY, MAIL_IDLE, or a team and a member number. The vp sets IDLE when it has nothing to do and takes
 * it back by compare-and-swap; a parent that opens an outermost region replaces IDLE by its message, and may take that
 * back. */
#define MAIL_BUSY ((uint64_t)0)
#define MAIL_IDLE ((uint64_t)1)

/* A message packs the team's address (line-aligned, below 2^56) and the member's number (below PS_MAIL_MAX_ID). */
#define PS_MAIL_ID_BITS 13
#define PS_MAIL_MAX_ID (1u << PS_MAIL_ID_BITS)
static inline uint64_t ps_mail(struct ps_team *team, unsigned id)
{
    return (uint64_t)(uintptr_t)team / PS_CACHE_LINE << PS_MAIL_ID_BITS | id;
}
static inline struct ps_team *ps_mail_team(uint64_t mail)
{
    return (struct ps_team *)(uintptr_t)((mail >> PS_MAIL_ID_BITS) * PS_CACHE_LINE);
}
static inline unsigned ps_mail_id(uint64_t mail) { return (unsigned)(mail & (PS_MAIL_MAX_ID - 1)); }

/* Members of one team that have arrived at its barrier on this vp, while others of the team run there:
 * team_barrier.c. */
struct ps_waiters {
    _Atomic uint32_t count; /* in list, and root */
    uint32_t uncounted;     /* of them, whose arrival the team does not know yet */
    struct ps_team *team;
    struct ps_list list;   /* of thread.item.link */
    uint32_t phase;        /* for which they wait */
    struct psthread *root; /* the one on the kernel thread's own stack; NULL: it is not among them */
};

/* Whether thieves are to leave a vp's queue alone, but for a peek now and then (crumbs.h). */
enum { PS_KEEPS_NOTHING, PS_KEEPS_ALL, PS_KEEPS_CALLED_OFF };

/* A worker's kernel thread. kernel_thread is valid (release, acquire) where it RUNS. */
enum { PS_WORKER_NONE, PS_WORKER_STARTING, PS_WORKER_RUNS, PS_WORKER_REFUSED };

/* Of a kernel thread that carries one thread alone, in its vp's alone_state. */
enum { PS_ALONE_STARTS, PS_ALONE_STARTED, PS_ALONE_LEFT };

/* The vp that the calling kernel thread carries; for vp.c. */
extern __thread struct vp *ee_here __attribute__((tls_model("initial-exec"), visibility("hidden")));

struct vp {
    /* line 0, 1: the vp's own */
    struct psthread *current; /* NULL while its loop looks for work; first (ee.h) */
    struct uth *uth;          /* the stack it runs on */
    struct uth_tls *tls;      /* the thread-local block it has entered; NULL: the kernel thread's own */
    void *own_tp;             /* the kernel thread's own thread pointer */
    int *own_errno;           /* and its errno */
    struct uth *left_uth;     /* the stack of the switch under way */
    bool left_dies;
    bool is_guest;
    bool is_spare;        /* carried by a kernel thread of the monitor's */
    bool by_monitor;      /* the monitor has started its kernel thread; written before that begins */
    uint64_t patience_ns; /* how long it searches before it parks (patience.h); owner only */
    struct uth_tls
        *alone_for; /* it carries this thread and nothing else (promote.h); NULL: any. Constant while attached */
    bool held;      /* the runtime goes on with this vp after calling what the program may have replaced (malloc) */
    bool searching; /* counted in idle's searching; owner only (the waker counts for a parked one) */
    unsigned id;
    unsigned place;         /* that its kernel thread is bound to, from 1; 0: none */
    struct ps_work handoff; /* for the loop that starts next */
    struct uth_cache stacks;
    struct psthread *free_threads;
    unsigned num_free;
    char *slab; /* rest of the slab that descriptors are carved from */
    size_t slab_left;
    /* [num_vps - 1] regular vps in visiting order; NULL: all, cyclically from its own. Written once (release). */
    _Atomic(const uint16_t *) victims;
    struct vp *peeked; /* the vp that kept what it has at its last peek, and that one's kept_regions; owner only */
    uint32_t peeked_region;
    unsigned deal;           /* cyclic distribution of outer threads */
    unsigned yields;         /* ee_yield: since the last time that it stood back for other kernel threads */
    unsigned in_vain;        /* threads that it would have gone on with, which still ran */
    uint64_t rechecked_at;   /* cpu_cycles at the last look for loaded objects */
    uint64_t look_at, waits; /* apart.h */
    unsigned meetings;       /* apart.h */
    _Atomic uint64_t made, submitted, ended; /* threads; written by the vp, summed by psthread_finalize */
    void *slot;                              /* ee_carrier_slot */
    struct uth native;                       /* the kernel thread's own stack */
    struct psthread root;      /* its thread, where the kernel thread is a root's; a worker's request to rest */
    os_thread kernel_thread;   /* workers */
    struct os_cpuset own_mask; /* with place: its kernel thread's mask of before */
    uintptr_t detour_from;     /* preempt.c: of a thread on its way to give way */
    /* A root's: signal mask and processors of its kernel thread outside of regions, which threads begin with that are
     * promoted on it. One that carries a thread alone: what it begins with. */
    uint64_t outer_mask;
    struct os_cpuset outer_cpus;
    struct vp *home, *came_from;              /* promote.c: of the context that it carries alone; owner only */
    _Atomic uint32_t alone_state, alone_ends; /* promote.c: PS_ALONE_..., the kernel thread's; 1: it is to end */
    _Atomic uint32_t alone_sleeps;            /* promote.c: written by the kernel thread; for deadlock.c */
    _Atomic uint32_t directed;                /* directed.c: who sends its thread a signal, and where that would run */

    PS_LINE_ALIGNED struct ps_queue queue;
    struct ps_waiters waiters; /* guarded by the queue's lock; count is looked at without it */

    PS_LINE_ALIGNED _Atomic uint64_t mail;

    /* The one context that only this vp may run and that is ready (its uth is adopted); NULL: none.
     * Written by who readies it, taken by the vp. */
    _Atomic(struct psthread *) pinned;
    _Atomic uint64_t ticks;   /* scheduling points passed; written by the vp, read by the monitor */
    _Atomic uint64_t seen_at; /* its root opened an outermost region, in cpu_cycles, on processor cpu: apart.h */
    _Atomic uint32_t cpu;
    _Atomic int tid;            /* the system's number of its kernel thread; for the monitor */
    _Atomic uint32_t wake_word; /* 1: a wake is due; taken by the vp */
    _Atomic uint32_t turn;      /* turns.h */
    _Atomic uint32_t rest;      /* rest.h */
    /* 1: its root was stuck behind a thread here; the monitor sets it for good, who wakes others here reads it */
    _Atomic uint32_t root_first;
    _Atomic uint32_t attached; /* 1: a kernel thread carries it */
    /* Workers: PS_WORKER_...; written by who has taken the bit of one that is NONE (idle.c), and by quiesce. */
    _Atomic uint32_t started;
    _Atomic uint32_t kept_regions; /* that its root has kept (crumbs.h): written by the vp, read by those who peek */

    /* Read in every search of others, hence on a line that seldom changes: PS_KEEPS_... Set by its root, at an
     * outermost region's start; to CALLED_OFF by a thief. Relaxed: it says where to look less often, not what is
     * there. */
    PS_LINE_ALIGNED _Atomic uint32_t keeps;
};

/* The vp passes a scheduling point: it is not stuck. */
static inline void vp_tick(struct vp *vp) { ps_store_relaxed(&vp->ticks, ps_load_relaxed(&vp->ticks) + 1); }
static inline void vp_count_made(struct vp *vp) { ps_store_relaxed(&vp->made, ps_load_relaxed(&vp->made) + 1); }
static inline void vp_count_submitted(struct vp *vp)
{
    ps_store_relaxed(&vp->submitted, ps_load_relaxed(&vp->submitted) + 1);
}
static inline void vp_count_ended(struct vp *vp) { ps_store_release(&vp->ended, ps_load_relaxed(&vp->ended) + 1); }

#define PS_MAX_VPS IDLE_MAX
#define PS_MAX_SPARES 2000 /* unless it is said: a hand-made barrier of as many threads opens */

struct ps_runtime {
    unsigned num_vps;       /* regular ones; constant after init */
    _Atomic uint32_t limit; /* of these, 0 .. limit-1 may carry work (rest.h) */
    size_t stack_size;
    bool keeps_crumbs;       /* outermost regions may be kept to their parent (crumbs.h); constant after init */
    unsigned spin_limit;     /* pauses worth about two context switches */
    uint64_t recheck_cycles; /* PS_RECHECK_NS in cpu_cycles */
    uint64_t search_ns;      /* how long an idle vp searches before it parks, at most */
    bool search_learns;      /* patience.h */
    bool block_on_idle;      /* passive: never spin for another thread */
    bool has_global;
    bool verbose;
    unsigned max_spares;                /* 0: no monitor */
    _Atomic(struct ps_places *) places; /* NULL: nothing is ever bound (bind.h) */
    _Atomic bool tls;           /* threads have thread-local blocks of their own; may turn true, never false again */
    struct ps_queue global;     /* optional queue for coarse threads */
    _Atomic uint32_t num_slots; /* vps in use or once used: the range worth visiting */
    _Atomic uint32_t stopping;
    _Atomic uint32_t quiescing;          /* roots that come now wait until the workers can be started again */
    _Atomic uint32_t num_kernel_threads; /* workers alive */
    _Atomic(struct vp *) vp[PS_MAX_VPS];
};
extern struct ps_runtime ps_rt;

static inline bool ps_places_on(void) { return PS_UNLIKELY(ps_load_relaxed(&ps_rt.places) != NULL); }

static inline struct vp *ps_vp_at(unsigned id) { return ps_load_acquire(&ps_rt.vp[id]); }

/* The vp that the calling kernel thread carries; NULL: none. Never inlined (see ps_current). */
struct vp *ps_vp(void);
/* The same, attaching a root at need. */
struct vp *ps_vp_attach(void);

/* The regular and guest vps that run whatever is ready, each its own root if it has one. */
static inline bool vp_is_roots(const struct vp *vp)
{
    return !vp->is_spare && !vp->alone_for && (vp->is_guest || vp->id == 0);
}

/* Between these two a vp that carries a thread alone runs it: t, whose context is bound to vp, from vp's native stack;
 * back to that one, where the context gets the block `tls` to go on with, and whose it is from then on is the caller's
 * to have published. The latter returns on another vp. */
void vp_run_alone(struct vp *vp, struct psthread *t);
void vp_leave_alone(struct vp *vp, struct uth *context, struct uth_tls *tls);
/* The running thread leaves vp, which goes on with what else is ready; its context is bound to another vp, and
 * published there. */
void vp_leave_bound(struct vp *vp, struct psthread *self);

/* Something ready in the vp's own reach: pinned context, then the front of its queue, then of its places'. */
struct ps_work vp_take_own(struct vp *vp);
struct ps_work vp_take_front(struct ps_queue *q);
/* vp is about to run t: its kernel thread goes where t belongs. */
static inline void vp_follow(struct vp *vp, const struct psthread *t)
{
    if (ps_places_on())
        vp_follow_slow(vp, t);
}
/* Runs a loop in the place of the caller, whose uth is free to be used: never returns. */
PS_NORETURN void vp_loop(struct vp *vp, struct uth *self);
/* Ends what runs on the current uth for good and goes on with a fresh loop (psthread_exit). */
PS_NORETURN void vp_abandon(struct vp *vp);

/* self, which runs on vp and is not bound to it, goes back to its queue, and the vp's own root runs; false: that is
 * not ready. */
bool vp_give_way_to_root(struct vp *vp, struct psthread *self);

/* The vp's loop is about to look for work and has none at hand: mail may come from now on. Before a member is counted
 * out, so that the parent's next region finds the mailbox open. */
void vp_offer(struct vp *vp);

/* ps_team_barrier_meet where members share vps: the member joins the waiters of its vp, and the thread that the vp
 * would run next runs, if that is of the same team and the region has no tasks; else as ps_team_barrier_count. May
 * switch. */
enum ps_met vp_wait_in_batch(struct ps_team *team, struct ps_member *m, uint32_t phase);
static inline bool vp_root_wanted(struct vp *vp)
{
    return PS_UNLIKELY(ps_load_relaxed(&vp->root_first)) && ps_load_relaxed(&vp->pinned);
}
static inline bool vp_has_waiters(struct vp *vp) { return ps_load_acquire(&vp->waiters.count) != 0; }

/* Inserts and wakes somebody if that helps. */
void vp_enqueue(struct vp *target, struct ps_item *item, enum ps_end end);
/* The same with n threads at once, a ring of their links that begins with `first`: none of them bound. At the back. */
void vp_enqueue_ring(struct vp *target, struct ps_list *first, unsigned n);
void vp_enqueue_global(struct ps_item *item, enum ps_end end);

/* Runs the destructors of t's keys: while it is still in its thread-local block. May switch; returns the vp. */
struct vp *ps_thread_end_keys(struct vp *vp, struct psthread *t);
/* A member's identity ends, in the name of which the caller waits for threads that it has made, and runs its keys'
 * destructors. May switch. */
void ps_thread_end_member(struct psthread *t);
/* Ends thread t, which runs on this vp: called by the loop when its function has returned. May switch (destructors;
 * children of a descriptor that is the user's); returns the vp. */
struct vp *ps_thread_end(struct vp *vp, struct psthread *t, void *result);
/* Thread-local blocks where objects that were loaded meanwhile want them. The calling root has loaded none if it last
 * looked less than PS_RECHECK_NS ago: opening a file and mapping it takes longer. What another kernel thread loads
 * meanwhile is not ordered with the region anyway. Returns what the cycle counter said. */
uint64_t ps_recheck_tls(struct vp *vp);
#define PS_RECHECK_NS 4000
void ps_thread_init_root(struct psthread *t, struct vp *vp, struct uth *uth);
/* The root's kernel thread ends: its descriptor is given up. wait: for the threads that it has made. */
void ps_thread_end_root(struct psthread *t, bool wait);
bool ps_stack_size_sensible(size_t bytes);
/* The thread that runs on vp lets others run until every thread that was submitted has ended. */
void ps_wait_for_all(struct vp *vp);

/* Thread-local blocks (uth/tls.h). vp enters a block, or with NULL its kernel thread's own; the current vp is
 * written anew there. */
void vp_enter_tls(struct vp *vp, struct uth_tls *tls);
/* The same, inlined where tls is a block that the vp has been in last. */
static inline void vp_enter_tls_here(struct vp *vp, struct uth_tls *tls)
{
    if (PS_LIKELY(tls && uth_tls_enter_again(tls, vp, ps_load_relaxed(&vp->tid))))
        vp->tls = tls;
    else
        vp_enter_tls(vp, tls);
}
static inline bool ps_tls_on(void) { return PS_UNLIKELY(ps_load_relaxed(&ps_rt.tls)); }
/* A block for a thread that begins on the uth that runs now; NULL where there is no memory for one: said once. */
struct uth_tls *vp_new_tls(struct vp *vp);
/* One for a thread that is to begin some time; NULL: none, and nobody is told. */
struct uth_tls *vp_try_tls(struct vp *vp);
/* Ends and gives back the block that the running thread is in. Runs the program's destructors, may switch; returns
 * the vp. */
struct vp *vp_end_tls(struct vp *vp);

/* The errno that a thread without a block of its own shares with all that run on vp: to be kept over what may
 * switch. */
static inline int vp_errno(const struct vp *vp) { return *vp->own_errno; }
static inline void vp_set_errno(struct vp *vp, int value)
{
    if (PS_LIKELY(!vp->tls))
        *vp->own_errno = value;
}

/* What the entity layer asks for before the library starts. */
struct ps_settings {
    unsigned num_vps;               /* 0: not said */
    size_t stack_bytes;             /* 0: not said */
    uint64_t search_ns;             /* UINT64_MAX: not said */
    bool passive;                   /* idle vps park at once, waiting threads do not spin */
    void (*root_exit)(void *local); /* a root ends: called with its local pointer */
    void (*describe)(char *buf, size_t bytes);
    unsigned max_spares;                        /* 0: none */
    const struct ps_debug_layout *debug_layout; /* of what the threads are to the entity layer; NULL: nothing */
    const char *stack_variable;                 /* the one that raises a thread's stack size */
};
void ps_configure(const struct ps_settings *wanted);

/* Says that the calling kernel thread carries vp (NULL: none). */
void vp_carry(struct vp *vp);
/* Runs the loop until the library stops; the caller stands on vp->native. */
void vp_enter_loop(struct vp *vp);
/* The stack that runs on the calling kernel thread, for overflow reports; async-signal-safe. */
struct uth *ps_current_uth(void);
void ps_describe_current(char *buf, size_t bytes);

/* runtime.c */
/* Gives every regular vp its visiting order, once; reads the topology: called by a vp that has nothing else to do. */
void ps_prepare_victims(void);
bool ps_victims_prepared(void);
void ps_descriptors_release_all(void);
void ps_descriptors_after_fork_in_child(void);
/* Stops the workers and gives idle stacks back; they start again at need. Where other roots are about, which may be in
 * regions, the caller's stacks only. Caller: a root outside of every region. */
void ps_quiesce(void);
/* Joins and forgets everything but the calling kernel thread: in a forked child. */
void ps_after_fork_in_child(void);
/* The process's initial thread has ended, by pthread_exit. */
bool ps_main_ended(void);
/* Nobody is left who could do anything: exit(0), from a kernel thread of its own. */
void ps_end_process(void);
void ps_start(void); /* with the defaults, if nobody has started the library yet */
bool ps_started(void);
int vp_start_worker(struct vp *vp);
void *vp_worker_main(void *arg);
/* A guest vp carried by a new kernel thread, for the monitor. */
int vp_start_spare(void);
/* A guest vp for a kernel thread that will carry block's thread alone; NULL: there are too many. And back. */
struct vp *vp_claim_alone(struct uth_tls *block);
void vp_alone_ended(struct vp *vp);

#endif
