/* Tools that watch a program (profilers, race detectors): what the core tells them, and where their data is kept.
 *
 * Does: holds the tool's callbacks; a word of tool data for each thread, region and task; and the frames between which
 * a task is outside of the program's code. Raises the events that OpenMP 5.2 chapter 19 defines. Does not: find or
 * start a tool, or know the interface's C names (src/abi/ompt does). The callbacks and the numbers of kinds are the
 * specification's (tool_events.h), so nothing is translated on the way.
 *
 * Callers: entry points and the core's modules, on the stack of the OpenMP thread concerned, with no lock held but
 * where it is said. Callbacks run on that stack, too; they may call the inquiry functions, not OpenMP constructs.
 *
 * Invariants: a tool is found before the first team or task is made, or never. At its end its callbacks are taken away,
 * and nothing else changes. Ordering: what a creator's tool writes into a task's data is published with the task, a
 * region's with the fork.
 * Cost without a tool: one word is read, in a branch that is not taken (ort_tool_on). Failures: none. */
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

#define ORT_OPENMP 202011u /* what tools and debuggers are told: OpenMP 5.1 */

struct ort_tool_chunk {
    uint64_t start, iterations;
};

#ifndef ORT_TOOLS
#define ORT_TOOLS 1
#endif
#if ORT_TOOLS
/* Writers: the tool writes data; the member that runs the task writes frame and below. Members of regions inside of the
 * task read these, and it waits for them. */
struct ort_tool_task {
    union ort_tool_data data;
    struct ort_tool_frame frame;
    struct ort_task *below;      /* explicit: the task that was left for this one */
    int flags;                   /* of task_create, with the state of what it was left in (ORT_TOOL_TASK_BELOW) */
    uint32_t bytes;              /* of its data */
    struct ort_tool_chunk chunk; /* of a taskloop; no iterations: none */
};

/* What the specification calls a native thread is here the OpenMP thread, as its user sees it in threadprivate data. A
 * native thread is a root, or a member other than 0 of a team block, from the member's first region until the block is
 * freed. Member 0 is its parent's thread. So thread data follows the member wherever it runs; the kernel thread below
 * may change in every wait and has no data here. A tool's own thread-local variables are the member's as well
 * (src/uth/tls.h). Where they cannot be (ee_private_storage: under a sanitizer, with kernel-thread entities), tools
 * would find another member's, or none made by a thread_begin. There the native thread is the carrier. Its thread_begin
 * comes before its first event, its thread_end never, but for a root's.
 * Rejected elsewhere: the virtual processor as native thread. Events of one task would come from several threads, and
 * begin/end pairs would not match on any of them.
 * The thread itself writes and reads it (its tool); the end of a block reads `begun`. */
struct ort_tool_thread {
    union ort_tool_data *data;   /* while begun; goes with a member from block to block: the tool keeps the address */
    const void *caller;          /* of the entry point that the thread is in */
    uint64_t wait_id;            /* of the mutex it waits for; it runs no task meanwhile */
    int state;                   /* ORT_STATE_..., of the task that it runs; 0: works */
    bool begun;                  /* its thread_begin has been raised */
    bool yields;                 /* in a taskyield */
    int work;                    /* the work-sharing region that it is in; 0: none */
    uint64_t count;              /* and its iterations */
    struct ort_tool_chunk chunk; /* of the taskloop's task that it makes next */
};

/* Written by the parent before the fork, read by members. */
struct ort_tool_team {
    union ort_tool_data data;
    const void *caller;
    int flags;
    bool farewell; /* its members only say that their threads end */
};
#else
struct ort_tool_task {
};
struct ort_tool_thread {
};
struct ort_tool_team {
};
#endif

/* Raises an event if the tool wants it. */
#define ORT_RAISE(name, ...)                                         \
    do {                                                             \
        __auto_type raise_ = ps_load_relaxed(&ort_tool_events.name); \
        if (raise_ != NULL) {                                        \
            if (PS_UNLIKELY(ps_load_relaxed(&ort_tool_carriers)))    \
                ort_tool_native_begins();                            \
            raise_(__VA_ARGS__);                                     \
        }                                                            \
    } while (0)
/* Whether the carrier is the native thread. */
extern ORT_HIDDEN _Atomic bool ort_tool_carriers;
/* Raises thread_begin for the carrier, where it is the native thread and this has not been done. */
void ort_tool_native_begins(void);

/* How a tool costs nothing where there is none. ort_tool_on() is the one word that is looked at, in a branch that is
 * not taken; what follows it stands out of line. The word is true until the first OpenMP thread exists, so that the
 * first call of all is seen as well. What stands behind the branch asks for the thread first, and so the tool has been
 * looked for by then. Without a tool every event is NULL. An entry point that begins and ends a wait calls a traced
 * function in the place of the core's own (ort_tool_barrier for ort_barrier). The traced function raises the events
 * around it, so the core's own function has no hook. ORT_TOOL_CALL keeps the caller's address and frame for events that
 * the core raises.
 * Not an atomic object, since compilers do not compare those in place: two instructions in every entry point would be
 * four. The maker of the first root changes the byte, once; a reader that is early or late takes the slow path, and
 * finds nothing there. */
extern ORT_HIDDEN bool ort_tool_wanted;
/* Whether a tool is there, or no thread has looked for one yet. ORT_TOOLS=0: the target has no tools; what stands
 * behind the branch is not even linked. */
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
/* Which listeners want to be told of every task. ORT_TASKS_TRACED: a tool or the program's thread sanitizer (of every
 * lock, too). ORT_TASKS_CANCEL: cancellation. Written once, as ort_tool_wanted. */
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
/* Flags of a new implicit task: ORT_TASK_IMPLICIT, and ORT_TASK_TRACED where ORT_TASKS_TRACED is set. Written once, as
 * ort_tool_wanted. */
extern ORT_HIDDEN _Atomic uint16_t ort_implicit_flags;
/* Whether a tool or the program's thread sanitizer wants to be told of every task and every lock. Both then lead to the
 * traced functions, which ask which of the two it is. */
static inline bool ort_traced(void) { return ORT_TOOLS && (ort_tasks_traced() & ORT_TASKS_TRACED) != 0; }
/* How many bytes more a task's descriptor has for a tool; 0 without one. */
extern ORT_HIDDEN size_t ort_tool_task_bytes;
/* Looks for a tool and starts it; called once, before the first root is made. Set when this library is loaded; NULL: no
 * tool is looked for. */
extern void (*ort_tool_start)(void);
/* The tool is there: from now on events are raised. */
void ort_tool_attach(void);
/* Ends all events, after the end events of what can be ended from here; false: that has been done already.
 * ort_tool_no_more: the last step alone, for tool_region.c. */
bool ort_tool_detach(void);
bool ort_tool_no_more(void);
/* A tool is attached; unlike ort_tool_on() false after its end. */
bool ort_tool_attached(void);

/* Where a debugger may want to stop. It listens as a tool does, so that these places, states and frames cost nothing
 * else: ort_debugger_stop, set when this library is loaded, is called at each of them. NULL: none listens. */
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

void ort_tool_enter(struct ort_thread *t, const void *caller, void *frame);
void ort_tool_leave(struct ort_thread *t);
void ort_tool_caller(struct ort_thread *t, const void *caller);
/* What a tool is told of a construct's place: the caller's address. Where a call is the last thing that a function
 * does, compilers jump. The caller is the runtime itself then, and the place is in the construct's body, fn. After
 * ort_tool_tell_bodies that is so always: GCC gives the call of a construct the line of what stands before it. */
extern ORT_HIDDEN bool ort_tool_tells_bodies; /* written while a tool begins, before its first event */
void ort_tool_tell_bodies(void);
extern ORT_HIDDEN const char __ehdr_start[], etext[]; /* the linker's: where this object begins, where its code ends */
static inline bool ort_tool_is_own_code(uintptr_t address)
{
    return address - (uintptr_t)__ehdr_start < (uintptr_t)etext - (uintptr_t)__ehdr_start;
}
static inline const void *ort_tool_place(const void *caller, void (*fn)(void *))
{
    uintptr_t body = (uintptr_t)fn + 1; /* as a return address: behind the instruction that is meant */
    bool wanted = ort_tool_tells_bodies || ort_tool_is_own_code((uintptr_t)caller);
    return PS_UNLIKELY(wanted) && fn != NULL && !ort_tool_is_own_code(body)
               ? (const void *)body // NOLINT(performance-no-int-to-ptr)
               : caller;
}
const void *ort_tool_caller_of(const struct ort_thread *t);
/* Of a taskloop: the iterations of the task that t makes next. */
void ort_tool_next_chunk(struct ort_thread *t, uint64_t start, uint64_t iterations);
#if ORT_TOOLS
#define ORT_CALLER __builtin_return_address(0)
#define ORT_FRAME __builtin_dwarf_cfa()
#else
#define ORT_CALLER NULL
#define ORT_FRAME NULL
#endif
/* For an entry point: remembers the caller around a call that comes back to the program. */
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

/* Remembers only the caller, for events of constructs that do not leave the program's code for long. */
#define ORT_TOOL_CALLER(t)                  \
    do {                                    \
        if (PS_UNLIKELY(ort_tool_on()))     \
            ort_tool_caller(t, ORT_CALLER); \
    } while (0)
/* Does `traced` where there is a tool, else `untraced`; both have the caller's address from ORT_CALLER. */
#define ORT_TRACED(traced, untraced)      \
    do {                                  \
        if (PS_UNLIKELY(ort_tool_on())) { \
            traced;                       \
        } else {                          \
            untraced;                     \
        }                                 \
    } while (0)
/* The same, between ort_tool_enter and ort_tool_leave. */
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

/* --- inquiries, by the tool --- */

/* Of the native thread on which t runs: see above. */
ort_tool_ptr ort_tool_thread_data(struct ort_thread *t);
/* Returns the task `level` levels outwards from the thread's task; NULL: there is none. *in: the thread that runs
 * it. */
struct ort_task *ort_tool_ancestor(struct ort_thread *t, int level, struct ort_thread **in);
int ort_tool_task_flags(const struct ort_task *task);
int ort_tool_state(const struct ort_thread *t);

/* ort_tool_by_carrier: whether a tool's native threads are the kernel threads; decided with the first region, before
 * which there are roots only. ort_tool_root_data: the tool's word of the calling root. */
bool ort_tool_by_carrier(void);
void ort_tool_decide_carriers(void);
union ort_tool_data *ort_tool_root_data(void);

/* --- events: threads, regions, implicit tasks (tool_region.c) --- */

void ort_tool_root_begins(struct ort_thread *t);
void ort_tool_root_ends(struct ort_thread *t);
/* The members' threads of a block that is given up. */
void ort_tool_team_ends(struct ort_team *team);
struct ort_parallel;
/* The parent, before the fork. */
void ort_tool_region_begins(struct ort_thread *parent, struct ort_team *team, const struct ort_parallel *region);
/* The parent, after the join. */
void ort_tool_region_ends(struct ort_thread *parent, struct ort_team *team);
/* The member, first thing and, in place of ort_task_member_end, last. */
void ort_tool_member_begins(struct ort_thread *m);
void ort_tool_member_ends(struct ort_thread *m);
/* fn(data) on a frame that the member's current task remembers as its exit. */
void ort_tool_run(void (*fn)(void *), void *data);
/* The same for the task's own function. */
void ort_tool_run_task(struct ort_task *task);
/* Events of the teams of a league. The league is a region; its member m runs team number num of n, in a region of one
 * thread, because tools for libomp's programs expect that. */
void ort_tool_league_team_begins(struct ort_thread *m, unsigned n, unsigned num);
void ort_tool_league_team_ends(struct ort_thread *m, unsigned num);

/* --- events: explicit tasks (tool_task.c) --- */

struct ort_task_args;
/* A task of the current one has been made. */
void ort_tool_task_created(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args);
/* begins: the thread's task has just changed from `below` to t. ends: it is about to change back; the body is done (or
 * not run). */
void ort_tool_task_begins(struct ort_thread *thread, struct ort_task *t, struct ort_task *below);
void ort_tool_task_ends(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, bool detached);
void ort_tool_task_discarded(struct ort_task *t);
void ort_tool_task_fulfilled(struct ort_task *t, bool late);
/* first: unfinished, its node locked. */
void ort_tool_task_depends(struct ort_task *first, struct ort_task *second);
/* The dependences that `task` has, as written. */
void ort_tool_tell_dependences(ort_tool_ptr task, const struct ort_depend_list *list);
void ort_tool_taskwait_from(const void *caller, void *frame);
void ort_tool_taskwait_depend(struct ort_thread *t, const struct ort_depend_list *list);
void ort_tool_taskgroup_start(struct ort_thread *t);
/* Waits in `end`, ort_taskgroup_end or an entry point's own. */
void ort_tool_taskgroup_end(struct ort_thread *t, void (*end)(struct ort_thread *));

/* --- events: synchronisation and work (tool_sync.c) --- */

void ort_tool_barrier(struct ort_thread *t, enum ort_sync_kind kind);
/* ort_tool_barrier between ort_tool_enter and ort_tool_leave: an entry point's only call, so that it saves nothing for
 * it. */
void ort_tool_barrier_from(enum ort_sync_kind kind, const void *caller, void *frame);
bool ort_tool_barrier_cancel(struct ort_thread *t, enum ort_sync_kind kind);
/* Lock functions with their events. Where no tool or sanitizer listens (ort_traced()), ort_lock and its like are used
 * instead. */
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
/* which: ort_cancel's. */
void ort_tool_cancel(struct ort_thread *t, unsigned which, int what, const void *caller);
void ort_tool_masked(struct ort_thread *t, int scope, const void *caller);
void ort_tool_reduction(struct ort_thread *t, int scope, const void *caller);
void ort_tool_work(struct ort_thread *t, int kind, int scope, uint64_t count, const void *caller);
/* Events of a loop, or of sections, that the core hands out: its beginning, a chunk, its end. */
void ort_tool_loop_begins(struct ort_thread *t, bool sections, uint64_t count, unsigned sched);
void ort_tool_loop_ends(struct ort_thread *t);
void ort_tool_chunk(struct ort_thread *t, int kind, uint64_t start, uint64_t n);
void ort_tool_section(struct ort_thread *t);
/* After ort_single: the executor's begins, the others' begins and ends. */
void ort_tool_single(struct ort_thread *t, bool mine, const void *caller);
void *ort_tool_single_copy_start(struct ort_thread *t);
void ort_tool_single_copy_end(struct ort_thread *t, void *data);
/* Returns the answer of omp_control_tool: -2 no tool, -1 no callback, else the callback's answer. */
#define ORT_TOOL_NONE (-2)
int ort_tool_control(uint64_t command, uint64_t modifier, void *argument, const void *caller);
void ort_tool_error(int severity, const char *message, size_t length, const void *caller);
/* doacross: a position posted (source) or waited for. */
void ort_tool_position(struct ort_thread *t, bool source, const uint64_t *position, unsigned dims);

#endif
