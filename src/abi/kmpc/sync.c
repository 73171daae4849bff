/* LLVM entry points: barrier, masked, single, copyprivate, critical, ordered, flush, cancellation, error.
 *
 * Compiled code does not call the end of a loop that it has left by a cancellation. So the barrier that closes the
 * construct gives back the loop's work-share slot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kmpc.h"
#include "lock_routines.h"

typedef struct kmpc_location *where;
#define W PS_UNUSED where at
#define G PS_UNUSED int32_t gtid

/* --- barrier --- */

/* Returns the kind of barrier that the location's flags tell. */
static enum ort_sync_kind barrier_kind(const struct kmpc_location *at)
{
    enum { EXPLICIT = 0x20, IMPLICIT = 0x40 };
    if (at == NULL)
        return ORT_SYNC_BARRIER;
    if (at->flags & EXPLICIT)
        return ORT_SYNC_BARRIER_EXPLICIT;
    return at->flags & IMPLICIT ? ORT_SYNC_BARRIER_WORKSHARE : ORT_SYNC_BARRIER_IMPLEMENTATION;
}

PS_EXPORT void __kmpc_barrier(where at, G)
{
    struct ort_thread *t = ort_self_inline();
    kmpc_leave_cancelled_loop(t);
    ORT_TRACED(ort_tool_barrier_from(barrier_kind(at), ORT_CALLER, ORT_FRAME), ort_barrier(t));
}

PS_EXPORT int32_t __kmpc_cancel_barrier(where at, G)
{
    struct ort_thread *t = ort_self();
    bool cancelled;
    kmpc_leave_cancelled_loop(t);
    ORT_TOOL_TRACED(t, cancelled = ort_tool_barrier_cancel(t, barrier_kind(at)),
                    cancelled = ort_task_barrier_cancel(t));
    return cancelled;
}

/* A barrier at which member 0 runs code before the others go on: two barriers, with the code between them. Returns 1 to
 * member 0 after the first barrier; member 0 then runs the code, and calls __kmpc_end_barrier_master. Returns 0 to the
 * other members after the second barrier. */
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

/* --- masked, single --- */

static PS_ALWAYS_INLINE int32_t masked(bool mine)
{
    if (PS_UNLIKELY(ort_tool_on()) && mine)
        ort_tool_masked(ort_self(), ORT_SCOPE_BEGIN, ORT_CALLER);
    return mine;
}
static PS_ALWAYS_INLINE void end_masked(void)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_masked(ort_self(), ORT_SCOPE_END, ORT_CALLER);
}
PS_EXPORT int32_t __kmpc_master(W, G) { return masked(ort_self()->id == 0); }
PS_EXPORT void __kmpc_end_master(W, G) { end_masked(); }
PS_EXPORT int32_t __kmpc_masked(W, G, int32_t filter)
{
    return masked(filter >= 0 && ort_self()->id == (uint32_t)filter);
}
PS_EXPORT void __kmpc_end_masked(W, G) { end_masked(); }

PS_EXPORT int32_t __kmpc_single(W, G)
{
    struct ort_thread *t = ort_self_inline();
    bool mine = ort_single(t);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_single(t, mine, ORT_CALLER);
    return mine;
}
PS_EXPORT void __kmpc_end_single(W, G)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_work(ort_self(), ORT_WORK_SINGLE_EXECUTOR, ORT_SCOPE_END, 1, ORT_CALLER);
}

PS_EXPORT void __kmpc_scope(W, G, PS_UNUSED void *reserved)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_work(ort_self(), ORT_WORK_SCOPE, ORT_SCOPE_BEGIN, 1, ORT_CALLER);
}
PS_EXPORT void __kmpc_end_scope(W, G, PS_UNUSED void *reserved)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_work(ort_self(), ORT_WORK_SCOPE, ORT_SCOPE_END, 1, ORT_CALLER);
}

/* Called by all members after a single region. didit: the caller executed the region; the others copy from its data. */
PS_EXPORT void __kmpc_copyprivate(W, G, PS_UNUSED size_t bytes, void *data, void (*copy)(void *to, void *from),
                                  int32_t didit)
{
    KMPC_NOT_NULL(at, copy, "the copying function");
    struct ort_thread *t = ort_self();
    if (didit)
        t->team->copyprivate = data;
    ORT_TOOL_TRACED(t, ort_tool_barrier(t, ORT_SYNC_BARRIER_IMPLEMENTATION), ort_barrier(t));
    if (!didit)
        copy(data, t->team->copyprivate);
    ORT_TOOL_TRACED(t, ort_tool_barrier(t, ORT_SYNC_BARRIER_IMPLEMENTATION), ort_barrier(t));
}

/* data is not NULL for the thread that executed the single region. Returns that thread's data to all members. Compiled
 * code copies from it, and has a barrier afterwards. */
PS_EXPORT void *__kmpc_copyprivate_light(W, G, void *data)
{
    struct ort_thread *t = ort_self();
    if (data != NULL)
        t->team->copyprivate = data;
    ORT_TOOL_TRACED(t, ort_tool_barrier(t, ORT_SYNC_BARRIER_IMPLEMENTATION), ort_barrier(t));
    return t->team->copyprivate;
}

/* --- critical, ordered, flush --- */

/* The slow path of a critical construct: the lock is taken, a tool listens, or `name` is NULL. The fast path jumps here
 * with the arguments in the same registers, so it moves and saves nothing. */
static PS_NOIPA void critical_otherwise(where at, G, kmpc_critical *name, uint32_t hint, const char *entry,
                                        const void *caller)
{
    if (name == NULL)
        kmpc_fatal(at, entry, "the construct's lock is a null pointer");
    if (PS_UNLIKELY(ort_traced()))
        ort_tool_lock(name, ORT_MUTEX_CRITICAL, hint, caller);
    else
        ort_lock_contended(name);
}
PS_EXPORT void __kmpc_critical(where at, int32_t gtid, kmpc_critical *name)
{
    if (PS_UNLIKELY(name == NULL) || PS_UNLIKELY(!ort_lock_try_fast(name)))
        critical_otherwise(at, gtid, name, 0, __func__, ORT_CALLER);
}
PS_EXPORT void __kmpc_critical_with_hint(where at, int32_t gtid, kmpc_critical *name, uint32_t hint)
{
    if (PS_UNLIKELY(name == NULL) || PS_UNLIKELY(!ort_lock_try_fast(name)))
        critical_otherwise(at, gtid, name, hint, __func__, ORT_CALLER);
}

static PS_NOIPA void end_critical_otherwise(where at, G, kmpc_critical *name, const void *caller)
{
    if (name == NULL)
        kmpc_fatal(at, "__kmpc_end_critical", "the construct's lock is a null pointer");
    if (PS_UNLIKELY(ort_traced()))
        ort_tool_unlock(name, ORT_MUTEX_CRITICAL, caller);
    else
        ort_unlock(name);
}
PS_EXPORT void __kmpc_end_critical(where at, int32_t gtid, kmpc_critical *name)
{
    if (PS_UNLIKELY(name == NULL) || PS_UNLIKELY(!ort_unlock_fast(name)))
        end_critical_otherwise(at, gtid, name, ORT_CALLER);
}

PS_EXPORT void __kmpc_ordered(W, G)
{
    struct ort_thread *t = ort_self();
    ORT_TRACED(ort_tool_ordered_start(t, ORT_CALLER), ort_ordered_start(t));
}
PS_EXPORT void __kmpc_end_ordered(W, G)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_ordered_end(ort_self(), ORT_CALLER);
}

/* A flush orders reads and writes with regard to the flushes of every other thread: a seq_cst fence. Some compilers
 * pass a list after the location. */
PS_EXPORT void __kmpc_flush(W, ...)
{
    ps_fence_seq();
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_flush(ort_self(), ORT_CALLER);
}

/* --- cancellation --- */

static unsigned construct(where at, const char *entry, int32_t kind)
{
    static const uint8_t kinds[] = {0, ORT_CANCEL_PARALLEL, ORT_CANCEL_LOOP, ORT_CANCEL_SECTIONS, ORT_CANCEL_TASKGROUP};
    if (kind < 0 || kind > 4)
        kmpc_fatal(at, entry, "unknown kind of construct");
    return kinds[kind];
}

#define CANCEL(name, function, what)                                \
    PS_EXPORT int32_t name(where at, G, int32_t kind)               \
    {                                                               \
        unsigned which = construct(at, #name, kind);                \
        bool cancelled = which != 0 && function(ort_self(), which); \
        if (PS_UNLIKELY(ort_tool_on()) && cancelled)                \
            ort_tool_cancel(ort_self(), which, what, ORT_CALLER);   \
        return cancelled;                                           \
    }
CANCEL(__kmpc_cancel, ort_cancel, ORT_CANCEL_ACTIVATED)
CANCEL(__kmpc_cancellationpoint, ort_cancellation_point, ORT_CANCEL_DETECTED)
PS_EXPORT int kmp_get_cancellation_status(int kind)
{
    unsigned which = construct(NULL, "kmp_get_cancellation_status", kind);
    return which != 0 && ort_cancellation_point(ort_self(), which);
}
PS_EXPORT int32_t kmp_get_cancellation_status_(const int32_t *kind) { return kmp_get_cancellation_status(*kind); }

/* --- error directive --- */

/* Returns the place ";file;function;line;column;;" in the form in which libomp shows it. */
static const char *source_text(where at, char *text, size_t bytes)
{
    const char *part[5] = {NULL}, *p = at != NULL ? at->source : NULL;
    int length[5];
    unsigned n = 0;
    for (p = p != NULL && *p == ';' ? p + 1 : NULL; p != NULL && n < 4; n++) {
        const char *end = strchr(p, ';');
        part[n] = p;
        length[n] = end != NULL ? (int)(end - p) : (int)strlen(p);
        p = end != NULL ? end + 1 : NULL;
    }
    if (n < 4)
        return "unknown:0:0";
    snprintf(text, bytes, "%.*s:%.*s:%.*s", length[0], part[0], length[2], part[2], length[3], part[3]);
    return text;
}

/* severity 1 is a warning, 2 ends the program. Prints the program's message in libomp's form. */
PS_EXPORT void __kmpc_error(where at, int severity, const char *message)
{
    char place[256];
    const char *text = message != NULL ? message : "(null)", *source = source_text(at, place, sizeof place);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_error(severity, message, message != NULL ? strlen(message) : 0, ORT_CALLER);
    if (severity == 2) {
        fprintf(stderr, "OMP: Error #282: %s: Encountered user-directed error: %s.\n", source, text);
        abort();
    }
    if (!ps_warn_quiet)
        fprintf(stderr, "OMP: Warning #283: %s: Encountered user-directed warning: %s.\n", source, text);
}
