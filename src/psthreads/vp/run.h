/* What runs on a vp: its stack, thread and thread-local block, what it is leaving, and what its kernel thread may run.
 *
 * This is the first part of a vp (vp.h) and has the vp's address. So code that is inlined into each switch reads it
 * without the rest of the vp (vp_run).
 *
 * Only the kernel thread that carries the vp writes these fields, except `special`. */
#ifndef PS_RUN_H
#define PS_RUN_H

#include "descriptor.h"
#include "os.h"
#include "thread.h"
#include "tls.h"
#include "uth.h"
#include "work.h"

struct ps_exits; /* exit.h */
struct vp;

/* Bits of `special`: what is unusual about a vp. A fast path asks at once for all that matters to it (vp_is).
 * TO_BE_COUNTED and ASIDE are set by any thread, the others by the kernel thread that carries the vp or is about to. A
 * root becomes lone only while it runs at home, not while it begins to wait; so home_release looks after it has taken
 * the root. */
enum {
    VP_SPARE = 1,           /* carried by a kernel thread of the watchdog's */
    VP_SIGNALS_BLOCKED = 2, /* its kernel thread takes no signals, its mask is unblocked_mask else (process_signal.h) */
    VP_DEDICATED = 4,       /* it carries the thread of the block dedicated_to and nothing else (dedicated.h) */
    VP_COUNTED = 8,         /* dedicated to its root, whose processor time the program asks for (lone_root.h) */
    VP_OTHER_PRIORITY = 16, /* dedicated to its root, which has another priority (lone_root.h) */
    VP_STARTS = 32,         /* dedicated to its root, and starts the kernel threads of its members (priority.h) */
    VP_MASK = 64,           /* dedicated to its root, which has another mask than its members (lone_root.h) */
    VP_ASIDE = 128,         /* a home, of one root of several: it runs only what is of that root's regions (home.h) */
    VP_TO_BE_COUNTED = 256, /* COUNTED from its root's next region on */
    VP_BLOCKED = 1024,      /* its thread blocks in the kernel, with work behind it: blocking.h */
    VP_NEEDS = 2048,        /* some place of the process needs spares: needs.h */
    VP_UNPREPARED = 512     /* of a thread that has forked, in the child: to be prepared for its release (home.h) */
};
#define VP_LONE \
    (VP_DEDICATED | VP_COUNTED | VP_OTHER_PRIORITY | VP_STARTS | VP_MASK) /* it is dedicated to one thread */

struct vp_run {
    /* line 0: written at each switch */
    struct psthread *current; /* NULL while its loop looks for work; first (ee.h) */
    struct uth *uth;          /* the stack it runs on */
    struct uth_tls *tls;      /* the thread-local block it has entered; NULL: the kernel thread's own */
    _Atomic(void *) own_tp;   /* the thread pointer of the loop: the kernel thread's own, or E's (home.h) */
    int *own_errno;           /* and its errno */
    struct uth *left_uth;     /* of the switch under way; NULL: none is. Its handlers read it (thread_signal.h) */
    _Atomic uint64_t ticks;   /* scheduling points passed; read by the watchdog */
    bool left_dies;
    bool is_guest;
    /* The runtime calls what the program may have replaced (malloc) and then goes on with the vp; or the vp's thread
     * forks. */
    bool held;
    bool on_own; /* own_stack.h: its loop is on the stack that its thread keeps */
    /* in_handler: in the frame of the innermost handler of the program's that its kernel thread runs, or has left by a
     * jump; NULL: none; read by others. handler_on: the stack that the vp was on (process_signal.h). */
    _Atomic(void *) in_handler;
    struct uth *handler_on;
    /* line 1: seldom written; threads that ready others look at it */
    PS_LINE_ALIGNED _Atomic uint32_t special; /* VP_... */
    unsigned id;
    _Atomic int tid;              /* the system's number of its kernel thread */
    struct uth_tls *dedicated_to; /* with VP_DEDICATED */
    /* Native context of the root whose kernel thread this is, if it is a root's. In a forked child: the context, with
     * the block, of the thread that forked, which is bound to this vp (own_by_fork, fork.c). */
    struct uth *own_uth;
    /* `local` (thread.h) of the thread in whose name the kernel thread answers while `current` is NULL: the thread to
     * which it is dedicated, or as which a handler runs. NULL: it answers for `root`. Used by handlers:
     * thread_signal.h, process_signal.h */
    _Atomic(void *) stands_as;
    /* The block that stands for the kernel thread's own storage: a root's R (home.h), or the block of the thread that
     * forked. NULL: a kernel thread of the library's, or there are no blocks. */
    struct uth_tls *own_tls;
    void *kernel_tp; /* of the C library's descriptor of the kernel thread */
    struct uth_cache stacks;
    /* the vp alone */
    struct ps_work first_work;  /* for the loop that starts next */
    unsigned yields;            /* counted to tell when it is to stand back for other kernel threads */
    unsigned in_vain;           /* threads that it would have gone on with, which still ran */
    unsigned global_turns;      /* yields where there is a global queue */
    struct uth_tls_near blocks; /* for the threads that begin here next */
    struct ps_descriptors descriptors;
    struct ps_thread_counts counts;
    uint64_t per_region_at;    /* cpu_cycles at the last look for loaded objects */
    unsigned place;            /* that its kernel thread is bound to, from 1; 0: none (migrate.c) */
    struct os_cpuset own_mask; /* with place: its kernel thread's mask of before */
    uint64_t unblocked_mask;   /* with VP_SIGNALS_BLOCKED */
    struct uth native;         /* the kernel thread's own stack */
    struct psthread root;      /* its thread, where the kernel thread is a root's */
};

/* What runs on vp. */
static inline struct vp_run *vp_run(const struct vp *vp) { return (struct vp_run *)(uintptr_t)vp; }

/* Whether vp is any of these. */
static PS_ALWAYS_INLINE bool vp_is(const struct vp *vp, unsigned what)
{
    return PS_UNLIKELY(ps_load_relaxed(&vp_run(vp)->special) & what);
}
static inline void vp_becomes(struct vp *vp, unsigned what) { ps_or_seq(&vp_run(vp)->special, what); }
static inline void vp_is_no_more(struct vp *vp, unsigned what) { ps_and_seq(&vp_run(vp)->special, ~what); }
/* Whether a kernel thread that vp's kernel thread starts may begin with another nice value, policy or processors than
 * the pool's: those of one thread of the program's. */
static inline bool vp_differs(const struct vp *vp) { return vp_is(vp, VP_OTHER_PRIORITY | VP_DEDICATED); }

/* Counts a scheduling point that the vp passes: it is not stuck. */
static inline void vp_tick(struct vp *vp)
{
    struct vp_run *run = vp_run(vp);
    ps_store_relaxed(&run->ticks, ps_load_relaxed(&run->ticks) + 1);
}
static inline void vp_count_made(struct vp *vp)
{
    struct ps_thread_counts *n = &vp_run(vp)->counts;
    ps_store_relaxed(&n->made, ps_load_relaxed(&n->made) + 1);
}
static inline void vp_count_submitted(struct vp *vp)
{
    struct ps_thread_counts *n = &vp_run(vp)->counts;
    ps_store_relaxed(&n->submitted, ps_load_relaxed(&n->submitted) + 1);
}
static inline void vp_count_ended(struct vp *vp)
{
    struct ps_thread_counts *n = &vp_run(vp)->counts;
    ps_store_release(&n->ended, ps_load_relaxed(&n->ended) + 1);
}
/* Whether vp may be a root's: vp 0, and guests that are neither spares nor dedicated. */
static inline bool vp_is_roots(const struct vp *vp)
{
    const struct vp_run *run = vp_run(vp);
    return !vp_is(vp, VP_SPARE | VP_DEDICATED) && (run->is_guest || run->id == 0);
}

/* What psthread_exit needs of the stack that runs. */
static inline struct ps_exits *vp_exits(struct vp *vp) { return (struct ps_exits *)(void *)vp_run(vp)->uth->room; }

/* Whether the running thread keeps its kernel thread while it waits. On a LONE vp the root does, on its own stack, and
 * so does a dedicated thread. A root that its home has taken back after a release is not bound: it waits as if it were
 * elsewhere. */
static inline bool vp_stays_with_root(const struct vp *vp)
{
    const struct vp_run *run = vp_run(vp);
    return vp_is(vp, VP_LONE) && ((run->uth == run->own_uth && run->own_uth->vp) || vp_is(vp, VP_DEDICATED));
}

/* For a handler on vp's kernel thread: whether a switch is under way. Then the fields may name the next stack and block
 * already, but that thread does not run yet. */
static inline bool vp_switches(const struct vp *vp)
{
    return *(struct uth *const volatile *)&vp_run(vp)->left_uth != NULL;
}

/* Returns the thread whose context is saved in u; the thread stays suspended there for a while. */
static inline struct psthread *vp_left_by(const struct uth *u) { return u->wait.thread ? u->wait.thread : u->left_by; }

/* The thread that has left the stack of vp's root while it was in the root's storage; NULL: none has, or a thread that
 * the root has called. */
struct psthread *vp_left_root(const struct vp *vp);

#endif
