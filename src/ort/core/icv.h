/* Internal control variables: those of a data environment (ort_icv), and those of the process (ort_settings).
 *
 * Tasks share one ort_icv as long as none of them changes a value. A task inherits its creator's pointer. A region's
 * implicit tasks inherit the pointer of the parent's task. If OMP_NUM_THREADS is a list, they get the team's own copy
 * instead, in which the next number of the list is in force. A task that changes a value first makes a copy of its own
 * (ort_icv_write). It may change that copy in place as long as no task that may run beside it has inherited the copy
 * (`shared`).
 *
 * Fields: the task that owns the copy writes them while no other task sees it; tasks that inherit the copy read them.
 * They need no atomics: inheritance is ordered by the fork, or by the publication of the task. Exception: `shared`,
 * which the creator of a task sets (ort_icv_share).
 * Failures: without memory for a copy one line is printed, and the change is not made.
 * Rejected: copying all ICVs into every task (libgomp's way), which takes 64 bytes in each task, and a loop over the
 * members at the fork. OpenMP 5.2 sections 2.1 to 2.4. */
#ifndef PS_ORT_ICV_H
#define PS_ORT_ICV_H

#include "atomic.h"
#include "compiler.h"

struct ort_task;
struct ort_thread;

/* omp_proc_bind_t's values, and UNSET for a region without the clause. */
enum ort_bind {
    ORT_BIND_UNSET = -1,
    ORT_BIND_FALSE = 0,
    ORT_BIND_TRUE = 1,
    ORT_BIND_PRIMARY = 2,
    ORT_BIND_CLOSE = 3,
    ORT_BIND_SPREAD = 4
};

/* The values of omp_sched_t without the modifier, and TRAPEZOIDAL, which only libomp has. UNSET: neither OMP_SCHEDULE
 * nor the program gave a schedule. Then programs linked to libgomp get dynamic, and those linked to libomp static. */
enum ort_sched {
    ORT_SCHED_UNSET = 0,
    ORT_SCHED_STATIC = 1,
    ORT_SCHED_DYNAMIC = 2,
    ORT_SCHED_GUIDED = 3,
    ORT_SCHED_AUTO = 4,
    ORT_SCHED_TRAPEZOIDAL = 101 /* handled as guided */
};
#define ORT_SCHED_MONOTONIC 0x80000000u

struct ort_icv {
    struct ort_task *owner; /* the task that made this copy; NULL: a copy of the process's or of a team's */
    struct ort_icv *older;  /* the task's previous copy, which tasks that have inherited it may still use; NULL: none */
    bool dynamic;
    unsigned max_active_levels;
    unsigned nthreads;
    unsigned nthreads_rest;        /* length of nthreads_list */
    const unsigned *nthreads_list; /* the number of threads for each further level; constant */
    /* enum ort_sched, perhaps with ORT_SCHED_MONOTONIC. Code reads it through ort_icv_sched, except where UNSET means
     * something else than dynamic. */
    unsigned sched;
    int chunk; /* chunk size; 0: the schedule's default */
    unsigned thread_limit;
    int default_device;
    uintptr_t default_allocator; /* omp_allocator_handle_t */
    /* true: a task that may run beside the owner may have inherited this copy, so the owner does not change it in
     * place. It is the last field, and ort_icv_copy leaves it out, because another thread may set it during the
     * copy. */
    _Atomic bool shared;
};

/* Copies all values; the copy is not shared. */
static inline void ort_icv_copy(struct ort_icv *to, const struct ort_icv *from)
{
    __builtin_memcpy(to, from, offsetof(struct ort_icv, shared));
    ps_store_relaxed(&to->shared, false);
}

/* Returns the schedule, with its modifier; for UNSET libgomp's default, dynamic. */
static inline unsigned ort_icv_sched(const struct ort_icv *icv)
{
    return icv->sched == ORT_SCHED_UNSET ? ORT_SCHED_DYNAMIC : icv->sched;
}

/* Returns ICVs of the task that t runs, which the caller (t itself) may change in place. If the task's ICVs are not its
 * own, or are shared, makes a copy for the task first. t's next region then does not count as like the last one. NULL:
 * no memory. */
struct ort_icv *ort_icv_write(struct ort_thread *t);
/* ort_icv_drop frees the task's own copies, if icv is one of them. Called before the descriptor of a task, explicit or
 * implicit, is given up; all tasks below it have ended. ort_icv_drop_slow frees icv and the older copies behind it. */
void ort_icv_drop_slow(struct ort_icv *icv);
static inline void ort_icv_drop(struct ort_icv *icv, const struct ort_task *task)
{
    if (PS_UNLIKELY(icv->owner == task))
        ort_icv_drop_slow(icv);
}
/* Called by the creator of a task on the slow path: marks the creator's ICVs, which the new task inherits, as shared.
 * Returns them. The fast path need not call it, because it makes no task for a creator with ICVs of its own. */
static inline struct ort_icv *ort_icv_share(struct ort_icv *icv)
{
    if (PS_UNLIKELY(!ps_load_relaxed(&icv->shared)))
        ps_store_relaxed(&icv->shared, true);
    return icv;
}

enum ort_offload { ORT_OFFLOAD_DEFAULT, ORT_OFFLOAD_MANDATORY, ORT_OFFLOAD_DISABLED };
#define ORT_DEVICE_INVALID (-4) /* omp_invalid_device */
enum ort_wait_policy { ORT_POLICY_UNSET, ORT_POLICY_ACTIVE, ORT_POLICY_PASSIVE };

/* Settings of the process. Written while the library is loaded, when a process built for libomp reads its variables
 * again, by ort_env_finish, and by the few routines that change them. Otherwise only read. */
struct ort_settings {
    struct ort_icv initial; /* the ICVs of every root */
    /* bind-var: `bind` is every root's, bind_list has the values for further levels. A task's own value is its team's
     * (ort_team.bind_var), because only a region changes it. */
    uint8_t bind;       /* enum ort_bind */
    unsigned bind_rest; /* length of bind_list */
    const unsigned char *bind_list;
    bool cancellation;
    bool unbounded_tasks; /* true: a member defers a new task even if its deque is full of tasks */
    /* true: OMP_SCHEDULE says "static" without a modifier. The schedule is then monotonic, but libomp's programs are
     * told of no modifier. */
    bool static_is_plain;
    bool display_affinity;
    enum ort_offload offload;
    enum ort_wait_policy wait_policy;
    int max_task_priority;
    size_t stack_bytes; /* of each member's stack; 0: default */
    /* GOMP_SPINCOUNT: iterations of a waiting loop before a thread blocks; UINT64_MAX: not set; UINT64_MAX - 1:
     * infinite. */
    uint64_t spin_count;
    unsigned num_teams, teams_thread_limit; /* 0: not set */
    char *affinity_format;
    unsigned supported_levels;
};
extern struct ort_settings ort_settings;

#endif
