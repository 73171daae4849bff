/* Tools: the events of barriers, mutual exclusion, work-sharing, cancellation, flushes, reductions and
 * omp_control_tool. See tool.h.
 *
 * Each traced function raises the events around the core's own function. It reads the caller's address (tool.caller)
 * before it waits, because tasks that the thread runs during the wait overwrite that field.
 * GCC's code does not report the end of a single region. The runtime raises the end event when the thread reaches its
 * next work-sharing construct, its next barrier or the region's end. */
#include "lock.h"
#include "ort.h"
#include "tool.h"

static ort_tool_ptr sync_region_data(const struct ort_thread *t) { return &t->team->tool.data; }
static ort_tool_ptr sync_task_data(const struct ort_thread *t) { return &ort_tool_task(t->task)->data; }

/* --- barriers --- */

static int barrier_state(enum ort_sync_kind kind)
{
    return kind == ORT_SYNC_BARRIER_WORKSHARE        ? ORT_STATE_WAIT_BARRIER_WORKSHARE
           : kind == ORT_SYNC_BARRIER_IMPLEMENTATION ? ORT_STATE_WAIT_BARRIER_IMPLEMENTATION
           : kind == ORT_SYNC_BARRIER_TEAMS          ? ORT_STATE_WAIT_BARRIER_TEAMS
                                                     : ORT_STATE_WAIT_BARRIER_EXPLICIT;
}

static const void *barrier_begins(struct ort_thread *t, enum ort_sync_kind kind)
{
    const void *caller = t->tool.caller;
    ort_tool_loop_ends(t);
    ORT_RAISE(sync_region, kind, ORT_SCOPE_BEGIN, sync_region_data(t), sync_task_data(t), caller);
    ORT_RAISE(sync_region_wait, kind, ORT_SCOPE_BEGIN, sync_region_data(t), sync_task_data(t), caller);
    t->tool.state = barrier_state(kind);
    return caller;
}

static void barrier_ends(struct ort_thread *t, enum ort_sync_kind kind, const void *caller)
{
    t->tool.state = 0;
    ORT_RAISE(sync_region_wait, kind, ORT_SCOPE_END, sync_region_data(t), sync_task_data(t), caller);
    ORT_RAISE(sync_region, kind, ORT_SCOPE_END, sync_region_data(t), sync_task_data(t), caller);
}

void ort_tool_barrier(struct ort_thread *t, enum ort_sync_kind kind)
{
    const void *caller = barrier_begins(t, kind);
    ort_task_barrier(t);
    barrier_ends(t, kind, caller);
}

void ort_tool_barrier_from(enum ort_sync_kind kind, const void *caller, void *frame)
{
    struct ort_thread *t = ort_self();
    ort_tool_enter(t, caller, frame);
    ort_tool_barrier(t, kind);
    ort_tool_leave(t);
}

bool ort_tool_barrier_cancel(struct ort_thread *t, enum ort_sync_kind kind)
{
    const void *caller = barrier_begins(t, kind);
    bool cancelled = ort_task_barrier_cancel(t);
    barrier_ends(t, kind, caller);
    return cancelled;
}

/* --- mutual exclusion --- */

static uint64_t id_of(const void *mutex) { return (uint64_t)(uintptr_t)mutex; }

static int mutex_state(enum ort_mutex_kind kind)
{
    return kind == ORT_MUTEX_CRITICAL  ? ORT_STATE_WAIT_CRITICAL
           : kind == ORT_MUTEX_ATOMIC  ? ORT_STATE_WAIT_ATOMIC
           : kind == ORT_MUTEX_ORDERED ? ORT_STATE_WAIT_ORDERED
                                       : ORT_STATE_WAIT_LOCK;
}

static struct ort_thread *waits(const void *mutex, enum ort_mutex_kind kind, unsigned hint, const void *caller)
{
    struct ort_thread *t = ort_self();
    ORT_RAISE(mutex_acquire, kind, hint, ORT_MUTEX_IMPL, id_of(mutex), caller);
    t->tool.wait_id = id_of(mutex);
    t->tool.state = mutex_state(kind);
    return t;
}

static void tell_acquired(struct ort_thread *t, const void *mutex, enum ort_mutex_kind kind, const void *caller)
{
    t->tool.state = 0;
    t->tool.wait_id = 0;
    ORT_RAISE(mutex_acquired, kind, id_of(mutex), caller);
}

void ort_tool_lock(_Atomic uint32_t *word, enum ort_mutex_kind kind, unsigned hint, const void *caller)
{
    if (!ort_tool_on()) {
        ort_lock(word);
        return;
    }
    struct ort_thread *t = waits(word, kind, hint, caller);
    ort_lock(word);
    tell_acquired(t, word, kind, caller);
}

bool ort_tool_lock_try(_Atomic uint32_t *word, const void *caller)
{
    if (!ort_tool_on())
        return ort_lock_try(word);
    struct ort_thread *t = waits(word, ORT_MUTEX_TEST_LOCK, 0, caller);
    bool got = ort_lock_try(word);
    t->tool.state = 0;
    if (got)
        tell_acquired(t, word, ORT_MUTEX_TEST_LOCK, caller);
    return got;
}

void ort_tool_unlock(_Atomic uint32_t *word, enum ort_mutex_kind kind, const void *caller)
{
    bool waited = ort_unlock_first(word);
    ORT_RAISE(mutex_released, kind, id_of(word), caller);
    ort_unlocked(waited);
}

void ort_tool_nest_lock(struct ort_nest_lock *lock, const void *owner, const void *caller)
{
    if (!ort_tool_on()) {
        ort_nest_lock(lock, owner);
        return;
    }
    struct ort_thread *t = waits(lock, ORT_MUTEX_NEST_LOCK, 0, caller);
    ort_nest_lock(lock, owner);
    t->tool.state = 0;
    if (lock->count == 1)
        tell_acquired(t, lock, ORT_MUTEX_NEST_LOCK, caller);
    else
        ORT_RAISE(nest_lock, ORT_SCOPE_BEGIN, id_of(lock), caller);
}

int ort_tool_nest_lock_try(struct ort_nest_lock *lock, const void *owner, const void *caller)
{
    if (!ort_tool_on())
        return ort_nest_lock_try(lock, owner);
    struct ort_thread *t = waits(lock, ORT_MUTEX_TEST_NEST_LOCK, 0, caller);
    int count = ort_nest_lock_try(lock, owner);
    t->tool.state = 0;
    if (count == 1)
        tell_acquired(t, lock, ORT_MUTEX_TEST_NEST_LOCK, caller);
    else if (count > 1)
        ORT_RAISE(nest_lock, ORT_SCOPE_BEGIN, id_of(lock), caller);
    return count;
}

void ort_tool_nest_unlock(struct ort_nest_lock *lock, const void *caller)
{
    if (lock->count > 1) {
        ort_nest_unlock(lock);
        ORT_RAISE(nest_lock, ORT_SCOPE_END, id_of(lock), caller);
        return;
    }
    bool waited = ort_nest_unlock_first(lock);
    ORT_RAISE(mutex_released, ORT_MUTEX_NEST_LOCK, id_of(lock), caller);
    ort_unlocked(waited);
}

void ort_tool_lock_made(const void *lock, enum ort_mutex_kind kind, unsigned hint, const void *caller)
{
    ort_self(); /* makes the caller a root, and starts the tool, if this is the program's first OpenMP call */
    ORT_RAISE(lock_init, kind, hint, ORT_MUTEX_IMPL, id_of(lock), caller);
}

void ort_tool_lock_gone(const void *lock, enum ort_mutex_kind kind, const void *caller)
{
    ORT_RAISE(lock_destroy, kind, id_of(lock), caller);
}

/* Returns the address that identifies an ordered region's mutex: the loop's slot, or the team if the loop has no
 * slot. */
static const void *ordered_of(const struct ort_thread *t)
{
    return t->loop.ws != NULL ? (const void *)t->loop.ws : (const void *)t->team;
}

void ort_tool_ordered_start(struct ort_thread *t, const void *caller)
{
    const void *mutex = ordered_of(t);
    waits(mutex, ORT_MUTEX_ORDERED, 0, caller);
    ort_ordered_start(t);
    tell_acquired(t, mutex, ORT_MUTEX_ORDERED, caller);
}

void ort_tool_ordered_end(struct ort_thread *t, const void *caller)
{
    ORT_RAISE(mutex_released, ORT_MUTEX_ORDERED, id_of(ordered_of(t)), caller);
}

/* --- work-sharing --- */

void ort_tool_work(struct ort_thread *t, int kind, int scope, uint64_t count, const void *caller)
{
    if (kind == ORT_WORK_TASKLOOP) {
        /* The taskloop may stand in a single region that has not ended, so tool.work still names that region. */
    } else if (scope == ORT_SCOPE_BEGIN) {
        ort_tool_loop_ends(t);
        t->tool.work = kind;
        t->tool.count = count;
    } else {
        t->tool.work = 0;
    }
    ORT_RAISE(work, kind, scope, sync_region_data(t), sync_task_data(t), count, caller);
}

void ort_tool_single(struct ort_thread *t, bool mine, const void *caller)
{
    int kind = mine ? ORT_WORK_SINGLE_EXECUTOR : ORT_WORK_SINGLE_OTHER;
    ort_tool_work(t, kind, ORT_SCOPE_BEGIN, 1, caller);
    if (!mine)
        ort_tool_work(t, kind, ORT_SCOPE_END, 1, caller);
}

void *ort_tool_single_copy_start(struct ort_thread *t)
{
    const void *caller = t->tool.caller;
    bool mine = ort_single(t);
    ort_tool_single(t, mine, caller);
    if (mine)
        return NULL;
    ort_tool_barrier(t, ORT_SYNC_BARRIER_WORKSHARE);
    return t->team->copyprivate;
}

void ort_tool_single_copy_end(struct ort_thread *t, void *data)
{
    t->team->copyprivate = data;
    ort_tool_barrier(t, ORT_SYNC_BARRIER_WORKSHARE);
}

static int loop_kind(unsigned sched)
{
    return sched == ORT_SCHED_STATIC    ? ORT_WORK_LOOP_STATIC
           : sched == ORT_SCHED_DYNAMIC ? ORT_WORK_LOOP_DYNAMIC
           : sched == ORT_SCHED_GUIDED  ? ORT_WORK_LOOP_GUIDED
                                        : ORT_WORK_LOOP_OTHER;
}

void ort_tool_loop_begins(struct ort_thread *t, bool sections, uint64_t count, unsigned sched)
{
    ort_tool_work(t, sections ? ORT_WORK_SECTIONS : loop_kind(sched), ORT_SCOPE_BEGIN, count, t->tool.caller);
}

void ort_tool_loop_ends(struct ort_thread *t)
{
    if (t->tool.work != 0)
        ort_tool_work(t, t->tool.work, ORT_SCOPE_END, t->tool.count, t->tool.caller);
}

void ort_tool_chunk(struct ort_thread *t, int kind, uint64_t start, uint64_t n)
{
    struct ort_tool_chunk chunk = {.start = start, .iterations = n};
    ORT_RAISE(dispatch, sync_region_data(t), sync_task_data(t), kind, (union ort_tool_data){.ptr = &chunk});
}

void ort_tool_section(struct ort_thread *t)
{
    ORT_RAISE(dispatch, sync_region_data(t), sync_task_data(t), ORT_CHUNK_SECTION,
              (union ort_tool_data){.ptr = (void *)(uintptr_t)t->tool.caller});
}

void ort_tool_position(struct ort_thread *t, bool source, const uint64_t *position, unsigned dims)
{
    enum { SOURCE = 5, SINK = 6, MOST = 64 };
    struct ort_tool_dependence list[MOST];
    if (dims > MOST)
        dims = MOST;
    for (unsigned i = 0; i < dims; i++)
        list[i] = (struct ort_tool_dependence){.variable = {.value = position[i]}, .type = source ? SOURCE : SINK};
    ORT_RAISE(dependences, sync_task_data(t), list, (int)dims);
}

/* --- the rest --- */

void ort_tool_flush(struct ort_thread *t, const void *caller) { ORT_RAISE(flush, ort_tool_thread_data(t), caller); }

void ort_tool_cancel(struct ort_thread *t, unsigned which, int what, const void *caller)
{
    enum { PARALLEL = 1, SECTIONS = 2, LOOP = 4, TASKGROUP = 8 };
    int construct = which & ORT_CANCEL_PARALLEL   ? PARALLEL
                    : which & ORT_CANCEL_LOOP     ? LOOP
                    : which & ORT_CANCEL_SECTIONS ? SECTIONS
                                                  : TASKGROUP;
    ORT_RAISE(cancel, sync_task_data(t), construct | what, caller);
}

void ort_tool_masked(struct ort_thread *t, int scope, const void *caller)
{
    ORT_RAISE(masked, scope, sync_region_data(t), sync_task_data(t), caller);
}

void ort_tool_reduction(struct ort_thread *t, int scope, const void *caller)
{
    t->tool.state = scope == ORT_SCOPE_BEGIN ? ORT_STATE_WORK_REDUCTION : 0;
    ORT_RAISE(reduction, ORT_SYNC_REDUCTION, scope, sync_region_data(t), sync_task_data(t), caller);
}

int ort_tool_control(uint64_t command, uint64_t modifier, void *argument, const void *caller)
{
    enum { NO_CALLBACK = -1 };
    if (!ort_tool_attached())
        return ORT_TOOL_NONE;
    __auto_type control = ps_load_relaxed(&ort_tool_events.control_tool);
    return control != NULL ? control(command, modifier, argument, caller) : NO_CALLBACK;
}

void ort_tool_error(int severity, const char *message, size_t length, const void *caller)
{
    ORT_RAISE(error, severity, message, length, caller);
}
