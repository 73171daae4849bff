/* LLVM entry points: barrier, masked, single, copyprivate, critical, ordered, flush, cancellation, error.
 *
 * A member leaves a loop that it was cancelled out of at the construct's closing barrier: compilers before clang 19 do not say that
 * it is over. */
#include <stdio.h>

#include "kmpc.h"
#include "lock.h"

typedef struct kmpc_location *where;
#define W PS_UNUSED where at
#define G PS_UNUSED int32_t gtid

/* --- barrier -------------------------------------------------------------------------------------------------------------- */

PS_EXPORT void __kmpc_barrier(W, G)
{
    struct ort_thread *t = ort_self();
    kmpc_leave_cancelled_loop(t);
    ort_barrier(t);
}

PS_EXPORT int32_t __kmpc_cancel_barrier(W, G)
{
    struct ort_thread *t = ort_self();
    kmpc_leave_cancelled_loop(t);
    return ort_task_barrier_cancel(t);
}

/* A barrier with code of the primary thread's before it opens for the others: two barriers, the code between them. */
PS_EXPORT int32_t __kmpc_barrier_master(W, G)
{
    struct ort_thread *t = ort_self();
    ort_barrier(t);
    t = ort_self();
    if (t->id == 0)
        return 1;
    ort_barrier(t);
    return 0;
}
PS_EXPORT void __kmpc_end_barrier_master(W, G) { ort_barrier(ort_self()); }

PS_EXPORT int32_t __kmpc_barrier_master_nowait(W, G)
{
    ort_barrier(ort_self());
    return ort_self()->id == 0;
}

/* --- masked, single ----------------------------------------------------------------------------------------------------------- */

PS_EXPORT int32_t __kmpc_master(W, G) { return ort_self()->id == 0; }
PS_EXPORT void __kmpc_end_master(W, G) {}
PS_EXPORT int32_t __kmpc_masked(W, G, int32_t filter) { return filter >= 0 && ort_self()->id == (uint32_t)filter; }
PS_EXPORT void __kmpc_end_masked(W, G) {}

PS_EXPORT int32_t __kmpc_single(W, G) { return ort_single(ort_self()); }
PS_EXPORT void __kmpc_end_single(W, G) {}

PS_EXPORT void __kmpc_scope(W, G, PS_UNUSED void *reserved) {}
PS_EXPORT void __kmpc_end_scope(W, G, PS_UNUSED void *reserved) {}

/* didit: the caller executed the single region, and data is what the others copy from. */
PS_EXPORT void __kmpc_copyprivate(W, G, PS_UNUSED size_t bytes, void *data, void (*copy)(void *to, void *from),
                                  int32_t didit)
{
    struct ort_thread *t = ort_self();
    if (didit)
        t->team->copyprivate = data;
    ort_barrier(t);
    if (!didit)
        copy(data, t->team->copyprivate);
    ort_barrier(t);
}

/* data: not NULL for the thread that executed the region; what it gave, for everybody. Compiled code has a barrier behind its copies. */
PS_EXPORT void *__kmpc_copyprivate_light(W, G, void *data)
{
    struct ort_thread *t = ort_self();
    if (data != NULL)
        t->team->copyprivate = data;
    ort_barrier(t);
    return t->team->copyprivate;
}

/* --- critical, ordered, flush --------------------------------------------------------------------------------------------------- */

PS_EXPORT void __kmpc_critical(W, G, kmpc_critical *name) { ort_lock(name); }
PS_EXPORT void __kmpc_critical_with_hint(W, G, kmpc_critical *name, PS_UNUSED uint32_t hint) { ort_lock(name); }
PS_EXPORT void __kmpc_end_critical(W, G, kmpc_critical *name) { ort_unlock(name); }

PS_EXPORT void __kmpc_ordered(W, G) { ort_ordered_start(ort_self()); }
PS_EXPORT void __kmpc_end_ordered(W, G) {}

/* Both directions, with everybody else's flushes: a seq_cst fence. Some compilers pass a list behind the location. */
PS_EXPORT void __kmpc_flush(W, ...) { ps_fence_seq(); }

/* --- cancellation ------------------------------------------------------------------------------------------------------------- */

static unsigned construct(where at, const char *entry, int32_t kind)
{
    static const uint8_t kinds[] = {0, ORT_CANCEL_PARALLEL, ORT_CANCEL_LOOP, ORT_CANCEL_SECTIONS, ORT_CANCEL_TASKGROUP};
    if (kind < 0 || kind > 4)
        kmpc_fatal(at, entry, "unknown kind of construct");
    return kinds[kind];
}

PS_EXPORT int32_t __kmpc_cancel(where at, G, int32_t kind)
{
    unsigned which = construct(at, "__kmpc_cancel", kind);
    return which != 0 && ort_cancel(ort_self(), which);
}
PS_EXPORT int32_t __kmpc_cancellationpoint(where at, G, int32_t kind)
{
    unsigned which = construct(at, "__kmpc_cancellationpoint", kind);
    return which != 0 && ort_cancellation_point(ort_self(), which);
}
PS_EXPORT int kmp_get_cancellation_status(int kind)
{
    unsigned which = construct(NULL, "kmp_get_cancellation_status", kind);
    return which != 0 && ort_cancellation_point(ort_self(), which);
}
PS_EXPORT int32_t kmp_get_cancellation_status_(const int32_t *kind) { return kmp_get_cancellation_status(*kind); }

/* --- error directive ------------------------------------------------------------------------------------------------------------ */

/* severity 1: warning, 2: fatal. */
PS_EXPORT void __kmpc_error(where at, int severity, const char *message)
{
    const char *source = at != NULL && at->source != NULL ? at->source : "unknown";
    if (severity == 2)
        ps_fatal("error directive: %s (source %s)", message != NULL ? message : "", source);
    ps_warn("error directive: %s (source %s)", message != NULL ? message : "", source);
}
