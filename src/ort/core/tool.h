/* The core's side of the tools interface (OMPT). A tool is a profiler or a race detector that watches a program.
 *
 * Does: holds the tool's callbacks, and raises the events that OpenMP 5.2 chapter 19 defines. Holds one word of the
 * tool's data for each thread, region and task. Holds each task's frames: the stack addresses at which the task went
 * from the runtime into the program's code, and back. Does not: find or start a tool, or know the interface's C names;
 * src/abi/ompt does this. The callbacks' types and the numbers are the specification's (tool_events.h), so src/abi/ompt
 * translates nothing.
 *
 * Callers: entry points and the core's files, on the stack of the OpenMP thread that the event happens to. The caller
 * holds no lock unless a comment says so. Callbacks run on the same stack. A callback may call the inquiry functions,
 * but no OpenMP construct.
 *
 * Invariants: the runtime looks for a tool once, before it makes the first team or task. When the tool ends, its
 * callbacks are set to NULL; entry points still take the paths for a tool. Ordering: the tool's callbacks write a
 * task's data before the task is published, and a region's data before the fork. So the members see the data.
 * Cost without a tool: one word is read, and a branch is not taken (ort_tool_on). Failures: none. */
#ifndef PS_ORT_TOOL_H
#define PS_ORT_TOOL_H

#include "atomic.h"
#include "compiler.h"
#include "tool_events.h"

struct ort_thread;
struct ort_team;
struct ort_task;
struct ort_depend;
struct ort_depend_list;
struct ort_nest_lock;

#define ORT_OPENMP 202011u /* the OpenMP version that tools and debuggers are told: 5.1 */

struct ort_tool_chunk {
    uint64_t start, iterations;
};

#ifndef ORT_TOOLS
#define ORT_TOOLS 1
#endif
#if ORT_TOOLS
/* A task's record for the tool. The tool writes `data`. The member that runs the task writes `frame` and `below`.
 * Members of a region that the task opens read both; the task does not change them meanwhile, because it waits in the
 * join. */
struct ort_tool_task {
    union ort_tool_data data;
    struct ort_tool_frame frame;
    struct ort_task *below; /* explicit task: the task that the member left to run this one */
    /* The task's kind and flags, as the tool is told them. The bits ORT_TOOL_TASK_BELOW are the runtime's own: the
     * state that the member had when it left the task `below`. */
    int flags;
    uint32_t bytes;              /* size of the task's data */
    struct ort_tool_chunk chunk; /* of a taskloop's task: its iterations; `iterations` is 0 in any other task */
};

/* The specification's "native thread" is here the OpenMP thread, as the program sees it in threadprivate data. A native
 * thread is a root, or a member other than 0 of a team block: from the member's first region until the block is freed.
 * Member 0 is its parent's native thread. So a native thread's data follows the member from kernel thread to kernel
 * thread. A tool's own thread-local variables are the member's, too (src/uth/tls.h).
 *
 * Exception: under a sanitizer, and with kernel-thread entities, members have no thread-local storage of their own
 * (ee_private_storage returns false). A tool's thread-local variables would then be another member's. There the native
 * thread is the carrier: the kernel thread that runs the members. A carrier's thread_begin is raised before its first
 * other event, its thread_end for a root only.
 * Rejected: the virtual processor as native thread. Events of one task would come from several threads, and begin/end
 * pairs would not match on any of them.
 * All fields are written by the OpenMP thread itself. Exceptions: a thread that replaces the team block by a larger one
 * moves them. Member 0 of a region reads `data` of its parent, and the thread that gives a block up reads `begun`. */
struct ort_tool_thread {
    /* The word of the tool's data for this thread; valid while `begun`. When a member moves to a larger block, the word
     * stays where it is and the pointer is copied: the tool keeps the address. */
    union ort_tool_data *data;
    const void *caller; /* return address of the entry point that the thread has called last */
    /* Address of the mutex that the thread waits for; valid while `state` says that it waits for a mutex
     * (ORT_STATE_WAIT_LOCK and the like). The thread runs no task while it waits for one. */
    uint64_t wait_id;
    int state;   /* ORT_STATE_... of the task that the thread runs; 0: the task works */
    bool begun;  /* true: thread_begin has been raised, thread_end has not */
    bool yields; /* true: a taskyield runs the thread's next task */
    /* Kind of the work-sharing region that the thread is in (enum ort_work_kind); 0: it is in none. A taskloop does not
     * change it. */
    int work;
    uint64_t count;              /* that work-sharing region's count, as its work event has it */
    struct ort_tool_chunk chunk; /* iterations of the taskloop's task that the thread makes next */
};

/* A region's record for the tool. The parent writes it before the fork (the tool writes `data`); the members read
 * it. */
struct ort_tool_team {
    union ort_tool_data data;
    const void *caller;
    int flags;
    bool farewell; /* true: this region has no body; each member only raises its thread_end */
};
#else
struct ort_tool_task {
};
struct ort_tool_thread {
};
struct ort_tool_team {
};
#endif

/* Raises the event `name` if the tool has a callback for it. */
#define ORT_RAISE(name, ...)                                         \
    do {                                                             \
        __auto_type raise_ = ps_load_relaxed(&ort_tool_events.name); \
        if (raise_ != NULL) {                                        \
            if (PS_UNLIKELY(ps_load_relaxed(&ort_tool_carriers)))    \
                ort_tool_native_begins();                            \
            raise_(__VA_ARGS__);                                     \
        }                                                            \
    } while (0)
/* true: the native threads are the carriers, see struct ort_tool_thread. */
extern ORT_HIDDEN _Atomic bool ort_tool_carriers;
/* Called before each event. If carriers are the native threads, raises the thread_begin of the carrier that runs the
 * caller, unless this has been done. */
void ort_tool_native_begins(void);

/* This is how a program without a tool pays nearly nothing. An entry point tests one word, ort_tool_on(), in a branch
 * that is not taken; the code behind the branch is out of line. The word is true until the runtime has looked for a
 * tool, so the first entry point of all takes that branch, too. The code behind the branch begins with ort_self(),
 * which looks for the tool and makes the root. If there is no tool, every callback is NULL.
 * An entry point whose construct waits calls a traced function instead of the core's own, such as ort_tool_barrier
 * instead of ort_barrier. The traced function raises the events around the core's own function, so that function has no
 * hook. ORT_TOOL_CALL keeps the caller's address and frame for events that the core raises.
 * The word is not an atomic object: compilers do not compare an atomic in memory, so each entry point would need four
 * instructions instead of two. The thread that looks for the tool writes the word, once. A thread that still reads the
 * old value takes the slow path, and finds every callback NULL. */
extern ORT_HIDDEN bool ort_tool_wanted;
/* Returns true if there is a tool, or if no thread has looked for one yet. With ORT_TOOLS=0 the target has no tools:
 * the code behind the branch is not even linked. */
static inline bool ort_tool_on(void)
{
#if !ORT_TOOLS
    return false;
#elif PS_TSAN
    return __atomic_load_n(&ort_tool_wanted, __ATOMIC_RELAXED);
#else
    return ort_tool_wanted;
#endif
}
/* Bits; if one is set, every deferred task takes the slow path. ORT_TASKS_TRACED: a tool or the program's thread
 * sanitizer is told of every task, and of every lock, too. ORT_TASKS_CANCEL: cancellation is on. The bits are written
 * once, together with ort_tool_wanted. */
enum { ORT_TASKS_TRACED = 1, ORT_TASKS_CANCEL = 2 };
extern ORT_HIDDEN unsigned char ort_tasks_wanted;
static inline unsigned ort_tasks_traced(void)
{
#if PS_TSAN
    return __atomic_load_n(&ort_tasks_wanted, __ATOMIC_RELAXED);
#else
    return ort_tasks_wanted;
#endif
}
/* Flags of a new implicit task: ORT_TASK_IMPLICIT, and also ORT_TASK_TRACED if ORT_TASKS_TRACED is set. Written once,
 * together with ort_tool_wanted. */
extern ORT_HIDDEN _Atomic uint16_t ort_implicit_flags;
/* Returns true if a tool or the program's thread sanitizer must be told of every task and every lock. The caller then
 * uses the traced functions, which find out which of the two it is. */
static inline bool ort_traced(void) { return ORT_TOOLS && (ort_tasks_traced() & ORT_TASKS_TRACED) != 0; }
/* Bytes that each task's descriptor has in addition, for its ort_tool_task; 0 without a tool. */
extern ORT_HIDDEN size_t ort_tool_task_bytes;
/* The function that looks for a tool and starts it. The core calls it once, before it makes the first root. The
 * variable is set while this library is loaded; NULL: no tool is looked for. */
extern void (*ort_tool_start)(void);
/* Called when a tool or a debugger listens, before the first task is made. Tasks have room for an ort_tool_task from
 * then on. */
void ort_tool_attach(void);
/* Both end the tool: they set all callbacks to NULL. Both return false if the tool has ended before. ort_tool_detach is
 * called when the program ends: it first raises the end events of the caller, if the caller is a root. Without a tool
 * it returns false. ort_tool_no_more raises no event. */
bool ort_tool_detach(void);
bool ort_tool_no_more(void);
/* Returns true while a tool or a debugger listens. Unlike ort_tool_on() it is false after the tool's end. */
bool ort_tool_attached(void);

/* The places where a debugger may want to stop. ort_stop_here calls ort_debugger_stop with the place. If
 * ort_debugger_stop is NULL, no debugger listens; it is set while this library is loaded. A debugger listens as a tool
 * does (ort_tool_attach), so the states and frames are there for it at no further cost. */
enum ort_stop {
    ORT_STOP_THREAD_BEGIN,
    ORT_STOP_THREAD_END,
    ORT_STOP_PARALLEL_BEGIN,
    ORT_STOP_PARALLEL_END,
    ORT_STOP_TASK_BEGIN,
    ORT_STOP_TASK_END,
};
extern void (*ort_debugger_stop)(enum ort_stop at);
void ort_stop_here(enum ort_stop at);

/* --- the calling entry point --- */

/* ort_tool_enter notes the entry point's return address in t, and its frame as the enter frame of t's current task.
 * ort_tool_leave removes the enter frame. ort_tool_caller notes the return address only. */
void ort_tool_enter(struct ort_thread *t, const void *caller, void *frame);
void ort_tool_leave(struct ort_thread *t);
void ort_tool_caller(struct ort_thread *t, const void *caller);
/* A tool is told a code address as the place of a construct: as a rule the entry point's return address, `caller`. If
 * the construct's call is the last thing that a function does, compilers jump to the entry point. The return address
 * may then lie in the runtime itself, and the place is the construct's body, `fn`. After ort_tool_tell_bodies the place
 * is always `fn`: GCC gives the call of a construct the source line of the statement before it. */
extern ORT_HIDDEN bool ort_tool_tells_bodies; /* written while a tool starts, before its first event */
void ort_tool_tell_bodies(void);
/* From the linker: start of this shared object, end of its code. */
extern ORT_HIDDEN const char __ehdr_start[], etext[];
static inline bool ort_tool_is_own_code(uintptr_t address)
{
    return address - (uintptr_t)__ehdr_start < (uintptr_t)etext - (uintptr_t)__ehdr_start;
}
static inline const void *ort_tool_place(const void *caller, void (*fn)(void *))
{
    uintptr_t body = (uintptr_t)fn + 1; /* as a return address it stands for the instruction before it */
    bool wanted = ort_tool_tells_bodies || ort_tool_is_own_code((uintptr_t)caller);
    return PS_UNLIKELY(wanted) && fn != NULL && !ort_tool_is_own_code(body)
               ? (const void *)body // NOLINT(performance-no-int-to-ptr)
               : caller;
}
const void *ort_tool_caller_of(const struct ort_thread *t);
/* Notes the iterations of the next task that t makes for a taskloop. */
void ort_tool_next_chunk(struct ort_thread *t, uint64_t start, uint64_t iterations);
#if ORT_TOOLS
#define ORT_CALLER __builtin_return_address(0)
#define ORT_FRAME __builtin_dwarf_cfa()
#else
#define ORT_CALLER NULL
#define ORT_FRAME NULL
#endif
/* For an entry point whose construct may call the program: keeps the entry point's return address and frame during the
 * call, if there is a tool. */
#define ORT_TOOL_CALL(t, ...)                             \
    do {                                                  \
        if (PS_UNLIKELY(ort_tool_on())) {                 \
            struct ort_thread *self_ = (t);               \
            ort_tool_enter(self_, ORT_CALLER, ORT_FRAME); \
            __VA_ARGS__;                                  \
            ort_tool_leave(self_);                        \
        } else {                                          \
            __VA_ARGS__;                                  \
        }                                                 \
    } while (0)

/* For an entry point whose construct calls no code of the program: notes the entry point's return address, if there is
 * a tool. */
#define ORT_TOOL_CALLER(t)                  \
    do {                                    \
        if (PS_UNLIKELY(ort_tool_on()))     \
            ort_tool_caller(t, ORT_CALLER); \
    } while (0)
/* Executes `traced` if there is a tool, else `untraced`. Both may use ORT_CALLER, the entry point's return address. */
#define ORT_TRACED(traced, untraced)      \
    do {                                  \
        if (PS_UNLIKELY(ort_tool_on())) { \
            traced;                       \
        } else {                          \
            untraced;                     \
        }                                 \
    } while (0)
/* Does what ORT_TRACED does, with `traced` between ort_tool_enter and ort_tool_leave. */
#define ORT_TOOL_TRACED(t, traced, untraced)              \
    do {                                                  \
        if (PS_UNLIKELY(ort_tool_on())) {                 \
            struct ort_thread *self_ = (t);               \
            ort_tool_enter(self_, ORT_CALLER, ORT_FRAME); \
            traced;                                       \
            ort_tool_leave(self_);                        \
        } else {                                          \
            untraced;                                     \
        }                                                 \
    } while (0)

/* --- inquiries, called by the tool --- */

/* Returns the data of t's native thread (struct ort_tool_thread). */
ort_tool_ptr ort_tool_thread_data(struct ort_thread *t);
/* Returns the task `level` levels outwards from t's current task; NULL if there are fewer levels, or the level is
 * negative. *in becomes the thread that runs the task. */
struct ort_task *ort_tool_ancestor(struct ort_thread *t, int level, struct ort_thread **in);
int ort_tool_task_flags(const struct ort_task *task);
int ort_tool_state(const struct ort_thread *t);

/* ort_tool_by_carrier returns ort_tool_carriers. ort_tool_decide_carriers sets it when a region begins, if members have
 * no thread-local storage of their own; before the first region there are roots only, for which it makes no difference.
 * ort_tool_root_data returns the word of tool data of the calling root. */
bool ort_tool_by_carrier(void);
void ort_tool_decide_carriers(void);
union ort_tool_data *ort_tool_root_data(void);

/* --- events: threads, regions, implicit tasks (tool_region.c) --- */

void ort_tool_root_begins(struct ort_thread *t);
void ort_tool_root_ends(struct ort_thread *t);
/* Raises thread_end for the members of a block that is about to be freed, each on the member's own stack. Does nothing
 * unless the caller is the block's parent and has no open region. */
void ort_tool_team_ends(struct ort_team *team);
struct ort_parallel;
/* Called by the parent before the fork. */
void ort_tool_region_begins(struct ort_thread *parent, struct ort_team *team, const struct ort_parallel *region);
/* Called by the parent after the join. */
void ort_tool_region_ends(struct ort_thread *parent, struct ort_team *team);
/* Both are called by the member: ort_tool_member_begins when its implicit task is set up, ort_tool_member_ends in place
 * of ort_member_ends. The second one does not call ort_member_drops. */
void ort_tool_member_begins(struct ort_thread *m);
void ort_tool_member_ends(struct ort_thread *m);
/* Calls fn(data), and notes this function's frame as the exit frame of the calling member's current task. */
void ort_tool_run(void (*fn)(void *), void *data);
/* ort_tool_run for the task's own function and data. */
void ort_tool_run_task(struct ort_task *task);
/* Called by member m of a league around each team that it runs: the events of team number `num` of n. To the tool the
 * league is one region, whose members are initial tasks. Tools for libomp's programs expect that. */
void ort_tool_league_team_begins(struct ort_thread *m, unsigned n, unsigned num);
void ort_tool_league_team_ends(struct ort_thread *m, unsigned num);

/* --- events: explicit tasks (tool_task.c) --- */

struct ort_task_args;
/* Called by `thread` when it has made t, a child of its current task. */
void ort_tool_task_created(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args);
/* ort_tool_task_begins is called when the thread's current task has just changed from `below` to t. ort_tool_task_ends
 * is called just before it changes back; t's body has ended, or was not run at all. detached: t, a deferred task,
 * completes only once its event is fulfilled, too. */
void ort_tool_task_begins(struct ort_thread *thread, struct ort_task *t, struct ort_task *below);
void ort_tool_task_ends(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, bool detached);
void ort_tool_task_discarded(struct ort_task *t);
void ort_tool_task_fulfilled(struct ort_task *t, bool late);
/* Called when `second` is made to wait for `first`, which is not complete. The caller holds the lock of first's
 * node. */
void ort_tool_task_depends(struct ort_task *first, struct ort_task *second);
/* Tells the tool the dependences of a task or a taskwait, in the order in which the program wrote them. */
void ort_tool_tell_dependences(ort_tool_ptr task, const struct ort_depend_list *list);
void ort_tool_taskwait_from(const void *caller, void *frame);
void ort_tool_taskwait_depend(struct ort_thread *t, const struct ort_depend_list *list);
void ort_tool_taskgroup_start(struct ort_thread *t);
/* Raises the events around end(t), which waits for the taskgroup's tasks: ort_taskgroup_end, or an entry point's own
 * function. */
void ort_tool_taskgroup_end(struct ort_thread *t, void (*end)(struct ort_thread *));

/* --- events: synchronisation and work (tool_sync.c) --- */

void ort_tool_barrier(struct ort_thread *t, enum ort_sync_kind kind);
/* Calls ort_tool_barrier between ort_tool_enter and ort_tool_leave. It is the only call behind an entry point's branch,
 * so the entry point saves no registers for it. */
void ort_tool_barrier_from(enum ort_sync_kind kind, const void *caller, void *frame);
bool ort_tool_barrier_cancel(struct ort_thread *t, enum ort_sync_kind kind);
/* The functions of lock.h with their events. Entry points call them if a tool or sanitizer listens (ort_traced), and
 * the functions of lock.h themselves otherwise. Exceptions: ort_tool_lock_made and ort_tool_lock_gone are for a tool
 * only, and lock nothing. */
void ort_tool_lock(_Atomic uint32_t *word, enum ort_mutex_kind kind, unsigned hint, const void *caller);
bool ort_tool_lock_try(_Atomic uint32_t *word, const void *caller);
void ort_tool_unlock(_Atomic uint32_t *word, enum ort_mutex_kind kind, const void *caller);
void ort_tool_nest_lock(struct ort_nest_lock *lock, const void *owner, const void *caller);
int ort_tool_nest_lock_try(struct ort_nest_lock *lock, const void *owner, const void *caller);
void ort_tool_nest_unlock(struct ort_nest_lock *lock, const void *caller);
void ort_tool_lock_made(const void *lock, enum ort_mutex_kind kind, unsigned hint, const void *caller);
void ort_tool_lock_gone(const void *lock, enum ort_mutex_kind kind, const void *caller);
void ort_tool_ordered_start(struct ort_thread *t, const void *caller);
void ort_tool_ordered_end(struct ort_thread *t, const void *caller);
void ort_tool_flush(struct ort_thread *t, const void *caller);
/* which: one of enum ort_cancel (task.h). what: ORT_CANCEL_ACTIVATED or another bit of tool_events.h. */
void ort_tool_cancel(struct ort_thread *t, unsigned which, int what, const void *caller);
void ort_tool_masked(struct ort_thread *t, int scope, const void *caller);
void ort_tool_reduction(struct ort_thread *t, int scope, const void *caller);
void ort_tool_work(struct ort_thread *t, int kind, int scope, uint64_t count, const void *caller);
/* For a loop or sections: called when they begin, when the thread leaves them, and for each chunk or section that the
 * thread gets. kind: ORT_CHUNK_LOOP or the like. ort_tool_loop_ends also ends a single region. */
void ort_tool_loop_begins(struct ort_thread *t, bool sections, uint64_t count, unsigned sched);
void ort_tool_loop_ends(struct ort_thread *t);
void ort_tool_chunk(struct ort_thread *t, int kind, uint64_t start, uint64_t n);
void ort_tool_section(struct ort_thread *t);
/* Called after ort_single. mine: the caller executes the region; only its begin event is raised. Otherwise begin and
 * end are raised at once. */
void ort_tool_single(struct ort_thread *t, bool mine, const void *caller);
void *ort_tool_single_copy_start(struct ort_thread *t);
void ort_tool_single_copy_end(struct ort_thread *t, void *data);
/* For omp_control_tool. Returns -2 if there is no tool, -1 if the tool has no callback for it, else the callback's
 * result. */
#define ORT_TOOL_NONE (-2)
int ort_tool_control(uint64_t command, uint64_t modifier, void *argument, const void *caller);
void ort_tool_error(int severity, const char *message, size_t length, const void *caller);
/* For doacross: the thread posts a position (`source`), or waits for one. */
void ort_tool_position(struct ort_thread *t, bool source, const uint64_t *position, unsigned dims);

#endif
