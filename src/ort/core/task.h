/* Explicit tasks: what the other folders of the core, and the entry points, must know of them.
 *
 * Does: the task descriptor, each member's deque, completion counts, and the functions that regions and barriers call.
 * Does not: know an ABI; decide how a team forks. src/ort/task/README.md says which file does what.
 * Callers: a member of a team on its own behalf, unless a function's comment says otherwise.
 *
 * Life of a task: made (ort_task_create) -> [waits for its predecessors] -> queued -> run by one member -> body done ->
 * [waits for its event] -> complete -> [waits for the subtree below it] -> freed. A member runs a task as a call on its
 * own stack, so every task is tied to the member that runs it. The creator of an undeferred task runs it itself; such a
 * task is never queued.
 *
 * Invariants: a task completes once (struct ort_count). Its descriptor lives until all tasks below it are complete. The
 * memory of descriptors, the implicit ones too, never goes back to the system (task_memory.c), so a thief may read the
 * descriptor of a task that has been freed. In a free descriptor node, depends, event and priority are zero, and data
 * points behind it. A function that changes one of these restores it.
 * Ordering: another member finishes a child by a seq_cst subtraction from its parent's count. A taskwait,
 * and the thread that completes the subtree, read it with acquire or stronger. OpenMP 5.2 sections 12.5 to 12.9. */
#ifndef PS_ORT_TASK_H
#define PS_ORT_TASK_H

#include "compiler.h"
#include "deque.h"
#include "list.h"
#include "magazine.h"
#include "spin.h"
#include "task_count.h"
#include "tool.h"

#ifndef ORT_MEMBERS_APART /* 1: a target with memory by clusters (ort_member, ort_tasks) */
#define ORT_MEMBERS_APART 0
#endif

struct ort_icv;
struct ort_thread;
struct ort_team;
struct ort_depend_node;
struct ort_depend_table;
struct ort_taskgroup;

enum ort_task_flags {
    ORT_TASK_UNTIED = 1 << 0,
    ORT_TASK_FINAL = 1 << 1,
    ORT_TASK_MERGEABLE = 1 << 2,
    ORT_TASK_UNDEFERRED = 1 << 3, /* if(0): the creator runs it at once */
    ORT_TASK_DETACH = 1 << 4,
    /* Set by the core. Entry points may set ORT_TASK_COPIED, too. */
    ORT_TASK_MERGED = 1 << 5, /* count.own has been added to count.others */
    ORT_TASK_IMPLICIT = 1 << 7,
    ORT_TASK_ORDERED = 1 << 6, /* the task has dependences (`node`) */
    ORT_TASK_TRACED = 1 << 8,  /* the task is reported to a tool or to the program's thread sanitizer (ort_traced) */
    /* The task's data has been constructed, so the task must run even after a cancellation. */
    ORT_TASK_COPIED = 1 << 9,
    ORT_TASK_IN_GROUP = 1 << 10, /* the task's group counts it: it is a child of the task that opened the group */
    /* The task has something that most tasks lack: an event, a table of dependences, ICVs of its own, a merged count,
     * far data, a priority or a group that counts it. A function that gives the task one of these sets the flag. So the
     * end of a task on the fast path tests one flag for all of them (task_run.c). */
    ORT_TASK_SPECIAL = 1 << 11,
    ORT_TASK_FAR_DATA = 1 << 12, /* the task's data is not behind the descriptor, but in a block of its own */
    ORT_TASK_INCLUDES = 1 << 13, /* the task is outside of every region: its children run at once */
    ORT_TASK_OWN_ICV = 1 << 14,  /* the task has changed an ICV, and so has ICVs of its own */
};

/* Bits of ort_task.event. The field is used if the task has a detach clause or is held (ort_task_hold). */
#define ORT_EVENT_BODY_DONE 1u
#define ORT_EVENT_FULFILLED 2u
#define ORT_EVENT_HOLD 4u /* ort_task_hold adds one of these, ort_task_release subtracts it */

/* Writers of event: the owner, the thread that fulfils the event, and threads that end a hold. Writers of flags: the
 * creator, then the owner. Before the task runs, an entry point may keep the creator in `owner`. */
struct ort_task {
    /* The creator writes these before it publishes the task; the member that runs or finishes the task reads them.
     * Thieves read parent and depth, perhaps of a freed task (relaxed; task_queue.h). */
#if !ORT_MEMBERS_APART
    PS_LINE_ALIGNED void (*fn)(void *);
    void *data;
#endif
    _Atomic(struct ort_task *) parent; /* NULL: an implicit task */
    struct ort_team *team;
    struct ort_taskgroup *group; /* the innermost one around the task; the owner changes it while the task runs */
    struct ort_icv *icv;         /* the ICVs of its data environment */
#if !ORT_MEMBERS_APART
    struct ort_depend_node *node; /* NULL: the task has no dependences */
#endif
    _Atomic uint32_t depth; /* number of its ancestors; an implicit task's is 0 */
    uint16_t flags;
    uint16_t size_class; /* size class of the descriptor's memory (task_memory.c) */
    /* Fields of a running task. owner: the member that runs it; written before the body begins, read by members that
     * finish a child. Only the owner uses depends. */
    PS_LINE_ALIGNED struct ort_thread *owner;
    struct ort_depend_table *depends; /* the dependences of its children; NULL: they have none yet */
    struct ort_count count;
    /* An implicit task uses no field from here on, nor fn, data and node: it is in no queue and no frame, has no
     * priority and no event. Exception: task_memory.c links free implicit tasks by `piece`. With ORT_MEMBERS_APART an
     * implicit task has no room for these fields (ort_apart). */
    union {
        struct ps_piece piece; /* free task: its link in a magazine or in a list */
        struct ps_list link;   /* ready task with a priority: its link in the team's queue */
        struct ort_task *next; /* taskloop with `copy`: the task made after this one; used until this one is queued */
        struct { /* a frame's; base: the member's former `base` (ort_task_enter); under: the frame before it */
            int64_t base;
            struct ort_task *under;
        };
    };
    struct ort_task *above; /* a frame's (task_frame.h): the next frame of its chain, or NULL */
    int32_t priority;
    _Atomic uint32_t event;
#if ORT_MEMBERS_APART
    void (*fn)(void *);
    void *data;
    struct ort_depend_node *node;
    uint32_t unused[2];
#endif
};
/* Returns the tool's record, which is behind every task that a tool may be told of. */
static inline struct ort_tool_task *ort_tool_task(struct ort_task *task)
{
    return (struct ort_tool_task *)(void *)(task + 1);
}
#define ORT_TASK_IMPLICIT_BYTES offsetof(struct ort_task, piece)
_Static_assert(sizeof(struct ort_task) % 16 == 0 && sizeof(struct ort_task) <= 128, "its data begins behind it");

#define ORT_TASK_CLASSES 3
#define ORT_TASK_SMALL_CLASS 1

/* A member's free descriptors, by the size of their memory. */
struct ort_task_cache {
    struct ps_magazine of[ORT_TASK_CLASSES];
};

/* A member's implicit task. It is not in its team's block, because that may be freed: thieves follow pointers to
 * implicit tasks as to any other task (task_memory.c). */
struct ort_task_implicit {
    struct ort_task task;
    struct ort_tool_task tool; /* behind the task, as for every task */
};

/* What a member has for tasks: part of its ort_thread, or allocated at its first task (ort_tasks). Zeroed memory is its
 * initial state; it lasts from region to region. */
struct ort_task_member {
    /* The member pushes and pops; after its body the entity that runs ort_task_assist for it. Other members steal. */
    struct ps_deque deque;
    int64_t base; /* position in the deque: items from here on are descendants of the running task */
#if ORT_MEMBERS_APART
    struct ort_thread *thread; /* the member whose part this is */
    /* The next one in the list ort_task_team.makers; makes: it is in the list. Written by the member, and at the
     * region's end by the parent. */
    struct ort_task_member *next_maker;
    bool makes;
#else
    /* Set by ort_task_team_init. On the cache line of `base`, because a region's begin uses both. */
    struct ort_task_implicit *implicit;
    uint32_t seed; /* number of the member at which the next search for a task to steal begins */
#endif
    struct ort_task_cache cache;
    /* The chain of descriptors for tasks that run at once (task_frame.h): the first, the last, and the next to be used
     * (NULL: it must be made). */
    struct ort_task *frames, *last_frame, *frame;
    struct ps_magazine nodes; /* free nodes of dependences (depend.c) */
#if !ORT_MEMBERS_APART
    struct ps_list helper; /* the member's link in the team's `helpers`, under the team's lock */
#endif
};

#define ORT_CANCELLED_REGION 1u
#define ORT_CANCELLED_GROUP 2u

/* A team's part for tasks; ort_task_team_init sets up the lists. takers, sleepers, priority_count and coming are
 * written under `lock`, and read by any thread without it. */
struct ort_task_team {
    /* Number of members in `sleeping` and `helpers`. A thread that has queued a task, except on an unfenced deque,
     * loads it; if it is not 0, the thread wakes a sleeper that may run the task, or calls a helper. */
    PS_LINE_ALIGNED _Atomic uint32_t takers;
    _Atomic uint32_t sleepers;       /* members in `sleeping` */
    _Atomic uint32_t priority_count; /* tasks in `priority` */
    _Atomic uint32_t used;           /* 1: a task was deferred in this region; in a team of one it may stay 0 */
    _Atomic uint32_t unfenced;       /* 1: some member's deque was unfenced in this region (deque.h) */
    /* bits ORT_CANCELLED_REGION, ORT_CANCELLED_GROUP (some group of the region) */
    _Atomic uint32_t cancelled;
    _Atomic uint32_t loop_cancelled;   /* 1: the current loop or sections are cancelled */
    _Atomic uint32_t turn, turn_tries; /* used under a thread sanitizer only, see task_run.c */
    _Atomic uint32_t coming; /* the called helper, not member 0, that has not looked for tasks yet; 0: there is none */
    PS_LINE_ALIGNED struct ps_spin lock; /* guards the three lists, which are empty in most regions */
    struct ps_list sleeping;             /* members that wait for tasks, and have found none */
    /* members whose bodies have returned, and that find no task (task_helpers.h) */
#if ORT_MEMBERS_APART
    /* Members that have pushed a task in this region, in a list that only grows while the region is open. Any member
     * puts itself in, by a compare-and-swap. */
    _Atomic(struct ort_task_member *) makers;
    _Atomic uint32_t
        last_helper; /* the one that was added last; behind the table of members is a bit for each helper */
#else
    struct ps_list helpers;
#endif
    /* Ready tasks with a priority, or made ready by a thread outside of the team; sorted by priority. */
    struct ps_list priority;
    _Atomic uint32_t pins;            /* threads that are fulfilling an event or ending a hold of a task of the team */
    _Atomic uint32_t barrier_arrived; /* members that have arrived at the cancellable barrier */
    _Atomic uint32_t barrier_phase;
};

/* --- functions that regions and barriers call --- */

/* ort_task_team_init is called once for a team block, when it is zeroed and n_max is set; false: there is no memory for
 * its tasks. ort_task_team_fini is called before the block is freed. */
bool ort_task_team_init(struct ort_team *team);
void ort_task_team_fini(struct ort_team *team);
/* Frees what a member's storage holds for tasks. */
void ort_task_thread_fini(struct ort_thread *thread);
/* Called by a member when it begins: makes its implicit task the current one, with these ICVs. */
void ort_task_member_begin(struct ort_thread *thread, struct ort_icv *icv);
/* Called by a member whose body is done: runs tasks, and returns when all tasks below its implicit task are complete.
 * Tasks of other members may be left; ee_team_ops.assist runs them. [switches] */
void ort_task_member_end(struct ort_thread *thread);
/* Called at the end of a region or of a target region, when no other member runs in it any more: waits until `pins` is
 * 0. If the region has used tasks or may be cancelled, resets the team's part for the next region. [switches] */
void ort_task_team_end(struct ort_team *team);
/* Called in a forked child, whose only thread is t: resets what other threads held, in t's teams and elsewhere. */
void ort_task_after_fork_in_child(struct ort_thread *t);
/* The functions assist, idle and rest of ee_team_ops (ee.h). [ort_task_assist switches] */
void ort_task_assist(struct ort_thread *thread);
bool ort_task_idle(struct ort_thread *thread);
void ort_task_rest(struct ort_thread *thread);
/* The team's barrier, a task scheduling point. When it opens, all tasks of the region are complete. [switches] */
void ort_task_barrier(struct ort_thread *thread);
/* The barrier of a region that may be cancelled; returns true if the region is cancelled. [switches] */
bool ort_task_barrier_cancel(struct ort_thread *thread);

/* --- tasks --- */

enum ort_depend_kind { ORT_DEPEND_IN = 1, ORT_DEPEND_OUT = 2, ORT_DEPEND_MUTEXINOUTSET = 4, ORT_DEPEND_INOUTSET = 5 };
struct ort_depend {
    void *address; /* with ORT_DEPEND_OUT: NULL stands for omp_all_memory */
    enum ort_depend_kind kind;
};
/* How to read the n dependences of an ABI's list: by `addresses` or by `get`. addresses: the first n_out are written,
 * the others are read. */
struct ort_depend_list {
    size_t n, n_out;
    void *const *addresses; /* NULL: call get instead */
    struct ort_depend (*get)(const void *list, size_t i);
    /* For a tool: returns dependence i in the program's order. NULL: `get` has this order. */
    struct ort_depend (*as_written)(const void *list, size_t i);
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
    void **event; /* with ORT_TASK_DETACH: *event and the first pointer of data receive the handle */
};

/* Returns the nodes of the tasks that wait for t, a task that has not begun: a snapshot; NULL: none, or no memory. The
 * list lives as long as t's node, whose first word points to it. For libraries that read a graph of tasks. */
struct ort_depend_successor {
    struct ort_depend_node *node;
    struct ort_depend_successor *next;
};
struct ort_depend_successor *ort_depend_successors(struct ort_task *t);

/* Makes a task and queues it, or runs it at once. [switches] */
void ort_task_create(struct ort_thread *thread, const struct ort_task_args *args);

/* ort_task_create in steps, for compiled code that writes into the task itself. ort_task_new returns a descriptor whose
 * `data` has room for size bytes. The task has no parent yet; the same thread must submit, enter or discard it. If
 * there is no memory, the caller runs other tasks until a descriptor is free, or aborts with one line. [switches] */
struct ort_task *ort_task_new(struct ort_thread *thread, size_t size, size_t align);
void ort_task_discard(struct ort_thread *thread, struct ort_task *t);
/* Does what ort_task_create does, for a descriptor whose data is in place. args->data, copy and event are not used;
 * args->size is only told to a tool. flags may contain ORT_TASK_COPIED. [switches] */
void ort_task_submit(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args);
/* Called before and after the body of an undeferred task, which the caller runs itself. [ort_task_leave switches] */
void ort_task_enter(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args);
void ort_task_leave(struct ort_thread *thread, struct ort_task *t);

/* Does what ort_task_create does, for a task of the caller's with no clauses but untied, final and mergeable (flags).
 * Its data is copied by memcpy. Called while no tool is attached. [switches] */
void ort_task_spawn(void (*fn)(void *), void *data, size_t size, size_t align, unsigned flags);
/* ort_task_spawn for a task with dependences. [switches] */
void ort_task_spawn_ordered(void (*fn)(void *), void *data, size_t size, size_t align, unsigned flags,
                            const struct ort_depend_list *depend);
/* ort_task_spawn for an undeferred task: runs it at once, on the caller's data. [switches] */
void ort_task_call(void (*fn)(void *), void *data, unsigned flags);
/* ort_task_spawn and ort_task_call for data that `copy` constructs: in the task, or, if it runs at once and the data is
 * not too long, on the caller's stack. [both switch] */
void ort_task_spawn_copied(void (*fn)(void *), void *data, void (*copy)(void *to, void *from), size_t size,
                           size_t align, unsigned flags);
void ort_task_call_copied(void (*fn)(void *), void *data, void (*copy)(void *to, void *from), size_t size, size_t align,
                          unsigned flags);
static PS_ALWAYS_INLINE struct ort_task *ort_task_pop(struct ps_magazine *m)
{
    return PS_CONTAINER_OF(ps_magazine_pop(m), struct ort_task, piece);
}
/* ort_task_new for up to ORT_TASK_SMALL bytes, aligned to 16. NULL: call ort_task_new instead. */
#define ORT_TASK_SMALL 128
static inline struct ort_task *ort_task_new_small(struct ort_task_cache *cache)
{
    struct ps_magazine *m = &cache->of[ORT_TASK_SMALL_CLASS];
    if (PS_UNLIKELY(ort_tasks_traced()) || PS_UNLIKELY(m->free == NULL))
        return NULL;
    struct ort_task *t = ort_task_pop(m);
    t->flags = 0;
    t->size_class = ORT_TASK_SMALL_CLASS; /* unchanged: one store writes it with the flags */
    return t;
}
/* ort_task_discard for what ort_task_new_small returned. False: call ort_task_discard instead. */
#define ORT_TASK_CACHED 64
static inline bool ort_task_discard_small(struct ort_task_cache *cache, struct ort_task *t)
{
    struct ps_magazine *m = &cache->of[ORT_TASK_SMALL_CLASS];
    if (PS_UNLIKELY(t->size_class != ORT_TASK_SMALL_CLASS) || PS_UNLIKELY(m->n >= ORT_TASK_CACHED - 1))
        return false;
    (void)ps_magazine_push(m, &t->piece, ORT_TASK_CACHED / 2); /* the magazine cannot become full: n was tested */
    return true;
}
/* ort_task_submit on the fast path; ort_task_submit_ordered for a task with dependences. Both return false, and have
 * done nothing, if the task needs the slow path. [both switch] */
bool ort_task_submit_fast(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags);
bool ort_task_submit_ordered(struct ort_thread *thread, struct ort_task *t, void (*fn)(void *), unsigned flags,
                             const struct ort_depend_list *depend);

void ort_taskwait(struct ort_thread *thread);
void ort_taskwait_depend(struct ort_thread *thread, const struct ort_depend_list *depend);
void ort_taskyield(struct ort_thread *thread);
/* Fulfils the event of a task with a detach clause. Called on any kernel thread, in the team or not. */
void ort_task_fulfill(void *event);
/* true: a member that is in no explicit task runs its tasks in the order in which they were made (layer.h). */
extern _Atomic bool ort_tasks_in_order;
/* Called by the member that runs t, a deferred task: t completes only after one further ort_task_release. */
void ort_task_hold(struct ort_task *t);
/* Ends one ort_task_hold. Called on any kernel thread, in the team or not. */
void ort_task_release(void *task);
bool ort_in_final(struct ort_thread *thread);

/* --- taskloop --- */

enum ort_taskloop_size { ORT_TASKLOOP_DEFAULT, ORT_TASKLOOP_NUM_TASKS, ORT_TASKLOOP_GRAINSIZE };
struct ort_taskloop {
    struct ort_task_args task; /* `submit` NULL: its data begins with two uint64_t bounds, filled in by ort_taskloop */
    bool nogroup, strict;
    enum ort_taskloop_size by;
    uint64_t size;  /* the value of num_tasks or grainsize */
    uint64_t n;     /* iterations; > 0 */
    uint64_t start; /* first value; arithmetic modulo 2^64 */
    uint64_t step;
    uintptr_t *reductions; /* NULL: none */
    /* Called for each task: makes it, for `count` iterations from value `from` on. last: no other task follows. NULL:
     * ort_taskloop makes copies of `task`. */
    void (*submit)(struct ort_thread *thread, const struct ort_taskloop *loop, uint64_t from, uint64_t count,
                   bool last);
    void *context; /* for `submit` */
    bool ranges;   /* true: instead of `submit`, many tasks may be made from `task` in one descriptor (task_range.h) */
};
void ort_taskloop(struct ort_thread *thread, const struct ort_taskloop *loop);

/* --- taskgroup and task reductions --- */

struct ort_taskgroup {
    struct ort_taskgroup *prev;
    struct ort_task *task; /* the task that opened it */
    struct ort_count count;
    uintptr_t *reductions; /* its tasks' reductions: the innermost block (task_reduction.c); NULL: none */
    _Atomic uint32_t cancelled;
    /* true: made for a work-sharing construct with task reductions; cancelling it cancels the group around it */
    bool workshare;
};
void ort_taskgroup_start(struct ort_thread *thread);
/* Waits for the group's tasks, and closes the group. [switches] */
void ort_taskgroup_end(struct ort_thread *thread);

/* register adds a block of task reductions (task_reduction.c) to the current task's group, unregister frees its memory.
 * remap replaces the addresses of n list items by those of the calling thread's copies. */
void ort_task_reduction_register(struct ort_thread *thread, uintptr_t *block);
void ort_task_reduction_unregister(uintptr_t *block);
void ort_task_reduction_remap(struct ort_thread *thread, size_t n, size_t n_original, void **pointers);
/* For work-sharing constructs: each member opens a taskgroup, then registers its block. `first`: the block that the
 * first member registered, which the construct's slot keeps (workshare.c); NULL: the caller is the first member. */
void ort_workshare_reduction_start(struct ort_thread *thread);
void ort_workshare_reduction_register(struct ort_thread *thread, uintptr_t *block, uintptr_t *first);
/* Waits for the group's tasks, and closes the group. Unless cancelled, ends with the team's barrier. [switches] */
void ort_workshare_reduction_end(struct ort_thread *thread, bool cancelled);
/* For parallel reduction(task, ...): called before the fork, for a team of n. Sets up `group` with the block; each
 * implicit task begins in this group. */
void ort_parallel_reduction_start(struct ort_taskgroup *group, uintptr_t *block, unsigned n);

/* --- cancellation --- */

enum ort_cancel { ORT_CANCEL_PARALLEL = 1, ORT_CANCEL_LOOP = 2, ORT_CANCEL_SECTIONS = 4, ORT_CANCEL_TASKGROUP = 8 };
bool ort_cancel(struct ort_thread *thread, unsigned which);
bool ort_cancellation_point(struct ort_thread *thread, unsigned which);
bool ort_cancelled_parallel(struct ort_team *team);

#endif
