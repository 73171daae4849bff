/* A tool's events: the types of the callbacks, and the numbers that they are called with, all as in OpenMP 5.2 chapter
 * 19. This file only declares them; tool.h says how and when events are raised. */
#ifndef PS_ORT_TOOL_EVENTS_H
#define PS_ORT_TOOL_EVENTS_H

#include "atomic.h"
#include "compiler.h"

union ort_tool_data {
    uint64_t value;
    void *ptr;
};

/* A task's frames. exit: the frame from which the runtime called the program's code. enter: the frame from which that
 * code called the runtime; NULL while the task is in the program's code. The flags say what kind of address each is. */
struct ort_tool_frame {
    union ort_tool_data exit, enter;
    int exit_flags, enter_flags;
};
#define ORT_FRAME_RUNTIME_POINTER 0x20 /* a frame pointer, of a frame of the runtime */
#define ORT_FRAME_PROGRAM_POINTER 0x21 /* a frame pointer, of a frame of the program */
#define ORT_FRAME_RUNTIME_CFA 0x10     /* a canonical frame address, of a frame of the runtime */

struct ort_tool_dependence {
    union ort_tool_data variable;
    int type;
};

/* The enumerators below have the specification's numbers. */
enum { ORT_SCOPE_BEGIN = 1, ORT_SCOPE_END = 2, ORT_SCOPE_BEGINEND = 3 };
enum { ORT_TOOL_INITIAL_THREAD = 1, ORT_TOOL_WORKER_THREAD = 2 };
enum ort_sync_kind {
    ORT_SYNC_BARRIER = 1,
    ORT_SYNC_BARRIER_EXPLICIT = 3,
    ORT_SYNC_BARRIER_IMPLEMENTATION = 4,
    ORT_SYNC_TASKWAIT = 5,
    ORT_SYNC_TASKGROUP = 6,
    ORT_SYNC_REDUCTION = 7,
    ORT_SYNC_BARRIER_WORKSHARE = 8,
    ORT_SYNC_BARRIER_PARALLEL = 9,
    ORT_SYNC_BARRIER_TEAMS = 10,
};
enum ort_mutex_kind {
    ORT_MUTEX_LOCK = 1,
    ORT_MUTEX_TEST_LOCK = 2,
    ORT_MUTEX_NEST_LOCK = 3,
    ORT_MUTEX_TEST_NEST_LOCK = 4,
    ORT_MUTEX_CRITICAL = 5,
    ORT_MUTEX_ATOMIC = 6,
    ORT_MUTEX_ORDERED = 7,
};
/* The kind of implementation that a tool is told for each lock. There is one kind here: it spins, then blocks. */
#define ORT_MUTEX_IMPL 2
enum ort_work_kind {
    ORT_WORK_LOOP = 1,
    ORT_WORK_SECTIONS = 2,
    ORT_WORK_SINGLE_EXECUTOR = 3,
    ORT_WORK_SINGLE_OTHER = 4,
    ORT_WORK_DISTRIBUTE = 6,
    ORT_WORK_TASKLOOP = 7,
    ORT_WORK_SCOPE = 8,
    ORT_WORK_LOOP_STATIC = 10,
    ORT_WORK_LOOP_DYNAMIC = 11,
    ORT_WORK_LOOP_GUIDED = 12,
    ORT_WORK_LOOP_OTHER = 13,
};
enum { ORT_CHUNK_LOOP = 3, ORT_CHUNK_SECTION = 2, ORT_CHUNK_TASKLOOP = 4, ORT_CHUNK_DISTRIBUTE = 5 };
enum {
    ORT_TOOL_TASK_INITIAL = 0x1,
    ORT_TOOL_TASK_IMPLICIT = 0x2,
    ORT_TOOL_TASK_EXPLICIT = 0x4,
    ORT_TOOL_TASK_TASKWAIT = 0x10,
    ORT_TOOL_TASK_BELOW = 0x1ff00, /* bits that the specification leaves free: see ort_tool_task.flags */
    ORT_TOOL_TASK_BELOW_UNIT = 0x100,
    ORT_TOOL_TASK_UNDEFERRED = 0x8000000,
    ORT_TOOL_TASK_UNTIED = 0x10000000,
    ORT_TOOL_TASK_FINAL = 0x20000000,
    ORT_TOOL_TASK_MERGEABLE = 0x40000000,
};
enum {
    ORT_SWITCH_COMPLETE = 1,
    ORT_SWITCH_YIELD = 2,
    ORT_SWITCH_CANCEL = 3,
    ORT_SWITCH_DETACH = 4,
    ORT_SWITCH_EARLY_FULFILL = 5,
    ORT_SWITCH_LATE_FULFILL = 6,
    ORT_SWITCH_SWITCH = 7,
    ORT_SWITCH_TASKWAIT_COMPLETE = 8
};
enum {
    ORT_STATE_WORK_SERIAL = 0x000,
    ORT_STATE_WORK_PARALLEL = 0x001,
    ORT_STATE_WORK_REDUCTION = 0x002,
    ORT_STATE_WAIT_BARRIER_PARALLEL = 0x011,
    ORT_STATE_WAIT_BARRIER_WORKSHARE = 0x012,
    ORT_STATE_WAIT_BARRIER_EXPLICIT = 0x014,
    ORT_STATE_WAIT_BARRIER_IMPLEMENTATION = 0x015,
    ORT_STATE_WAIT_BARRIER_TEAMS = 0x016,
    ORT_STATE_WAIT_TASKWAIT = 0x020,
    ORT_STATE_WAIT_TASKGROUP = 0x021,
    ORT_STATE_WAIT_LOCK = 0x041,
    ORT_STATE_WAIT_CRITICAL = 0x042,
    ORT_STATE_WAIT_ATOMIC = 0x043,
    ORT_STATE_WAIT_ORDERED = 0x044,
    ORT_STATE_OVERHEAD = 0x101,
    ORT_STATE_UNDEFINED = 0x102,
};
enum {
    ORT_TOOL_INVOKED_BY_PROGRAM = 0x1,
    ORT_TOOL_INVOKED_BY_RUNTIME = 0x2,
    ORT_TOOL_LEAGUE = 0x40000000,
    ORT_TOOL_TEAM = (int)0x80000000
};
enum { ORT_TOOL_WARNING = 1, ORT_TOOL_FATAL = 2 };
enum { ORT_CANCEL_ACTIVATED = 0x10, ORT_CANCEL_DETECTED = 0x20, ORT_CANCEL_DISCARDED = 0x40 };

/* The callbacks, with the specification's numbers. A callback that the tool has not set is NULL. */
typedef union ort_tool_data *ort_tool_ptr;
#define ORT_TOOL_EVENTS(E)                                                                                             \
    E(1, void, thread_begin, (int kind, ort_tool_ptr thread))                                                          \
    E(2, void, thread_end, (ort_tool_ptr thread))                                                                      \
    E(3, void, parallel_begin,                                                                                         \
      (ort_tool_ptr task, const struct ort_tool_frame *, ort_tool_ptr region, unsigned n, int flags, const void *ra))  \
    E(4, void, parallel_end, (ort_tool_ptr region, ort_tool_ptr task, int flags, const void *ra))                      \
    E(5, void, task_create,                                                                                            \
      (ort_tool_ptr task, const struct ort_tool_frame *, ort_tool_ptr made, int flags, int depends, const void *ra))   \
    E(6, void, task_schedule, (ort_tool_ptr before, int status, ort_tool_ptr next))                                    \
    E(7, void, implicit_task, (int scope, ort_tool_ptr region, ort_tool_ptr task, unsigned n, unsigned id, int flags)) \
    E(11, int, control_tool, (uint64_t command, uint64_t modifier, void *argument, const void *ra))                    \
    E(16, void, sync_region_wait, (int kind, int scope, ort_tool_ptr region, ort_tool_ptr task, const void *ra))       \
    E(17, void, mutex_released, (int kind, uint64_t wait_id, const void *ra))                                          \
    E(18, void, dependences, (ort_tool_ptr task, const struct ort_tool_dependence *list, int n))                       \
    E(19, void, task_dependence, (ort_tool_ptr first, ort_tool_ptr second))                                            \
    E(20, void, work, (int kind, int scope, ort_tool_ptr region, ort_tool_ptr task, uint64_t n, const void *ra))       \
    E(21, void, masked, (int scope, ort_tool_ptr region, ort_tool_ptr task, const void *ra))                           \
    E(23, void, sync_region, (int kind, int scope, ort_tool_ptr region, ort_tool_ptr task, const void *ra))            \
    E(24, void, lock_init, (int kind, unsigned hint, unsigned impl, uint64_t wait_id, const void *ra))                 \
    E(25, void, lock_destroy, (int kind, uint64_t wait_id, const void *ra))                                            \
    E(26, void, mutex_acquire, (int kind, unsigned hint, unsigned impl, uint64_t wait_id, const void *ra))             \
    E(27, void, mutex_acquired, (int kind, uint64_t wait_id, const void *ra))                                          \
    E(28, void, nest_lock, (int scope, uint64_t wait_id, const void *ra))                                              \
    E(29, void, flush, (ort_tool_ptr thread, const void *ra))                                                          \
    E(30, void, cancel, (ort_tool_ptr task, int flags, const void *ra))                                                \
    E(31, void, reduction, (int kind, int scope, ort_tool_ptr region, ort_tool_ptr task, const void *ra))              \
    E(32, void, dispatch, (ort_tool_ptr region, ort_tool_ptr task, int kind, union ort_tool_data what))                \
    E(37, void, error, (int severity, const char *message, size_t length, const void *ra))

struct ort_tool_events {
#define ORT_TOOL_FIELD(number, type, name, parameters) type(*_Atomic name) parameters;
    ORT_TOOL_EVENTS(ORT_TOOL_FIELD)
#undef ORT_TOOL_FIELD
};
/* The tool may write the callbacks at any time. All threads read them with relaxed loads, so a thread may still call a
 * callback shortly after the tool has removed it. "Hidden" stands in the declaration because otherwise the compiler
 * loads the variable's address first. */
#define ORT_HIDDEN __attribute__((visibility("hidden")))
extern ORT_HIDDEN struct ort_tool_events ort_tool_events;

#endif
