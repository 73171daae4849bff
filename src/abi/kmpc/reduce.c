/* LLVM entry points: reductions of work-sharing constructs and regions.
 *
 * Compiled code offers up to three ways, and `reduce` answers which one to use. 1: the members combine one after the
 * other, between reduce and end_reduce. 2: they combine with atomic operations. 0: nothing is left to do. A team of one
 * in no league of several teams gets 1, without a lock. Otherwise the answer is 2 if the compiler offers atomic
 * operations, no tool listens, and KMP_DETERMINISTIC_REDUCTION is not set. Else it is 1, under the construct's lock,
 * which also serves teams of a league that run at once. end_reduce finds reduce's answer by the same rules; nothing is
 * stored.
 *
 * With KMP_DETERMINISTIC_REDUCTION the copies are combined in order. Every member offers its copies. Then member 0
 * alone combines them into its own copy, by number, and combines that with the original (1); the others are done (0).
 * The result is the same in every run in which the members' shares are the same.
 *   all          offered = copies; barrier A
 *   member 0     combines; answers 1; [compiled code combines with the original]; barrier B: in end_reduce, or for
 *                nowait before the answer
 *   the others   barrier B; answer 0
 * Shared field `offered`: written by its member before A, read by member 0 between A and B. A member's copies may be
 * gone after B. The barriers order both.
 *
 * Rejected: always combining in a tree (libomp's choice for more than four threads). A member that hands its copy up
 * must wait until it has been read, and a wait costs a switch where threads share processors; the lock's critical
 * section is some additions. Rejected: a tree for the ordered way. It needs a barrier for each level, and one member's
 * additions are as many as under the lock. */
#include "kmpc.h"
#include "kmpc_env.h"
#include "lock.h"

enum { NOTHING, ONE_BY_ONE, ATOMIC };
typedef void (*combine_function)(void *into, void *from);

static bool alone(const struct ort_thread *t) { return t->team->n == 1 && !ort_beside_teams(t); }

static bool reduces_in_order(const struct ort_thread *t)
{
    return PS_UNLIKELY(kmpc_settings.deterministic) && t->team->n > 1;
}

static bool atomic(const struct kmpc_location *at)
{
    /* With a tool the answer is 1, because compiled code then always calls end_reduce, which tells the tool that the
     * reduction ends. */
    return !PS_UNLIKELY(ort_tool_on()) && at != NULL && (at->flags & KMPC_LOCATION_ATOMIC_REDUCE) &&
           !kmpc_settings.deterministic;
}

static void meet_reduce_barrier(struct ort_thread *t)
{
    ORT_TOOL_TRACED(t, ort_tool_barrier(t, ORT_SYNC_BARRIER_IMPLEMENTATION), ort_barrier(t));
}

static PS_COLD PS_NOINLINE int32_t combine_in_order(struct ort_thread *t, void *data, combine_function combine,
                                                    bool nowait)
{
    t->offered = data;
    meet_reduce_barrier(t);
    bool first = t->id == 0;
    for (uint32_t i = 1; first && i < t->team->n; i++)
        combine(data, t->team->threads[i].offered);
    if (!first || nowait)
        meet_reduce_barrier(t);
    if (!first && PS_UNLIKELY(ort_tool_on()))
        ort_tool_reduction(t, ORT_SCOPE_END, ORT_CALLER);
    return first ? ONE_BY_ONE : NOTHING;
}

static PS_ALWAYS_INLINE int32_t begin_reduce(const struct kmpc_location *at, kmpc_critical *lock, void *data,
                                             combine_function combine, bool nowait)
{
    struct ort_thread *t = ort_self_inline();
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_reduction(t, ORT_SCOPE_BEGIN, ORT_CALLER);
    if (alone(t))
        return ONE_BY_ONE;
    if (atomic(at))
        return ATOMIC;
    if (reduces_in_order(t))
        return combine_in_order(t, data, combine, nowait);
    ort_lock_inline(lock);
    return ONE_BY_ONE;
}

static PS_ALWAYS_INLINE void end(const struct kmpc_location *at, kmpc_critical *lock)
{
    struct ort_thread *t = ort_self_inline();
    if (!alone(t) && !atomic(at) && !reduces_in_order(t))
        ort_unlock_inline(lock);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_reduction(t, ORT_SCOPE_END, ORT_CALLER);
}

#define REDUCE(name, nowait)                                                                                           \
    PS_EXPORT int32_t __kmpc_##name(struct kmpc_location *at, PS_UNUSED int32_t gtid, PS_UNUSED int32_t n,             \
                                    PS_UNUSED size_t bytes, void *data, combine_function combine, kmpc_critical *lock) \
    {                                                                                                                  \
        KMPC_NOT_NULL(at, lock, "the construct's lock");                                                               \
        return begin_reduce(at, lock, data, combine, nowait);                                                          \
    }
REDUCE(reduce, false)
REDUCE(reduce_nowait, true)

/* Compiled code calls this after answers 1 and 2 of __kmpc_reduce. The construct's barrier is here, behind the
 * combining. */
PS_EXPORT void __kmpc_end_reduce(struct kmpc_location *at, PS_UNUSED int32_t gtid, kmpc_critical *lock)
{
    KMPC_NOT_NULL(at, lock, "the construct's lock");
    end(at, lock);
    meet_reduce_barrier(ort_self());
}

PS_EXPORT void __kmpc_end_reduce_nowait(struct kmpc_location *at, PS_UNUSED int32_t gtid, kmpc_critical *lock)
{
    KMPC_NOT_NULL(at, lock, "the construct's lock");
    end(at, lock);
}
