/* The library as a whole: what it was started with, its vps, its start and end. life.h says which file has what. */
#ifndef PS_RUNTIME_H
#define PS_RUNTIME_H

#include "atomic.h"
#include "compiler.h"
#include "cpu.h"
#include "idle.h"
#include "os.h"
#include "queue.h"
#include "steal.h"

struct ps_debug_layout;
struct ps_places;
struct psthread;
struct uth;
struct uth_tls;
struct ps_team;
struct vp;

#define PS_MAX_VPS IDLE_MAX
#define PS_MAX_WORKERS 2048 /* each has a list of all others (steal.c) */
#define PS_MAX_SPARES 2000  /* unless it is said: a hand-made barrier of as many threads opens */

struct ps_runtime {
    unsigned num_vps;       /* regular ones; constant after init */
    _Atomic uint32_t limit; /* of these, 0 .. limit-1 may carry work (quota_park.h) */
    size_t stack_size;
    bool predicts_serial; /* outermost regions may be kept to their parent (serial_predictor.h); constant after init */
    unsigned spin_limit;  /* pauses worth about two context switches */
    uint64_t per_region_cycles; /* PS_PER_REGION_NS in cpu_cycles */
    uint64_t search_ns;         /* how long an idle vp searches before it parks, at most */
    bool search_learns;         /* adaptive_spin.h */
    bool block_on_idle;         /* passive: never spin for another thread */
    bool has_global;
    bool verbose;
    struct cpu_float floats;            /* plain ones: those of the thread that has started the library (floats.h) */
    const bool *floats_of_opener;       /* whether members begin with the opener's (floats.h); NULL: no */
    unsigned max_spares;                /* 0: no watchdog */
    _Atomic(struct ps_places *) places; /* NULL: nothing is ever bound (bind.h) */
    _Atomic bool tls;           /* threads have thread-local blocks of their own; may turn true, never false again */
    struct ps_queue global;     /* optional queue for coarse threads */
    _Atomic uint32_t num_roots; /* attached; the second is counted before it has made anything (home_is_aside) */
    _Atomic bool
        roots_leave; /* a root was released or has a dedicated kernel thread, or there is a forked_root: never false
                                  * again (home.h) */
    const struct psthread *forked_root; /* in a child: a member or thread that has forked, which is a root there */
    struct vp *forked_home;             /* the home of that thread */
    bool homes_stand_aside;             /* a layer above opens regions (home.h); constant */
    _Atomic uint32_t table_size;        /* vps in use or once used: the range worth visiting */
    _Atomic uint32_t stopping;
    _Atomic uint32_t quiescing;          /* roots that come now wait until the workers can be started again */
    _Atomic uint32_t num_kernel_threads; /* workers alive */
    _Atomic(struct vp *) vp[PS_MAX_VPS];
    /* Names of the visiting orders' levels ("l3", "group2"), for dump.c. Empty: there is no such level, or no order.
     * Written once, with the orders. */
    char level_name[PS_STEAL_LEVELS][8];
};
extern struct ps_runtime ps_rt __attribute__((visibility("hidden")));

static inline bool ps_places_on(void) { return PS_UNLIKELY(ps_load_relaxed(&ps_rt.places) != NULL); }

static inline struct vp *ps_vp_at(unsigned id) { return ps_load_acquire(&ps_rt.vp[id]); }

/* Gives threads blocks of their own if objects that were loaded meanwhile want them. The calling root has loaded none
 * if it last looked less than PS_PER_REGION_NS ago: opening a file and mapping it takes longer. What another kernel
 * thread loads meanwhile is not ordered with the region anyway. Returns the cycle counter. */
uint64_t ps_per_region_work(struct vp *vp, struct ps_team *team);
#define PS_PER_REGION_NS 4000
bool ps_stack_size_sensible(size_t bytes);

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
    const bool *floats_of_opener;               /* floats.h; NULL: no */
};
void ps_configure(const struct ps_settings *wanted);
/* What the entity layer keeps for t ends, if t was a root to it. */
void ps_end_local(struct psthread *t);

/* Stops the workers and frees idle stacks; workers start again when needed. Where there are other roots, which may be
 * in regions, frees the caller's stacks only. Caller: a root outside of every region. */
void ps_quiesce(void);
/* Called in a forked child: forgets all kernel threads but the caller. */
void ps_after_fork_in_child(void);
void ps_start(void); /* with the defaults, if the library is not started yet */
/* Values of a vp's `attached`: a kernel thread carries it; OURS: a kernel thread of the library's, in a guest's slot. A
 * slot is claimed with its value, so that no thread ever takes a spare for a root. */
enum { PS_ATTACHED = 1, PS_ATTACHED_OURS };
/* Returns vp's `attached`, in place; struct vp is in vp.h. */
_Atomic uint32_t *vp_attached(const struct vp *vp);

int vp_start_worker(struct vp *vp);
/* Returns the mask for a kernel thread of the library's that the caller is about to start: never a mask that a root has
 * set inside of a region. */
uint64_t vp_mask_to_start_with(void);
void *vp_worker_main(void *arg);
/* Sets a spare to work: one that stands by (standby.h), or a new one. Callers: the watchdog, or a root. Returns 0, or
 * an errno value where there is no spare. */
int vp_get_spare(void);
/* Starts a new spare, which stands by until it is called. */
int vp_start_standby(void);
/* Claims a guest vp for a kernel thread that will be dedicated to block's thread; NULL: there are too many.
 * vp_dedicated_ended gives it back. */
struct vp *vp_claim_dedicated(struct uth_tls *block);
void vp_dedicated_ended(struct vp *vp);

#endif
