/* LLVM entry points: reductions of work-sharing constructs and regions.
 *
 * Compiled code offers up to three ways and is told which: 1 - combine one after the other, between reduce and end_reduce; 2 - combine
 * with atomic operations; 0 - nothing left to do. A team of one has nothing to exclude (1, no lock). Where the compiler can do it with
 * atomics it is told to; else the construct's lock excludes. end_reduce knows by the same rule what reduce said: nothing is stored.
 * Rejected: combining in a tree with `combine` (libomp's choice for more than four threads): whoever hands its copy up must wait until it has
 * been read, and a wait costs a switch where threads share processors; the lock's critical section is some additions.
 * KMP_FORCE_REDUCTION=critical and KMP_DETERMINISTIC_REDUCTION take the atomics away. */
#include "kmpc.h"
#include "kmpc_env.h"
#include "lock.h"

enum { NOTHING, ONE_BY_ONE, ATOMIC };

static bool alone(const struct ort_thread *t) { return t->team->n == 1; }

static bool atomic(const struct kmpc_location *at)
{
    /* One by one, the tool is told where it ends. */
    return !PS_UNLIKELY(ort_tool_on()) && at != NULL && (at->flags & KMPC_LOCATION_ATOMIC_REDUCE) &&
           !kmpc_settings.reduce_by_lock;
}

static PS_ALWAYS_INLINE int32_t begin(const struct kmpc_location *at, kmpc_critical *lock)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_reduction(ort_self(), ORT_SCOPE_BEGIN, ORT_CALLER);
    if (alone(ort_self()))
        return ONE_BY_ONE;
    if (atomic(at))
        return ATOMIC;
    ort_lock(lock);
    return ONE_BY_ONE;
}

static PS_ALWAYS_INLINE void end(const struct kmpc_location *at, kmpc_critical *lock)
{
    if (!alone(ort_self()) && !atomic(at))
        ort_unlock(lock);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_reduction(ort_self(), ORT_SCOPE_END, ORT_CALLER);
}

#define REDUCE(name)                                                                                        \
    PS_EXPORT int32_t __kmpc_##name(struct kmpc_location *at, PS_UNUSED int32_t gtid, PS_UNUSED int32_t n,  \
                                    PS_UNUSED size_t bytes, PS_UNUSED void *data,                           \
                                    PS_UNUSED void (*combine)(void *into, void *from), kmpc_critical *lock) \
    {                                                                                                       \
        KMPC_NOT_NULL(at, lock, "the construct's lock");                                                    \
        return begin(at, lock);                                                                             \
    }
REDUCE(reduce)
REDUCE(reduce_nowait)

/* Called after way 1, and after way 2 by reduce (which is not nowait) alone; the barrier is reduce's. */
PS_EXPORT void __kmpc_end_reduce(struct kmpc_location *at, PS_UNUSED int32_t gtid, kmpc_critical *lock)
{
    end(at, lock);
    struct ort_thread *t = ort_self();
    ORT_TOOL_TWIN(t, ort_tool_barrier(t, ORT_SYNC_BARRIER_IMPLEMENTATION), ort_barrier(t));
}

PS_EXPORT void __kmpc_end_reduce_nowait(struct kmpc_location *at, PS_UNUSED int32_t gtid, kmpc_critical *lock)
{
    end(at, lock);
}
