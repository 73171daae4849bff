/* What runs on a vp: its stack, its thread, its thread-local block, the stack that it is leaving, and what its
 * kernel thread may run.
 *
 * struct vp_run is the first part of a vp (vp.h), so both have the same address. Code that is inlined into each
 * switch reads this part by vp_run, and does not see the rest of the vp.
 *
 * Only the kernel thread that carries the vp, or is about to, writes these fields, unless a comment says otherwise. */
#ifndef PS_RUN_H
#define PS_RUN_H

#include "descriptor.h"
#include "os.h"
#include "thread.h"
#include "tls.h"
#include "uth.h"
#include "work.h"

struct ps_exits; /* defined in exit.h */
struct vp;

/* Bits of `special`: what is unusual about a vp. A fast path tests all bits that matter to it at once (vp_is). Any
 * thread may set VP_TO_BE_COUNTED, VP_ASIDE and VP_NEEDS. The other bits are set by the kernel thread that carries the
 * vp, or by the thread that starts this kernel thread. A root may become lone (VP_LONE) between two waits. So
 * home_release tests VP_LONE once more after it has taken the root. */
enum {
    VP_SPARE = 1, /* a spare's kernel thread carries it */
    /* Its kernel thread blocks all signals. unblocked_mask is the mask with which it takes signals (receiver.h). */
    VP_SIGNALS_BLOCKED = 2,
    VP_DEDICATED = 4, /* it carries only the thread whose block is dedicated_to (dedicated.h) */
    /* Dedicated to its root, since the program asks for the root's processor time (lone_root.h). */
    VP_COUNTED = 8,
    /* Dedicated to its root, since the root has another priority than the library's workers (lone_root.h). */
    VP_OTHER_PRIORITY = 16,
    /* Dedicated to its root. The root starts the kernel threads of its members itself (priority.h). */
    VP_STARTS = 32,
    /* Dedicated to its root, since the root has another signal mask than its members (lone_root.h). */
    VP_MASK = 64,
    /* The home of a root, while there are several roots: it runs only what belongs to that root's regions (home.h). */
    VP_ASIDE = 128,
    VP_TO_BE_COUNTED = 256, /* it becomes VP_COUNTED at its root's next outermost region */
    /* Its thread blocks in the kernel while other threads are ready behind it (blocking.h). */
    VP_BLOCKED = 1024,
    VP_NEEDS = 2048, /* some place in the program needs spares (needs.h) */
    /* In a forked child: the vp of the thread that forked. home_prepare is still to be called for it (home.h). */
    VP_UNPREPARED = 512
};
#define VP_LONE \
    (VP_DEDICATED | VP_COUNTED | VP_OTHER_PRIORITY | VP_STARTS | VP_MASK) /* the vp is dedicated to one thread */

struct vp_run {
    /* Line 0: the vp writes it at each switch. */
    /* The thread that runs; NULL while the vp's loop looks for work. Must be the first field: ee.h reads it
     * directly. */
    struct psthread *current;
    struct uth *uth; /* the stack on which the vp runs */
    /* The thread-local block in which the vp's kernel thread is. NULL: it is in the kernel thread's own storage. */
    struct uth_tls *tls;
    /* The thread pointer outside of blocks: the kernel thread's own, or that of storage E after a release (home.h). A
     * releaser, on any kernel thread, writes this field and the next one. */
    _Atomic(void *) own_tp;
    int *own_errno; /* points to errno in the storage of own_tp */
    /* The stack that the vp is leaving in the switch under way; NULL: no switch is under way. Handlers on the vp's
     * kernel thread read it (thread_signal.h). */
    struct uth *left_uth;
    _Atomic uint64_t ticks; /* How many scheduling points the vp has passed. The watchdog reads it. */
    bool left_dies;
    bool is_guest;
    /* True while the runtime calls a function that the program may have replaced (malloc), and while the vp's thread
     * forks. The runtime goes on with this vp afterwards. So code that finds `held` set does not move the thread away
     * from the vp. */
    bool held;
    bool on_own; /* The vp's loop is on the stack that its thread keeps (own_stack.h). */
    /* in_handler: an address in the stack frame of the innermost handler of the program's that runs on the vp's kernel
     * thread. It stays set if the program jumps out of the handler, until ps_in_handler finds that. NULL: none. Other
     * threads read it. handler_on: the stack on which the vp was when that handler began (process_signal.h). */
    _Atomic(void *) in_handler;
    struct uth *handler_on;
    /* Line 1: seldom written. Threads that ready others on this vp read it. */
    PS_LINE_ALIGNED _Atomic uint32_t special; /* bits VP_..., see above */
    unsigned id;
    _Atomic int tid;              /* the system's number of the vp's kernel thread */
    struct uth_tls *dedicated_to; /* with VP_DEDICATED: the block of the thread that the vp carries */
    /* A root's vp: the context of the root, on its kernel thread's own stack. In a forked child: the context of the
     * thread that forked, which is bound to this vp (own_by_fork, fork.c). */
    struct uth *own_uth;
    /* While `current` is NULL, ps_local returns this on the vp's kernel thread, if it is not NULL. It is the `local`
     * (thread.h) of the thread to which the vp is dedicated, or of the thread as which a handler runs (thread_signal.h,
     * process_signal.h). A parent whose team takes over a block writes it, too (ps_team_succeed). */
    _Atomic(void *) stands_as;
    /* The block that stands for the kernel thread's own storage: a root's R (home.h), or the block of the thread that
     * forked. NULL: the kernel thread is the library's own, or threads have no blocks. */
    struct uth_tls *own_tls;
    void *kernel_tp; /* the thread pointer of the kernel thread's own storage */
    struct uth_cache stacks;
    /* From here on only the vp reads and writes, except that other threads read `counts`, use `native` like any uth,
     * and `root` like any thread. */
    struct ps_work first_work; /* what the loop that starts next runs first */
    /* Counts each call of psthread_yield that found nothing ready, and each call of ee_yield. At every sixteenth the
     * kernel thread gives up its processor. */
    unsigned yields;
    /* How often the vp took a thread whose context was not saved in time (resume_or_hand_back). */
    unsigned in_vain;
    unsigned global_turns;      /* yields since the start, counted where the program has a global queue */
    struct uth_tls_near blocks; /* free blocks for threads that begin here */
    struct ps_descriptors descriptors;
    struct ps_thread_counts counts;
    uint64_t per_region_at; /* cpu_cycles at the last per-region work (runtime.h); 0: it is due */
    /* The place to which its kernel thread is bound, counted from 1; 0: it is not bound (migrate.c). */
    unsigned place;
    struct os_cpuset own_mask; /* with `place`: the mask that its kernel thread had before */
    uint64_t unblocked_mask;   /* with VP_SIGNALS_BLOCKED: the mask with which the kernel thread takes signals */
    struct uth native;         /* the kernel thread's own stack */
    struct psthread root;      /* a root's vp: the root's descriptor */
};

/* Returns the part of vp that says what runs on it. */
static inline struct vp_run *vp_run(const struct vp *vp) { return (struct vp_run *)(uintptr_t)vp; }

/* Returns true if any of the bits `what` (VP_...) is set for vp. */
static PS_ALWAYS_INLINE bool vp_is(const struct vp *vp, unsigned what)
{
    return PS_UNLIKELY(ps_load_relaxed(&vp_run(vp)->special) & what);
}
static inline void vp_becomes(struct vp *vp, unsigned what) { ps_or_seq(&vp_run(vp)->special, what); }
static inline void vp_is_no_more(struct vp *vp, unsigned what) { ps_and_seq(&vp_run(vp)->special, ~what); }
/* Returns true if vp's kernel thread may have another nice value, policy or processors than the library's workers,
 * because one thread of the program's has set them. A kernel thread that it starts would begin with these. */
static inline bool vp_differs(const struct vp *vp) { return vp_is(vp, VP_OTHER_PRIORITY | VP_DEDICATED); }

/* Counts a scheduling point that vp passes. The watchdog sees from the count that vp is not stuck. */
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
/* Returns true if vp may be a root's: vp 0, and guests that are neither spares nor dedicated. */
static inline bool vp_is_roots(const struct vp *vp)
{
    const struct vp_run *run = vp_run(vp);
    return !vp_is(vp, VP_SPARE | VP_DEDICATED) && (run->is_guest || run->id == 0);
}

/* Returns the exit points of the stack on which vp runs (exit.h). */
static inline struct ps_exits *vp_exits(struct vp *vp) { return (struct ps_exits *)(void *)vp_run(vp)->uth->room; }

/* Returns true if the running thread keeps its kernel thread while it waits: a dedicated thread, or the root of a
 * VP_LONE vp on its own stack. Not so if the root was released: then it is not bound to its home (own_uth->vp is NULL),
 * and waits as on any other vp, even if its home runs it. */
static inline bool vp_stays_with_root(const struct vp *vp)
{
    const struct vp_run *run = vp_run(vp);
    return vp_is(vp, VP_LONE) && ((run->uth == run->own_uth && run->own_uth->vp) || vp_is(vp, VP_DEDICATED));
}

/* Called by a handler on vp's kernel thread. Returns true if the handler has interrupted a switch. Then `uth` and `tls`
 * may name the next thread's stack and block already, although that thread does not run yet. */
static inline bool vp_switches(const struct vp *vp)
{
    return *(struct uth *const volatile *)&vp_run(vp)->left_uth != NULL;
}

/* Returns the thread whose context is saved in u. The caller knows that the thread stays suspended there. */
static inline struct psthread *vp_left_by(const struct uth *u) { return u->wait.thread ? u->wait.thread : u->left_by; }

/* Returns the thread whose context vp has left on its root's own stack: the root, or the root as a member. NULL: the
 * stack was not left, it is not bound to vp, or the thread that left it was one that the root had called. */
struct psthread *vp_left_root(const struct vp *vp);

#endif
