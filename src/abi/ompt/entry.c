/* The entry points that a tool calls (OpenMP 5.1 section 4.6). The tool's initializer gets a function that finds them
 * by name.
 *
 * The entry points only translate: the core keeps the tool's data and frames in the interface's own layout (asserted
 * below), and its events have the interface's numbers. A kernel thread that is no OpenMP thread gets the answers for
 * "no thread"; asking does not make it an OpenMP thread. All except set_callback may be called from a callback. Those
 * that the specification wants to be async-signal-safe may be called from a signal handler. There are no target
 * devices. Their callbacks can never be set, no thread is in a target region, and ompt_get_num_devices counts the host
 * alone. */
#include "ompt_internal.h"

#include <string.h>

#include "os.h"
#include "place.h"

_Static_assert(sizeof(ompt_frame_t) == sizeof(struct ort_tool_frame) &&
                   offsetof(ompt_frame_t, exit_frame_flags) == offsetof(struct ort_tool_frame, exit_flags),
               "a frame is the interface's");
_Static_assert(sizeof(ompt_data_t) == sizeof(union ort_tool_data), "tool data is the interface's");

static ompt_data_t *data_of(union ort_tool_data *data) { return (ompt_data_t *)(void *)data; }

/* Returns the calling OpenMP thread; NULL: the caller is none, or no tool is attached any more. */
static struct ort_thread *tool_self(void) { return ort_tool_attached() ? ee_local() : NULL; }

/* --- callbacks --- */

/* Sets the callback with this number in the core's table. */
#define CASE_SET(number, type, name, parameters)                                       \
    case number: {                                                                     \
        type(*f) parameters;                                                           \
        _Static_assert(sizeof f == sizeof callback, "functions' addresses are alike"); \
        memcpy(&f, &callback, sizeof f);                                               \
        ps_store_relaxed(&ort_tool_events.name, f);                                    \
        return ompt_set_always;                                                        \
    }
static ompt_set_result_t set_callback(int which, ompt_callback_t callback)
{
    switch (which) {
        ORT_TOOL_EVENTS(CASE_SET)
    default:
        return which > 0 && which < OMPT_CALLBACK_LAST ? ompt_set_never : ompt_set_error;
    }
}

#define CASE_GET(number, type, name, parameters)                      \
    case number: {                                                    \
        type(*f) parameters = ps_load_relaxed(&ort_tool_events.name); \
        memcpy(callback, &f, sizeof f);                               \
        return f != NULL;                                             \
    }
static int get_callback(int which, ompt_callback_t *callback)
{
    switch (which) {
        ORT_TOOL_EVENTS(CASE_GET)
    default:
        return 0;
    }
}

/* --- enumeration of states, and of implementations of mutexes --- */

struct named {
    int number;
    const char *name;
};

static int next_of(const struct named *list, size_t n, int current, int *next, const char **name)
{
    for (size_t i = 0; i + 1 < n; i++) {
        if (list[i].number != current)
            continue;
        *next = list[i + 1].number;
        *name = list[i + 1].name;
        return 1;
    }
    return 0;
}

static int enumerate_states(int current, int *next, const char **name)
{
    static const struct named states[] = {
        {ORT_STATE_UNDEFINED, "ompt_state_undefined"},
        {ORT_STATE_WORK_SERIAL, "ompt_state_work_serial"},
        {ORT_STATE_WORK_PARALLEL, "ompt_state_work_parallel"},
        {ORT_STATE_WORK_REDUCTION, "ompt_state_work_reduction"},
        {ORT_STATE_WAIT_BARRIER_PARALLEL, "ompt_state_wait_barrier_implicit_parallel"},
        {ORT_STATE_WAIT_BARRIER_WORKSHARE, "ompt_state_wait_barrier_implicit_workshare"},
        {ORT_STATE_WAIT_BARRIER_EXPLICIT, "ompt_state_wait_barrier_explicit"},
        {ORT_STATE_WAIT_BARRIER_IMPLEMENTATION, "ompt_state_wait_barrier_implementation"},
        {ORT_STATE_WAIT_BARRIER_TEAMS, "ompt_state_wait_barrier_teams"},
        {ORT_STATE_WAIT_TASKWAIT, "ompt_state_wait_taskwait"},
        {ORT_STATE_WAIT_TASKGROUP, "ompt_state_wait_taskgroup"},
        {ORT_STATE_WAIT_LOCK, "ompt_state_wait_lock"},
        {ORT_STATE_WAIT_CRITICAL, "ompt_state_wait_critical"},
        {ORT_STATE_WAIT_ATOMIC, "ompt_state_wait_atomic"},
        {ORT_STATE_WAIT_ORDERED, "ompt_state_wait_ordered"},
        {ORT_STATE_OVERHEAD, "ompt_state_overhead"},
    };
    return next_of(states, sizeof states / sizeof states[0], current, next, name);
}

static int enumerate_mutex_impls(int current, int *next, const char **name)
{
    static const struct named impls[] = {{0, "mutex_impl_none"}, {ORT_MUTEX_IMPL, "mutex_impl_spin_then_block"}};
    return next_of(impls, sizeof impls / sizeof impls[0], current, next, name);
}

/* --- where the thread is --- */

static ompt_data_t *get_thread_data(void)
{
    struct ort_thread *t = tool_self();
    return t != NULL ? data_of(ort_tool_thread_data(t)) : NULL;
}

static int get_state(uint64_t *wait_id)
{
    struct ort_thread *t = tool_self();
    if (t == NULL)
        return ORT_STATE_WORK_SERIAL;
    if (wait_id != NULL)
        *wait_id = t->tool.wait_id;
    return ort_tool_state(t);
}

static int get_parallel_info(int level, ompt_data_t **data, int *size)
{
    struct ort_thread *t = tool_self();
    for (; level > 0 && t != NULL; level--)
        t = t->team->parent;
    if (t == NULL || level < 0)
        return 0;
    if (data != NULL)
        *data = data_of(&t->team->tool.data);
    if (size != NULL)
        *size = (int)t->team->n;
    return 2;
}

static int get_task_info(int level, int *flags, ompt_data_t **data, ompt_frame_t **frame, ompt_data_t **region,
                         int *number)
{
    struct ort_thread *t = tool_self();
    struct ort_task *task = t != NULL ? ort_tool_ancestor(t, level, &t) : NULL;
    if (task == NULL)
        return 0;
    struct ort_tool_task *record = ort_tool_task(task);
    if (flags != NULL)
        *flags = ort_tool_task_flags(task);
    if (data != NULL)
        *data = data_of(&record->data);
    if (frame != NULL)
        *frame = (ompt_frame_t *)(void *)&record->frame;
    if (region != NULL)
        *region = data_of(&task->team->tool.data);
    if (number != NULL)
        *number = (int)t->id;
    return 2;
}

/* Stores the address and the size of the memory block with this number. Block 0 is the data that compiled code keeps
 * for the task; an implicit task has none. */
static int get_task_memory(void **address, size_t *size, int block)
{
    struct ort_thread *t = tool_self();
    *address = NULL;
    *size = 0;
    if (t == NULL || block != 0 || (t->task->flags & ORT_TASK_IMPLICIT))
        return 0;
    *address = t->task->data;
    *size = ort_tool_task(t->task)->bytes;
    return 0; /* 0: there are no more blocks */
}

/* --- processors and places --- */

static int get_num_procs(void)
{
    struct ort_thread *t = tool_self();
    return t != NULL ? (int)ort_num_procs(t) : 0;
}

static int get_num_places(void)
{
    const struct ort_places *places = ort_places();
    return places != NULL ? (int)places->n : 0;
}

static int get_place_proc_ids(int place, int size, int *ids)
{
    const struct ort_places *places = ort_places();
    if (places == NULL || place < 0 || (unsigned)place >= places->n)
        return 0;
    int n = (int)(places->first[place + 1] - places->first[place]);
    for (int i = 0; i < n && n <= size; i++)
        ids[i] = (int)places->cpu[places->first[place] + (unsigned)i];
    return n;
}

static int get_place_num(void)
{
    struct ort_place place;
    struct ort_thread *t = tool_self();
    return t != NULL && ort_place_of(t, &place) ? (int)place.place : -1;
}

static int get_partition_place_nums(int size, int *numbers)
{
    struct ort_place place;
    struct ort_thread *t = tool_self();
    if (t == NULL || !ort_place_of(t, &place))
        return 0;
    for (unsigned i = 0; i < place.n && (int)place.n <= size; i++)
        numbers[i] = (int)(place.first + i);
    return (int)place.n;
}

static int get_proc_id(void) { return tool_self() != NULL ? os_current_cpu() : -1; }

/* --- identifiers, devices, and the look-up of entry points --- */

static uint64_t get_unique_id(void)
{
    static _Atomic uint64_t last;
    return ps_add_relaxed(&last, 1) + 1;
}

static int get_target_info(uint64_t *device, uint64_t *target, uint64_t *operation)
{
    (void)device;
    (void)target;
    (void)operation;
    return 0; /* never in a target region */
}

static int get_num_devices(void) { return 1; } /* the host counts as one */

ompt_interface_fn_t ompt_lookup(const char *name)
{
#define ENTRY(function)                                    \
    {                                                      \
        "ompt_" #function, (ompt_interface_fn_t)(function) \
    }
    static const struct {
        const char *name;
        ompt_interface_fn_t function;
    } entries[] = {
        ENTRY(set_callback),
        ENTRY(get_callback),
        ENTRY(enumerate_states),
        ENTRY(enumerate_mutex_impls),
        ENTRY(get_thread_data),
        ENTRY(get_state),
        ENTRY(get_parallel_info),
        ENTRY(get_task_info),
        ENTRY(get_task_memory),
        ENTRY(get_num_procs),
        ENTRY(get_num_places),
        ENTRY(get_place_proc_ids),
        ENTRY(get_place_num),
        ENTRY(get_partition_place_nums),
        ENTRY(get_proc_id),
        ENTRY(get_unique_id),
        ENTRY(get_target_info),
        ENTRY(get_num_devices),
        {"ompt_finalize_tool", ompt_finalize},
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strcmp(name, entries[i].name) == 0)
            return entries[i].function;
    return NULL;
}
