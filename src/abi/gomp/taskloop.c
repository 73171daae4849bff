/* GNU entry points: taskloop over long and unsigned long long. The entry points count the iterations and call the core.
 *
 * The data block begins with the two bounds of a task, which the core fills in. With GOMP_TASK_FLAG_REDUCTION the next
 * word is the address of the reductions' block. */
#include <string.h>

#include "gomp_task.h"
#include "ort.h"

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

/* The head of the data block where a long is narrower than 64 bits. The core would store bounds of 64 bits, so
 * submit_narrow makes each task and stores its bounds as longs. */
struct narrow_head {
    long bounds[2];
    uintptr_t *reductions;
};

static void submit_narrow(struct ort_thread *thread, const struct ort_taskloop *loop, uint64_t from, uint64_t count,
                          PS_UNUSED bool last)
{
    struct ort_task_args args = loop->task;
    struct ort_task *t = ort_task_new(thread, args.size, args.align);
    if (args.copy != NULL)
        args.copy(t->data, args.data);
    else
        memcpy(t->data, args.data, args.size);
    struct narrow_head *head = t->data;
    head->bounds[0] = (long)from;
    head->bounds[1] = (long)(from + count * loop->step);
    if (args.copy != NULL)
        args.flags |= ORT_TASK_COPIED;
    ort_task_submit(thread, t, &args);
}

/* Runs the taskloop. n, start and step are the fields of struct ort_taskloop: the number of iterations, the first
 * value, and the step. narrow: the data block begins with a narrow_head. */
static PS_ALWAYS_INLINE void run_taskloop(const struct call *c, bool narrow, uint64_t n, uint64_t start, uint64_t step)
{
    bool nogroup = c->flags & GOMP_TASK_FLAG_NOGROUP;
    uintptr_t *reductions = NULL;
    if (c->flags & GOMP_TASK_FLAG_REDUCTION)
        reductions =
            narrow ? ((struct narrow_head *)c->task.data)->reductions : ((struct data_head *)c->task.data)->reductions;
    if (n == 0) {
        /* Tells the compiled code that no reduction has been registered. */
        if (reductions && !nogroup)
            reductions[2] = 0;
        return;
    }
    struct ort_taskloop loop = {.task = c->task, .nogroup = nogroup, .n = n, .start = start, .step = step};
    loop.strict = c->flags & GOMP_TASK_FLAG_STRICT;
    loop.by = c->flags & GOMP_TASK_FLAG_GRAINSIZE ? ORT_TASKLOOP_GRAINSIZE : ORT_TASKLOOP_NUM_TASKS;
    loop.size = c->num_tasks;
    loop.reductions = nogroup ? NULL : reductions;
    if (narrow)
        loop.submit = submit_narrow;
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
    run_taskloop(&c, sizeof(long) != sizeof(uint64_t), n, from, (uint64_t)step);
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
    run_taskloop(&c, false, n, start, step);
}
