/* The library as a whole: its settings, its vps, its start and stop. life.h names the files that do this. */
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
#define PS_MAX_WORKERS 2048 /* each worker has a list of all others (steal.c) */
/* The most spares by default. A barrier of spin loops, made by the program, opens in the end if up to about this many
 * threads meet in it. */
#define PS_MAX_SPARES 2000

struct ps_runtime {
    unsigned num_vps;       /* how many vps there are, guests not counted; constant after init */
    _Atomic uint32_t limit; /* vps 0 .. limit-1 may carry work, and all guests (quota_park.h) */
    size_t stack_size;
    bool predicts_serial;       /* a parent may run outermost regions alone (serial_predictor.h); constant after init */
    unsigned spin_limit;        /* how many pauses take as long as two context switches */
    uint64_t per_region_cycles; /* PS_PER_REGION_NS, in units of cpu_cycles */
    uint64_t search_ns;         /* the longest time that an idle vp searches before it parks */
    bool search_learns;         /* each vp learns how long it searches (adaptive_spin.h) */
    bool block_on_idle;         /* true: no thread spins for another one (the passive wait policy) */
    bool has_global;
    bool verbose;
    /* The plain controls: those of the thread that started the library (floats.h). */
    struct cpu_float floats;
    /* With which rounding and traps members begin (floats.h). If this points to true: with those of the region's
     * opener. If it points to false, or is NULL: a member of an outermost region that has run before keeps those
     * that it had at the end of its last region; every other member begins with the opener's. */
    const bool *floats_of_opener;
    unsigned max_spares;                /* the most spares; 0: there is no watchdog either */
    _Atomic(struct ps_places *) places; /* NULL: no member is ever bound (bind.h) */
    _Atomic bool tls;       /* Threads have thread-local blocks of their own. May become true, and stays true. */
    struct ps_queue global; /* the global queue, which a program may ask for */
    /* The number of attached roots. A second root is counted before it has made any thread (home_is_aside). */
    _Atomic uint32_t num_roots;
    /* Set for good once a root was released or got a dedicated kernel thread, or there is a forked_root (home.h). */
    _Atomic bool roots_leave;
    /* In a child that a member, or another thread that is no root, has forked: that thread, which is a root there. NULL
     * otherwise. */
    const struct psthread *forked_root;
    struct vp *forked_home;      /* the home of forked_root */
    bool homes_stand_aside;      /* the entity layer opens regions (home.h); constant */
    _Atomic uint32_t table_size; /* slots 0 .. table_size-1 have or had a vp; loops over all vps end there */
    _Atomic uint32_t stopping;
    /* 1: the library's kernel threads are being stopped. A new root waits until they may be started again. */
    _Atomic uint32_t quiescing;
    /* how many kernel threads of workers, spares and dedicated threads are alive */
    _Atomic uint32_t num_kernel_threads;
    _Atomic(struct vp *) vp[PS_MAX_VPS];
    /* Names of the levels of the visiting orders ("l3", "group2"), for dump.c. Empty: no such level, or no order.
     * Written once, together with the orders. */
    char level_name[PS_STEAL_LEVELS][8];
};
extern struct ps_runtime ps_rt __attribute__((visibility("hidden")));

static inline bool ps_places_on(void) { return PS_UNLIKELY(ps_load_relaxed(&ps_rt.places) != NULL); }

static inline struct vp *ps_vp_at(unsigned id) { return ps_load_acquire(&ps_rt.vp[id]); }

/* Does the work that a root does now and then as it opens an outermost region (region_checks.c), unless it did so
 * less than PS_PER_REGION_NS ago. In so short a time the root cannot have loaded an object, since to open and map a
 * file takes longer. What another kernel thread loads meanwhile is not ordered with the region anyway. Returns the
 * cycle counter. */
uint64_t ps_per_region_work(struct vp *vp, struct ps_team *team);
#define PS_PER_REGION_NS 4000
bool ps_stack_size_sensible(size_t bytes);

/* What the entity layer sets before the library starts. */
struct ps_settings {
    unsigned num_vps;               /* 0: the default */
    size_t stack_bytes;             /* 0: the default */
    uint64_t search_ns;             /* UINT64_MAX: the default */
    bool passive;                   /* true: no thread spins for another one, and serial regions are not predicted */
    void (*root_exit)(void *local); /* called with a root's `local` when the root ends */
    void (*describe)(char *buf, size_t bytes);
    unsigned max_spares; /* the most spares; 0: none */
    /* The layout of what the entity layer keeps for its threads, for debuggers; NULL: it keeps nothing. */
    const struct ps_debug_layout *debug_layout;
    /* the environment variable that raises a thread's stack size, for messages */
    const char *stack_variable;
    const bool *floats_of_opener; /* see ps_rt.floats_of_opener */
};
void ps_configure(const struct ps_settings *wanted);
/* If t has a `local`, gives it to the entity layer's root_exit, and clears it. */
void ps_end_local(struct psthread *t);

/* Stops the workers, unless there are other roots, which may be in regions. Workers start again when they are needed.
 * Gives the memory of unused stacks and blocks back. Caller: a root outside of every region. */
void ps_quiesce(void);
/* Called in a forked child: forgets all kernel threads except the caller. */
void ps_after_fork_in_child(void);
void ps_start(void); /* starts the library with the defaults, if it is not started yet */
/* Values of a vp's `attached`, while a kernel thread carries the vp and it is not offline. PS_ATTACHED_OURS: the vp
 * is a guest, and its kernel thread is the library's. The value is set when the slot is claimed, so no thread takes
 * a spare for a root. */
enum { PS_ATTACHED = 1, PS_ATTACHED_OURS };
/* Returns a pointer to vp's `attached`. */
_Atomic uint32_t *vp_attached(const struct vp *vp);

/* Starts the kernel thread of worker vp. Returns 0 or an errno value. vp_worker_main: the main function of the kernel
 * threads of workers and spares; arg: the vp. */
int vp_start_worker(struct vp *vp);
/* Called when the caller is about to start a kernel thread of the library. Returns the signal mask with which this
 * kernel thread is to take signals, once it unblocks them. It is never a mask that a root has set inside of a
 * region. */
uint64_t vp_mask_to_start_with(void);
void *vp_worker_main(void *arg);
/* Calls a spare to work: one that stands by (standby.h), or a new one. Callers: the watchdog, or a root. Returns 0,
 * or an errno value if no spare can be had. */
int vp_get_spare(void);
/* Starts a new spare, which counts as at work until it stands by. Returns 0 or an errno value. */
int vp_start_standby(void);
/* Claims a guest vp for a dedicated kernel thread of block's thread; NULL: there are too many vps, or no memory.
 * vp_dedicated_ended gives the vp back. */
struct vp *vp_claim_dedicated(struct uth_tls *block);
void vp_dedicated_ended(struct vp *vp);

#endif
