/* Internal control variables: those of a data environment (ort_icv) and those of the process (ort_settings).
 *
 * An ort_icv is shared by all tasks that have the same values. A task inherits its creator's pointer. A region's
 * implicit tasks inherit the parent's, or the team's own copy, where OMP_NUM_THREADS is a list and the region takes
 * its next number off. A task that changes a value first makes a copy of its own (ort_icv_write). The task may change
 * that copy in place as long as no other task has inherited it (`shared`).
 *
 * Fields: written by the task that owns the copy, while no other task sees it; read by the tasks that inherit it.
 * No atomics: inheritance is ordered by the fork, or by the publication of the task.
 * A task's creator sets `shared` when the new task may run beside it.
 * Failures: no memory for a copy: one line, and the change is not made.
 * Rejected: copying all ICVs into every task (libgomp's way): 64 bytes for each task, and a loop over the members at
 * the fork. OpenMP 5.2 sections 2.1 to 2.4. */
#ifndef PS_ORT_ICV_H
#define PS_ORT_ICV_H

#include "atomic.h"
#include "compiler.h"

struct ort_task;
struct ort_thread;

/* omp_proc_bind_t's values, and one for "no clause". */
enum ort_bind {
    ORT_BIND_UNSET = -1,
    ORT_BIND_FALSE = 0,
    ORT_BIND_TRUE = 1,
    ORT_BIND_PRIMARY = 2,
    ORT_BIND_CLOSE = 3,
    ORT_BIND_SPREAD = 4
};

/* The values of omp_sched_t without the modifier, and one more of libomp's. UNSET: no schedule was given, and the ABI's
 * default holds: dynamic for programs linked to libgomp, static for those linked to libomp. */
enum ort_sched {
    ORT_SCHED_UNSET = 0,
    ORT_SCHED_STATIC = 1,
    ORT_SCHED_DYNAMIC = 2,
    ORT_SCHED_GUIDED = 3,
    ORT_SCHED_AUTO = 4,
    ORT_SCHED_TRAPEZOIDAL = 101 /* taken as guided */
};
#define ORT_SCHED_MONOTONIC 0x80000000u

struct ort_icv {
    struct ort_task *owner; /* whose copy this is; NULL: the process's, a team's */
    struct ort_icv *older;  /* former copies of the same task, which others may still use */
    bool dynamic;
    unsigned max_active_levels;
    unsigned nthreads;
    unsigned nthreads_rest;        /* length of what follows */
    const unsigned *nthreads_list; /* for the levels below; constant */
    /* enum ort_sched, perhaps with ORT_SCHED_MONOTONIC; read through ort_icv_sched but where UNSET matters */
    unsigned sched;
    int chunk; /* 0: default */
    unsigned thread_limit;
    int default_device;
    uintptr_t default_allocator; /* omp_allocator_handle_t */
    /* A task that runs beside the owner has inherited this ICV set. Last field: it is set while others copy the fields
     * before it. */
    _Atomic bool shared;
};

static inline void ort_icv_copy(struct ort_icv *to, const struct ort_icv *from)
{
    __builtin_memcpy(to, from, offsetof(struct ort_icv, shared));
    ps_store_relaxed(&to->shared, false);
}

static inline unsigned ort_icv_sched(const struct ort_icv *icv)
{
    return icv->sched == ORT_SCHED_UNSET ? ORT_SCHED_DYNAMIC : icv->sched;
}

/* The ICVs of the task that t runs, to be changed in place; NULL: no memory. */
struct ort_icv *ort_icv_write(struct ort_thread *t);
/* Frees the task's own copies. Called before the descriptor of an explicit or an implicit task is given up, when its
 * subtree has ended. */
void ort_icv_drop_slow(struct ort_icv *icv);
static inline void ort_icv_drop(struct ort_icv *icv, const struct ort_task *task)
{
    if (PS_UNLIKELY(icv->owner == task))
        ort_icv_drop_slow(icv);
}
/* For the creator of a task that may run beside it: marks the ICVs that the new task inherits as shared. */
static inline struct ort_icv *ort_icv_share(struct ort_icv *icv)
{
    if (PS_UNLIKELY(!ps_load_relaxed(&icv->shared)))
        ps_store_relaxed(&icv->shared, true);
    return icv;
}

enum ort_offload { ORT_OFFLOAD_DEFAULT, ORT_OFFLOAD_MANDATORY, ORT_OFFLOAD_DISABLED };
#define ORT_DEVICE_INVALID (-4) /* omp_invalid_device */
enum ort_wait_policy { ORT_POLICY_UNSET, ORT_POLICY_ACTIVE, ORT_POLICY_PASSIVE };

/* Settings of the process. They are written while the library is loaded, and by the few routines that change them, else
 * only read. */
struct ort_settings {
    struct ort_icv initial; /* of every root */
    /* bind-var of every root, and of the levels below it. A task's own is its team's (ort_team.bind_var), since only
     * regions change it. */
    uint8_t bind;       /* enum ort_bind */
    unsigned bind_rest; /* length of what follows */
    const unsigned char *bind_list;
    bool cancellation;
    bool unbounded_tasks; /* a member with many tasks in its deque defers the next one too */
    bool static_is_plain; /* OMP_SCHEDULE says static without a modifier, which implies monotonic */
    bool display_affinity;
    enum ort_offload offload;
    enum ort_wait_policy wait_policy;
    int max_task_priority;
    size_t stack_bytes;                     /* 0: default */
    uint64_t spin_count;                    /* UINT64_MAX: not set */
    unsigned num_teams, teams_thread_limit; /* 0: not set */
    char *affinity_format;
    unsigned supported_levels;
};
extern struct ort_settings ort_settings;

#endif
