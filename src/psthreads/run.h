/* What runs on a vp: its stack, thread and thread-local block, what it is leaving, and what its kernel thread may run.
 *
 * It is the first part of a vp (vp.h), so the vp's address is its own. So code that is inlined into each switch reads
 * it without the rest of the vp (vp_run).
 *
 * Only the kernel thread that carries the vp writes these fields, but for `lone`. */
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

/* In `lone`. SIGNALS are sent to the root, or to the thread that is carried alone: set by any thread, for good.
 * Its MASK keeps interrupts out: set and cleared by the root. APART: others begin with something else than the root
 * (apart.h); set when it attaches. ROUSED: the thread that is carried alone is to take a signal; set by the watchdog,
 * cleared by the vp's kernel thread (stray.h). WANTS: the thread is to come to the vp, whose mask has become its own;
 * set by a handler as the thread, cleared by the vp's kernel thread (handler_mask.h). */
enum { PS_LONE_SIGNALS = 1, PS_LONE_MASK = 2, PS_LONE_APART = 4, PS_LONE_ROUSED = 8, PS_LONE_WANTS = 16 };

struct vp_run {
    /* line 0: written at each switch */
    struct psthread *current; /* NULL while its loop looks for work; first (ee.h) */
    struct uth *uth;          /* the stack it runs on */
    struct uth_tls *tls;      /* the thread-local block it has entered; NULL: the kernel thread's own */
    void *own_tp;             /* the kernel thread's own thread pointer */
    int *own_errno;           /* and its errno */
    struct uth *left_uth;     /* the stack of the switch under way */
    _Atomic uint64_t ticks;   /* scheduling points passed; read by the watchdog */
    bool left_dies;
    bool is_guest;
    union {
        struct {
            bool is_spare; /* carried by a kernel thread of the watchdog's */
            bool is_deaf;  /* its kernel thread takes no signals, its mask is deaf_mask else (stray.h) */
        };
        uint16_t spare_or_deaf; /* not 0: either; one look for the fast paths */
    };
    /* The runtime goes on with it after calling what the program may have replaced (malloc), or its thread forks. */
    bool held;
    bool on_own; /* own_stack.h: its loop is on the stack that its thread keeps */
    /* Its kernel thread runs a handler of the program's, or has left one by a jump: handler_self.h; read by others */
    _Atomic bool in_handler;
    /* line 1: seldom written; threads that ready others look at it */
    /* The vp carries this thread and nothing else (promote.h); NULL: any. Constant once it has carried that. */
    PS_LINE_ALIGNED struct uth_tls *alone_for;
    unsigned id;
    _Atomic int tid; /* the system's number of its kernel thread */
    /* PS_LONE_...: why its kernel thread carries its root, or alone_for, and nothing else (lone_root.h); 0: it carries
     * anything, or alone_for as any thread's P does. */
    _Atomic uint8_t lone;
    /* What its kernel thread is to the program where it is a root's: the context of that root, native. In a forked
     * child: the context and the block of the thread that forked (own_by_fork, fork.c), which is bound to it. */
    struct uth *own_uth;
    /* `local` (thread.h) of the thread in whose name the kernel thread answers while `current` is NULL: the thread that
     * it carries alone, or that a handler runs as; NULL: that of `root`. For handlers: directed.h, handler_self.h */
    _Atomic(void *) stands_as;
    struct uth_tls *own_tls; /* NULL: the kernel thread began with the storage that is its own */
    struct uth_cache stacks;
    /* the vp alone */
    struct ps_work first_work;  /* for the loop that starts next */
    unsigned yields;            /* counted to tell when it is to stand back for other kernel threads */
    unsigned in_vain;           /* threads that it would have gone on with, which still ran */
    unsigned global_turns;      /* yields where there is a global queue */
    struct uth_tls_near blocks; /* for the threads that begin here next */
    struct ps_descriptors descriptors;
    struct ps_thread_counts counts;
    uint64_t rechecked_at;     /* cpu_cycles at the last look for loaded objects */
    unsigned place;            /* that its kernel thread is bound to, from 1; 0: none (follow.c) */
    struct os_cpuset own_mask; /* with place: its kernel thread's mask of before */
    uint64_t deaf_mask;        /* with is_deaf */
    _Atomic uint64_t strays;   /* signals that it has passed on, bits from 0, and when it did so last; its kernel */
    uint64_t strayed_ns;       /* thread's, also in a handler: stray.h */
    struct uth native;         /* the kernel thread's own stack */
    struct psthread root;      /* its thread, where the kernel thread is a root's */
};

/* What runs on vp. */
static inline struct vp_run *vp_run(const struct vp *vp) { return (struct vp_run *)(uintptr_t)vp; }

/* The vp passes a scheduling point: it is not stuck. */
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
/* The regular and guest vps that run whatever is ready, each its own root if it has one. */
static inline bool vp_is_roots(const struct vp *vp)
{
    const struct vp_run *run = vp_run(vp);
    return !run->is_spare && !run->alone_for && (run->is_guest || run->id == 0);
}

/* What psthread_exit needs of the stack that runs. */
static inline struct ps_exits *vp_exits(struct vp *vp) { return (struct ps_exits *)(void *)vp_run(vp)->uth->room; }

/* A root that runs on `stack` is about to yield, or to call others, if it does not find `lone` set after this. Senders
 * of signals look at that (lone_root.h). A stack that is no root's: no sender does. The root is back where left_by is
 * NULL and calls is 0. */
static PS_ALWAYS_INLINE void root_yields(struct uth *stack, struct psthread *self)
{
    stack->left_by = self;
    ps_fence_compiler(); /* leave_to_root (directed.c) fences for both */
}
/* Calls nest. */
static PS_ALWAYS_INLINE void root_goes(struct uth *stack)
{
    stack->calls++;
    ps_fence_compiler(); /* as above */
}
static PS_ALWAYS_INLINE void root_is_back(struct uth *stack)
{
    ps_fence_compiler();
    stack->calls--;
}

/* The thread on the root's stack is not to be left for others, nor that which is carried alone: see lone. */
static inline bool vp_stays_with_root(const struct vp *vp)
{
    const struct vp_run *run = vp_run(vp);
    return PS_UNLIKELY(ps_load_relaxed(&run->lone)) && (run->uth == run->own_uth || run->alone_for);
}

#endif
