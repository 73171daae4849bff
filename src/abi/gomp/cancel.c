/* GNU entry points: cancellation. `which` says what is cancelled, in the core's numbers: parallel 1, loop 2, sections
 * 4, taskgroup 8. */
#include "gomp_task.h"
#include "ort.h"

PS_EXPORT bool GOMP_cancel(int which, bool do_cancel)
{
    struct ort_thread *t = ort_self();
    bool cancelled = do_cancel ? ort_cancel(t, (unsigned)which) : ort_cancellation_point(t, (unsigned)which);
    if (PS_UNLIKELY(ort_tool_on()) && cancelled)
        ort_tool_cancel(t, (unsigned)which, do_cancel ? ORT_CANCEL_ACTIVATED : ORT_CANCEL_DETECTED, ORT_CALLER);
    return cancelled;
}

PS_EXPORT bool GOMP_cancellation_point(int which)
{
    struct ort_thread *t = ort_self();
    bool cancelled = ort_cancellation_point(t, (unsigned)which);
    if (PS_UNLIKELY(ort_tool_on()) && cancelled)
        ort_tool_cancel(t, (unsigned)which, ORT_CANCEL_DETECTED, ORT_CALLER);
    return cancelled;
}

static PS_ALWAYS_INLINE bool meet_cancellable_barrier(struct ort_thread *t, enum ort_sync_kind kind)
{
    bool cancelled;
    ORT_TOOL_TRACED(t, cancelled = ort_tool_barrier_cancel(t, kind), cancelled = ort_task_barrier_cancel(t));
    return cancelled;
}

PS_EXPORT bool GOMP_barrier_cancel(void) { return meet_cancellable_barrier(ort_self(), ORT_SYNC_BARRIER_EXPLICIT); }
PS_EXPORT bool GOMP_barrier_cancel_ext(PS_UNUSED int kind)
{
    return meet_cancellable_barrier(ort_self(), ORT_SYNC_BARRIER_EXPLICIT);
}

static PS_ALWAYS_INLINE bool end_cancel(void)
{
    struct ort_thread *t = ort_self();
    ort_loop_leave(t);
    return meet_cancellable_barrier(t, ORT_SYNC_BARRIER_WORKSHARE);
}

PS_EXPORT bool GOMP_loop_end_cancel(void) { return end_cancel(); }

PS_EXPORT bool GOMP_sections_end_cancel(void) { return end_cancel(); }
