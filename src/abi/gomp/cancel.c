/* GNU entry points: cancellation. `which` has the core's bits: parallel 1, loop 2, sections 4, taskgroup 8. */
#include "gomp_task.h"
#include "ort.h"

PS_EXPORT bool GOMP_cancel(int which, bool do_cancel)
{
    struct ort_thread *t = ort_self();
    return do_cancel ? ort_cancel(t, (unsigned)which) : ort_cancellation_point(t, (unsigned)which);
}

PS_EXPORT bool GOMP_cancellation_point(int which) { return ort_cancellation_point(ort_self(), (unsigned)which); }

PS_EXPORT bool GOMP_barrier_cancel(void) { return ort_task_barrier_cancel(ort_self()); }
PS_EXPORT bool GOMP_barrier_cancel_ext(PS_UNUSED int kind) { return ort_task_barrier_cancel(ort_self()); }

static bool end_cancel(void)
{
    struct ort_thread *t = ort_self();
    ort_loop_leave(t);
    return ort_task_barrier_cancel(t);
}

PS_EXPORT bool GOMP_loop_end_cancel(void) { return end_cancel(); }

PS_EXPORT bool GOMP_sections_end_cancel(void) { return end_cancel(); }
