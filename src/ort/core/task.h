/* Explicit tasks: what the rest of the core must know of them.
 *
 * Does: the task descriptor, each member's deque, completion counts, and the hooks by which regions and barriers take
 * part. Does not: know an ABI; decide how a team forks. src/ort/task/README.md says which file does what.
 * Callers: a member of a team on its own behalf, unless a function says otherwise.
 *
 * Life of a task: made (ort_task_create) -> [waits for its predecessors] -> queued -> run by one member -> body done ->
 * [waits for its event] -> complete -> [waits for the subtree below it] -> freed. A member runs a task as a call on its
 * own stack, so all tasks are tied to the member that runs them. An undeferred task goes from made to run at once, in
 * its creator.
 *
 * Invariants: a task is complete once (struct ort_count). Its descriptor lives until all below it are complete.
 * Descriptors, the implicit ones too, are never given back to the system (task_memory.c), so a thief may look at one
 * that is gone. A free descriptor's node, depends, event and priority are zero, and data points behind it: a function
 * that changes one of these puts it back.
 * Ordering: finishing a child is a release on count.others (acq_rel, so that the member that completes the subtree has
 * seen all of it); taskwait's load is its acquire.
 * OpenMP 5.2 sections 12.5 to 12.9. */
#ifndef PS_ORT_TASK_H
#define PS_ORT_TASK_H

#include "compiler.h"
#include "deque.h"
#include "list.h"
#include "magazine.h"
#include "spin.h"
#include "tool.h"

#ifndef ORT_MEMBERS_APART /* ort_member, ort_tasks: a target with memory by clusters */
#define ORT_MEMBERS_APART 0
#endif

struct ort_icv;
struct ort_thread;
struct ort_team;
struct ort_depend_node;
struct ort_depend_table;
struct ort_taskgroup;

#define ORT_COUNT_INCOMPLETE INT64_C(1)
#define ORT_COUNT_LIVE (INT64_C(1) << 32)

/* A task counts two things. The first is its children that are not complete: taskwait waits for them. The second is its
 * children whose subtree is not complete. Until this number is zero the descriptor lives, and the implicit task does
 * not arrive at a barrier. Both counts are packed in one number: ORT_COUNT_LIVE for each child's subtree and
 * ORT_COUNT_INCOMPLETE for each child. That number is the sum of `own`, which the task's member alone changes, and
 * `others`, which all other members change. Where a child is made and finished by its parent's member, which is the
 * rule, there is no atomic at all. When the body is done and something is left, `own` is poured into `others`
 * (ORT_TASK_MERGED). From then on the member that brings `others` to zero completes the subtree. Before that, `others`
 * only falls from zero, so it is never zero after a subtraction. So no member completes a task too early. */
struct ort_count {
    int64_t own;            /* of the member that runs the task: no other touches it */
    _Atomic int64_t others; /* of every other member: read-modify-write; the owner acquires it */
};

enum ort_task_flags {
    ORT_TASK_UNTIED = 1 << 0,
    ORT_TASK_FINAL = 1 << 1,
    ORT_TASK_MERGEABLE = 1 << 2,
    ORT_TASK_UNDEFERRED = 1 << 3, /* if(0) */
    ORT_TASK_DETACH = 1 << 4,
    /* for the core itself */
    ORT_TASK_MERGED = 1 << 5, /* count.own has been poured into count.others */
    ORT_TASK_IMPLICIT = 1 << 7,
    ORT_TASK_ORDERED = 1 << 6, /* it has a node */
    ORT_TASK_TRACED = 1 << 8,  /* a tool or the program's thread sanitizer is told of it (ort_traced) */
    ORT_TASK_COPIED = 1 << 9,  /* its data has been constructed: it must run even where cancelled */
    ORT_TASK_IN_GROUP =
        1 << 10, /* counted by its group: a child, not a further descendant, of the task that opened it */
    /* The task has something that most tasks lack: an event, a table of dependences, ICVs of its own, a poured count,
     * far data, a priority or a group. A function that gives the task one of these sets the flag. Without the flag the
     * task ends on the fast path (task_run.c), which looks for none of them. */
    ORT_TASK_SPECIAL = 1 << 11,
    ORT_TASK_FAR_DATA = 1 << 12, /* its data is a malloc block of its own */
    ORT_TASK_INCLUDES = 1 << 13, /* outside of every region: its children run at once */
    ORT_TASK_OWN_ICV = 1 << 14,  /* it has changed an ICV */
};

/* event: bits of a task with a detach clause */
#define ORT_EVENT_BODY_DONE 1u
#define ORT_EVENT_FULFILLED 2u
#define ORT_EVENT_HOLD 4u /* one of those that ort_task_hold has taken; the rest of the word counts them */

/* Writers of event: the owner and the fulfilling thread (read-modify-write). Of flags: the creator, then the owner.
 * Before the task runs, an entry point may keep the maker in `owner`. */
struct ort_task {
    /* Written by the creator before the task is published, read by the member that runs or finishes it. Thieves read
     * parent and depth speculatively (relaxed; task_queue.h). */
#if !ORT_MEMBERS_APART
    PS_LINE_ALIGNED void (*fn)(void *);
    void *data;
#endif
    _Atomic(struct ort_task *) parent; /* NULL: implicit */
    struct ort_team *team;
    struct ort_taskgroup *group; /* innermost one that encloses it; changes while it runs (its owner only) */
    struct ort_icv *icv;         /* of its data environment */
#if !ORT_MEMBERS_APART
    struct ort_depend_node *node;
#endif
    _Atomic uint32_t depth; /* 0: implicit */
    uint16_t flags;
    uint16_t size_class; /* of its memory */
    /* Fields of a task that runs. owner: the member that runs it, written before the body begins; members that finish a
     * child read it. Only the owner uses depends. */
    PS_LINE_ALIGNED struct ort_thread *owner;
    struct ort_depend_table *depends; /* of its children; NULL: none yet */
    struct ort_count count;
    /* An implicit task uses no field from here on, and neither fn, data nor node: it is in no queue and no frame, has
     * no priority and no event. Only task_memory.c has lists of blocks of implicit tasks. With ORT_MEMBERS_APART an
     * implicit task has no room for these fields (ort_apart). */
    union {
        struct ps_piece piece; /* in a magazine, or in task_memory.c's lists of implicit tasks */
        struct ps_list link;   /* in the team's priority queue */
        struct ort_task *next; /* in a taskloop's list, before all of them become ready together */
        struct {               /* of a frame: ort_task_member.base of the task around it; the frame below, NULL: none */
            int64_t base;
            struct ort_task *under;
        };
    };
    struct ort_task *above; /* of a frame: the next one; NULL: none */
    int32_t priority;
    _Atomic uint32_t event;
#if ORT_MEMBERS_APART
    void (*fn)(void *);
    void *data;
    struct ort_depend_node *node;
    uint32_t unused[2];
#endif
};
/* The tool's part, behind every task that a tool may be told of. */
static inline struct ort_tool_task *ort_tool_task(struct ort_task *task)
{
    return (struct ort_tool_task *)(void *)(task + 1);
}
#define ORT_TASK_IMPLICIT_BYTES offsetof(struct ort_task, piece)
_Static_assert(sizeof(struct ort_task) % 16 == 0 && sizeof(struct ort_task) <= 128, "its data begins behind it");

#define ORT_TASK_CLASSES 3
#define ORT_TASK_SMALL_CLASS 1

/* Free descriptors, by the size of their memory. */
struct ort_task_cache {
    struct ps_magazine of[ORT_TASK_CLASSES];
};

/* A member's implicit task. It does not lie in its team's block, which may be freed: thieves follow pointers to it as
 * to any other task (task_memory.c). */
struct ort_task_implicit {
    struct ort_task task;
    struct ort_tool_task tool; /* behind it, as for every task */
};

/* A member's tasks: part of each ort_thread, or allocated at the member's first task (ort_tasks). Its initial state is
 * zeroed memory; it lasts from region to region. */
struct ort_task_member {
    struct ps_deque deque; /* owner: the member, or after its body its assistant (ee_team_ops.assist) */
    int64_t base;          /* items of the deque from here on are descendants of the task that runs */
#if ORT_MEMBERS_APART
    struct ort_thread *thread; /* it belongs to this one */
#else
    struct ort_task_implicit *implicit; /* from ort_task_team_init on; on the line of base, which are each region's */
#endif
    uint32_t seed; /* where the next search for a victim begins */
    bool comes;    /* it was called as a helper: `coming` is for it; the caller writes it under the lock */
    struct ort_task_cache cache;
    /* Descriptors of tasks that run at once (task_frame.h): the first, the last, and the next to be used (NULL: not
     * made yet). */
    struct ort_task *frames, *last_frame, *frame;
    struct ps_magazine nodes; /* of tasks with dependences that are over (depend.c) */
    struct ps_list helper;    /* in the team's `helpers`, under its lock */
};

#define ORT_CANCELLED_REGION 1u
#define ORT_CANCELLED_GROUP 2u

/* In each ort_team. Zeroed memory is its initial state. */
struct ort_task_team {
    PS_LINE_ALIGNED _Atomic uint32_t takers; /* members in `sleeping` and `helpers`; read after every push */
    _Atomic uint32_t sleepers;               /* members in `sleeping` */
    _Atomic uint32_t priority_count;         /* tasks in `priority` */
    _Atomic uint32_t used;                   /* a deferred task has been made in this region */
    _Atomic uint32_t unfenced;               /* some member's deque was unfenced in this region (deque.h) */
    _Atomic uint32_t cancelled;              /* bits: cancel parallel; cancel taskgroup, of any group */
    _Atomic uint32_t loop_cancelled;         /* cancel for or sections */
    _Atomic uint32_t turn, turn_tries;       /* under a thread sanitizer: see task_run.c */
    PS_LINE_ALIGNED struct ps_spin lock;     /* of the three lists, which are empty but in rare cases */
    bool coming;                             /* a helper was called, and has not looked for tasks yet */
    struct ps_list sleeping;                 /* members that found no task while they wait for some */
    struct ps_list helpers;                  /* members whose bodies have returned, and that find no task */
    struct ps_list priority;                 /* ready tasks with a priority, or readied from outside; by priority */
    _Atomic uint32_t pins;                   /* threads outside of the team that finish one of its tasks just now */
    _Atomic uint32_t barrier_arrived;        /* cancellable barrier */
    _Atomic uint32_t barrier_phase;
};

/* --- hooks for regions and barriers --- */

/* ort_task_team_init: once per team block, when its zeroed memory is there and n_max is set; false: there is not enough
 * memory for its tasks. ort_task_team_fini: before the block is given back. */
bool ort_task_team_init(struct ort_team *team);
void ort_task_team_fini(struct ort_team *team);
/* Gives back what a member's storage keeps for tasks. Such storage begins as zeroed memory. */
void ort_task_thread_fini(struct ort_thread *thread);
/* Called when the member begins: makes its implicit task the current one (thread->task), with the given ICVs. */
void ort_task_member_begin(struct ort_thread *thread, struct ort_icv *icv);
/* The member's body is done: returns when all tasks below its implicit task are complete. Runs tasks; tasks of others
 * that are left then are run through ee_team_ops.assist. [switches] */
void ort_task_member_end(struct ort_thread *thread);
/* Called by member 0 after ee_team_join (or after ort_task_member_end where the team is serialized). */
void ort_task_team_end(struct ort_team *team);
/* Called in a forked child, whose only thread is t: gives up what other threads held in the teams around it, and in the
 * process. */
void ort_task_after_fork_in_child(struct ort_thread *t);
/* The core's assist [switches] and idle, as ee_team_ops says. */
void ort_task_assist(struct ort_thread *thread);
bool ort_task_idle(struct ort_thread *thread);
/* The team's barrier, a task scheduling point: all tasks of the region are complete when it opens. [switches] */
void ort_task_barrier(struct ort_thread *thread);
/* The barrier of a region that may be cancelled; true: it has been cancelled. [switches] */
bool ort_task_barrier_cancel(struct ort_thread *thread);

/* --- tasks --- */

enum ort_depend_kind { ORT_DEPEND_IN = 1, ORT_DEPEND_OUT = 2, ORT_DEPEND_MUTEXINOUTSET = 4, ORT_DEPEND_INOUTSET = 5 };
struct ort_depend {
    void *address; /* NULL with ORT_DEPEND_OUT: omp_all_memory */
    enum ort_depend_kind kind;
};
/* How to enumerate the dependences of an ABI's list; out kinds come first. Where the list has nothing but addresses, of
 * which the first n_out are written and the others read, `addresses` has them as well. */
struct ort_depend_list {
    size_t n, n_out;
    void *const *addresses; /* NULL: ask get */
    struct ort_depend (*get)(const void *list, size_t i);
    struct ort_depend (*as_written)(const void *list, size_t i); /* for a tool, in the program's order; NULL: as get */
    const void *list;
};

struct ort_task_args {
    void (*fn)(void *);
    void *data;
    void (*copy)(void *to, void *from); /* NULL: memcpy */
    size_t size, align;
    unsigned flags;
    int priority;
    const struct ort_depend_list *depend; /* NULL: none */
    const void *caller;                   /* for a tool: ORT_CALLER and ORT_FRAME of the entry point */
    void *frame;
    void **event; /* with ORT_TASK_DETACH: gets the handle; so does the first pointer of data */
};

/* Returns the tasks that wait for t, as a list that lives as long as t's node: a snapshot, which each call makes anew.
 * The node's first word points to the list. For code that looks at the graph of a task that has not begun. */
struct ort_depend_successor {
    struct ort_depend_node *node;
    struct ort_depend_successor *next;
};
struct ort_depend_successor *ort_depend_successors(struct ort_task *t);

/* Makes a task and queues it, or runs it at once. [switches] */
void ort_task_create(struct ort_thread *thread, const struct ort_task_args *args);

/* ort_task_create in steps, for compiled code that writes into the task itself. Returns a descriptor whose `data` has
 * room for size bytes, and which has no parent yet; the same thread must submit, enter or discard it. Without memory
 * for it other tasks run first; with none of those, aborts with one line. [switches] */
struct ort_task *ort_task_new(struct ort_thread *thread, size_t size, size_t align);
void ort_task_discard(struct ort_thread *thread, struct ort_task *t);
/* Does what ort_task_create does for a task whose data is in place (args: without data, copy, size and event).
 * ORT_TASK_COPIED may be among the flags. [switches] */
void ort_task_submit(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args);
/* Called around the body of an undeferred task, which the caller runs itself. [leave switches] */
void ort_task_enter(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args);
void ort_task_leave(struct ort_thread *thread, struct ort_task *t);

/* As ort_task_create, for a task of the caller's without any clause but untied, final and mergeable (flags); its data
 * is copied by memcpy. No tool is attached. [switches] */
void ort_task_spawn(void (*fn)(void *), void *data, size_t size, size_t align, unsigned flags);
/* Such a task with dependences. [switches] */
void ort_task_spawn_ordered(void (*fn)(void *), void *data, size_t size, size_t align, unsigned flags,
                            const struct ort_depend_list *depend);
/* Such a task where it is undeferred: runs it at once, on the caller's data. [switches] */
void ort_task_call(void (*fn)(void *), void *data, unsigned flags);
/* The two above for data that a function constructs; where the task runs at once, on the caller's stack. [switches] */
void ort_task_spawn_copied(void (*fn)(void *), void *data, void (*copy)(void *to, void *from), size_t size,
                           size_t align, unsigned flags);
void ort_task_call_copied(void (*fn)(void *), void *data, void (*copy)(void *to, void *from), size_t size, size_t align,
                          unsigned flags);
static PS_ALWAYS_INLINE struct ort_task *ort_task_pop(struct ps_magazine *m)
{
    return PS_CONTAINER_OF(ps_magazine_pop(m), struct ort_task, piece);
}
/* ort_task_new for up to ORT_TASK_SMALL bytes, aligned to 16. NULL: the caller has to call ort_task_new. */
#define ORT_TASK_SMALL 128
static inline struct ort_task *ort_task_new_small(struct ort_task_cache *cache)
{
    struct ps_magazine *m = &cache->of[ORT_TASK_SMALL_CLASS];
    if (PS_UNLIKELY(ort_tasks_traced()) || PS_UNLIKELY(m->free == NULL))
        return NULL;
    struct ort_task *t = ort_task_pop(m);
    t->flags = 0;
    t->size_class = ORT_TASK_SMALL_CLASS; /* it is; one store with the flags */
    return t;
}
/* As ort_task_discard, for what ort_task_new_small gave. False: the caller has to call ort_task_discard. */
#define ORT_TASK_CACHED 64
static inline bool ort_task_discard_small(struct ort_task_cache *cache, struct ort_task *t)
{
    struct ps_magazine *m = &cache->of[ORT_TASK_SMALL_CLASS];
    if (PS_UNLIKELY(t->size_class != ORT_TASK_SMALL_CLASS) || PS_UNLIKELY(m->n >= ORT_TASK_CACHED - 1))
        return false;
    (void)ps_magazine_push(m, &t->piece, ORT_TASK_CACHED / 2); /* it is not full by that */
    return true;
}
/* Does the same as ort_task_submit on the fast path. depend: may be NULL. False: there is no fast path, and nothing was
 * done. [switches] */
bool ort_task_submit_fast(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags);
bool ort_task_submit_ordered(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags,
                             const struct ort_depend_list *depend);

void ort_taskwait(struct ort_thread *thread);
void ort_taskwait_depend(struct ort_thread *thread, const struct ort_depend_list *depend);
void ort_taskyield(struct ort_thread *thread);
/* May be called anywhere, also on a kernel thread that has nothing to do with the team. */
void ort_task_fulfill(void *event);
/* Whether members that are in no explicit task run tasks in the order of their making; see layer.h. */
extern _Atomic bool ort_tasks_in_order;
/* The running task t, for which its creator does not wait, completes only after one ort_task_release more. Caller: its
 * member. */
void ort_task_hold(struct ort_task *t);
/* Ends what one ort_task_hold has begun. May be called anywhere, as ort_task_fulfill. */
void ort_task_release(void *task);
bool ort_in_final(struct ort_thread *thread);

/* --- taskloop --- */

enum ort_taskloop_size { ORT_TASKLOOP_DEFAULT, ORT_TASKLOOP_NUM_TASKS, ORT_TASKLOOP_GRAINSIZE };
struct ort_taskloop {
    struct ort_task_args task; /* its data begins with two bounds, `bound` bytes each, that the loop fills */
    bool nogroup, strict;
    enum ort_taskloop_size by;
    uint64_t size;  /* num_tasks or grainsize */
    uint64_t n;     /* iterations, > 0 */
    uint64_t start; /* first value; arithmetic modulo 2^64 */
    uint64_t step;
    uintptr_t *reductions; /* NULL: none */
    /* Submits the task for `count` iterations from value `from` on, instead of a copy of `task`. NULL: `task` is
     * copied. */
    void (*submit)(struct ort_thread *thread, const struct ort_taskloop *loop, uint64_t from, uint64_t count,
                   bool last);
    void *context; /* for submit */
    bool ranges;   /* beside submit: many tasks may be `task` all the same, in one descriptor (task_range.h) */
};
void ort_taskloop(struct ort_thread *thread, const struct ort_taskloop *loop);

/* --- taskgroup and task reductions --- */

struct ort_taskgroup {
    struct ort_taskgroup *prev;
    struct ort_task *task; /* that opened it */
    struct ort_count count;
    uintptr_t *reductions; /* innermost registered block (task_reduction.c) */
    _Atomic uint32_t cancelled;
    bool workshare; /* made for a work-sharing construct with task reductions: cancellation means the group around it */
};
void ort_taskgroup_start(struct ort_thread *thread);
/* [switches] */
void ort_taskgroup_end(struct ort_thread *thread);

/* Registers a task reduction; task_reduction.c documents the block. `first`: the block that the first member
 * registered; NULL: the caller is the first. */
void ort_task_reduction_register(struct ort_thread *thread, uintptr_t *block);
void ort_task_reduction_unregister(uintptr_t *block);
void ort_task_reduction_remap(struct ort_thread *thread, size_t n, size_t n_original, void **pointers);
/* Work-sharing constructs: each member opens a taskgroup, then registers its block. `first`: the block of the member
 * that registered first, which the construct's slot keeps (workshare.c); NULL: the caller is that member. */
void ort_workshare_reduction_start(struct ort_thread *thread);
void ort_workshare_reduction_register(struct ort_thread *thread, uintptr_t *block, uintptr_t *first);
/* [switches] */
void ort_workshare_reduction_end(struct ort_thread *thread, bool cancelled);
/* For parallel reduction(task, ...): called before the fork, for a team of n. Each implicit task begins in the
 * taskgroup `group`, which has the block. */
void ort_parallel_reduction_start(struct ort_taskgroup *group, uintptr_t *block, unsigned n);

/* --- cancellation --- */

enum ort_cancel { ORT_CANCEL_PARALLEL = 1, ORT_CANCEL_LOOP = 2, ORT_CANCEL_SECTIONS = 4, ORT_CANCEL_TASKGROUP = 8 };
bool ort_cancel(struct ort_thread *thread, unsigned which);
bool ort_cancellation_point(struct ort_thread *thread, unsigned which);
/* Whether the region has been cancelled (after a barrier). */
bool ort_cancelled_parallel(struct ort_team *team);

#endif
