/* GNU entry points: taskloop over long and unsigned long long. They count the iterations and call the core.
 *
 * The data block begins with the two bounds, which the core fills in, and with REDUCTION the address of the reductions'
 * block. */
#include "gomp_task.h"
#include "ort.h"

_Static_assert(sizeof(long) == 8, "a bound is 64 bits wide in the core");

struct data_head {
    uint64_t bounds[2];
    uintptr_t *reductions;
};

struct call {
    struct ort_task_args task;
    unsigned flags;
    unsigned long num_tasks;
};

static PS_ALWAYS_INLINE struct call call_of(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *),
                                            long arg_size, long arg_align, unsigned flags, unsigned long num_tasks,
                                            int priority)
{
    struct call c = {.flags = flags, .num_tasks = num_tasks};
    c.task = gomp_task_args(fn, data, cpyfn, arg_size, arg_align, flags & GOMP_TASK_FLAG_IF, flags);
    c.task.priority = priority;
    return c;
}

/* n, start, step: as in ort_taskloop. */
static PS_ALWAYS_INLINE void run(const struct call *c, uint64_t n, uint64_t start, uint64_t step)
{
    bool nogroup = c->flags & GOMP_TASK_FLAG_NOGROUP;
    uintptr_t *reductions = c->flags & GOMP_TASK_FLAG_REDUCTION ? ((struct data_head *)c->task.data)->reductions : NULL;
    if (n == 0) {
        /* Tells the compiled code that nothing has been registered. */
        if (reductions && !nogroup)
            reductions[2] = 0;
        return;
    }
    struct ort_taskloop loop = {.task = c->task, .nogroup = nogroup, .n = n, .start = start, .step = step};
    loop.strict = c->flags & GOMP_TASK_FLAG_STRICT;
    loop.by = c->flags & GOMP_TASK_FLAG_GRAINSIZE ? ORT_TASKLOOP_GRAINSIZE : ORT_TASKLOOP_NUM_TASKS;
    loop.size = c->num_tasks;
    loop.reductions = nogroup ? NULL : reductions;
    struct ort_thread *t = ort_self();
    ORT_TOOL_CALL(t, ort_taskloop(t, &loop));
}

static uint64_t steps(uint64_t distance, uint64_t step) { return distance / step + (distance % step != 0); }

PS_EXPORT void GOMP_taskloop(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long arg_size,
                             long arg_align, unsigned flags, unsigned long num_tasks, int priority, long start,
                             long end, long step)
{
    struct call c = call_of(fn, data, cpyfn, arg_size, arg_align, flags, num_tasks, priority);
    uint64_t from = (uint64_t)start, to = (uint64_t)end, n;
    if (step > 0)
        n = start < end ? steps(to - from, (uint64_t)step) : 0;
    else
        n = start > end ? steps(from - to, -(uint64_t)step) : 0;
    run(&c, n, from, (uint64_t)step);
}

PS_EXPORT void GOMP_taskloop_ull(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long arg_size,
                                 long arg_align, unsigned flags, unsigned long num_tasks, int priority,
                                 unsigned long long start, unsigned long long end, unsigned long long step)
{
    struct call c = call_of(fn, data, cpyfn, arg_size, arg_align, flags, num_tasks, priority);
    uint64_t n;
    if (flags & GOMP_TASK_FLAG_UP)
        n = start < end ? steps(end - start, step) : 0;
    else
        n = start > end ? steps(start - end, -step) : 0;
    run(&c, n, start, step);
}
