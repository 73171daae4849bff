/* Tools: the callbacks, the state of the attachment, inquiries, and native threads. See tool.h. */
#include "tool.h"

#include "lock.h"
#include "ort.h"

struct ort_tool_events ort_tool_events;
bool ort_tool_wanted = true;
unsigned char ort_tasks_wanted = ORT_TASKS_TRACED;
_Atomic uint16_t ort_implicit_flags = ORT_TASK_IMPLICIT | ORT_TASK_TRACED;
_Atomic uint32_t ort_lock_fast = ORT_LOCK_NEVER;
size_t ort_tool_task_bytes;
void (*ort_tool_start)(void);
void (*ort_debugger_stop)(enum ort_stop at);
static _Atomic bool attached, detached;

_Static_assert(sizeof(struct ort_tool_task) <= PS_CACHE_LINE, "a line behind the descriptor holds it");
_Static_assert(offsetof(struct ort_task_implicit, tool) == sizeof(struct ort_task),
               "the tool's part is behind every task");

void ort_tool_attach(void)
{
    ort_tool_task_bytes = PS_CACHE_LINE;
    ps_store_relaxed(&attached, true);
}

bool ort_tool_attached(void) { return ps_load_relaxed(&attached) && !ps_load_relaxed(&detached); }

bool ort_tool_no_more(void)
{
    if (ps_xchg_acq_rel(&detached, true))
        return false;
#define NO_MORE(number, type, name, parameters) ps_store_relaxed(&ort_tool_events.name, NULL);
    ORT_TOOL_EVENTS(NO_MORE)
#undef NO_MORE
    return true;
}

PS_NOINLINE void ort_stop_here(enum ort_stop at)
{
    if (ort_debugger_stop != NULL)
        ort_debugger_stop(at);
}

/* --- the calling entry point --- */

void ort_tool_enter(struct ort_thread *t, const void *caller, void *frame)
{
    struct ort_tool_frame *f = &ort_tool_task(t->task)->frame;
    t->tool.caller = caller;
    f->enter.ptr = frame;
    f->enter_flags = ORT_FRAME_RUNTIME_CFA;
}

void ort_tool_leave(struct ort_thread *t) { ort_tool_task(t->task)->frame.enter.ptr = NULL; }

bool ort_tool_tells_bodies;
void ort_tool_tell_bodies(void) { ort_tool_tells_bodies = true; }

void ort_tool_caller(struct ort_thread *t, const void *caller) { t->tool.caller = caller; }
const void *ort_tool_caller_of(const struct ort_thread *t) { return t->tool.caller; }
void ort_tool_next_chunk(struct ort_thread *t, uint64_t start, uint64_t iterations)
{
    t->tool.chunk = (struct ort_tool_chunk){.start = start, .iterations = iterations};
}

PS_NOINLINE void ort_tool_run(void (*fn)(void *), void *data)
{
    struct ort_tool_frame *f = &ort_tool_task(ort_self()->task)->frame;
    f->exit.ptr = __builtin_frame_address(0);
    f->exit_flags = ORT_FRAME_RUNTIME_POINTER;
    fn(data);
    f->exit.ptr = NULL; /* this store also keeps fn(data) from becoming a tail call */
}

PS_NOINLINE void ort_tool_run_task(struct ort_task *task)
{
    struct ort_tool_frame *f = &ort_tool_task(task)->frame;
    f->exit.ptr = __builtin_frame_address(0);
    f->exit_flags = ORT_FRAME_RUNTIME_POINTER;
    task->fn(task->data);
    f->exit.ptr = NULL;
}

/* --- inquiries --- */

struct ort_task *ort_tool_ancestor(struct ort_thread *t, int level, struct ort_thread **in)
{
    struct ort_task *task = t->task;
    for (; level > 0 && task != NULL; level--) {
        if (!(task->flags & ORT_TASK_IMPLICIT)) {
            task = ort_tool_task(task)->below;
        } else {
            t = t->team->parent;
            task = t != NULL ? t->task : NULL;
        }
    }
    *in = t;
    return level < 0 ? NULL : task;
}

int ort_tool_task_flags(const struct ort_task *task)
{
    int flags = ort_tool_task((struct ort_task *)(uintptr_t)task)->flags & ~ORT_TOOL_TASK_BELOW;
    return flags == ORT_TOOL_TASK_IMPLICIT && task->team->n == 1 ? flags | ORT_TOOL_TASK_UNDEFERRED : flags;
}

int ort_tool_state(const struct ort_thread *t)
{
    if (t->tool.state != 0)
        return t->tool.state;
    return t->team->level > 0 ? ORT_STATE_WORK_PARALLEL : ORT_STATE_WORK_SERIAL;
}

/* --- native threads --- */

_Atomic bool ort_tool_carriers;
/* own_data: the kernel thread's word of tool data, for a root, and for any carrier if carriers are the native threads.
 * carrier_data points to own_data; NULL: the kernel thread's thread_begin has not been raised. No function keeps the
 * address of carrier_data across a callback: the OpenMP thread may be on another kernel thread afterwards. */
static __thread union ort_tool_data own_data;
static __thread union ort_tool_data *carrier_data;

static PS_NOINLINE union ort_tool_data **carrier(void) { return &carrier_data; }
bool ort_tool_by_carrier(void) { return ps_load_relaxed(&ort_tool_carriers); }

void ort_tool_decide_carriers(void)
{
    if (!ort_tool_by_carrier() && !ee_private_storage())
        ps_store_relaxed(&ort_tool_carriers, true);
}

PS_NOINLINE union ort_tool_data *ort_tool_root_data(void) { return carrier_data = &own_data; }

static PS_NOINLINE void carrier_begins(void)
{
    carrier_data = &own_data;
    __auto_type begin = ps_load_relaxed(&ort_tool_events.thread_begin);
    if (begin != NULL)
        begin(ORT_TOOL_WORKER_THREAD, carrier_data);
    ort_stop_here(ORT_STOP_THREAD_BEGIN);
}

void ort_tool_native_begins(void)
{
    if (ort_tool_by_carrier() && *carrier() == NULL)
        carrier_begins();
}

ort_tool_ptr ort_tool_thread_data(struct ort_thread *t)
{
    if (ort_tool_by_carrier()) {
        ort_tool_native_begins();
        return *carrier();
    }
    while (t->id == 0 && t->team->parent != NULL)
        t = t->team->parent;
    return t->tool.data;
}
