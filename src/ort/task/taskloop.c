/* taskloop: distributes the iterations of a loop to explicit tasks.
 *
 * Does: decides how many tasks there are and which bounds each gets, makes them, and, without nogroup, waits for them
 * in a taskgroup of its own.
 * Does not: know how a bound is represented beyond 64 bits: the task's data begins with two of them, filled in here.
 * Callers: the member that meets the construct.
 *
 * n iterations in k tasks: the first n mod k tasks get one iteration more than n / k. k is num_tasks, at most n; by
 * default it is the number of threads. With a grainsize g it is n / g, so that each task gets between g and 2 g - 1; if
 * n < g, one task gets all. With a strict grainsize each task gets g, and the last one the remainder. An upper bound is
 * the lower one plus the task's iterations times the step, modulo 2^64. Compiled code tests it after each step, so the
 * loop ends even if its own bound is near the type's end.
 *
 * If data has to be constructed (C++), all tasks are made before the first one runs, because a body may change what is
 * copied. Otherwise tasks are made and queued one by one; once the deque is full the creator runs them. If there are
 * many, one descriptor stands for all of them (task_range.c).
 * Failures: as of ort_task_create. OpenMP 5.2 section 12.6. */
#include "task_range.h"
#include "task_steps.h"

struct split {
    uint64_t tasks;
    uint64_t iterations; /* iterations of each task */
    uint64_t longer;     /* this many tasks, the first ones, have one iteration more */
};

static struct split split(const struct ort_taskloop *loop, unsigned threads)
{
    uint64_t n = loop->n, k = loop->size;
    if (loop->by == ORT_TASKLOOP_GRAINSIZE) {
        if (loop->strict)
            return (struct split){.tasks = n / k + (n % k != 0), .iterations = k};
        k = n / k;
    } else if (k == 0) {
        k = threads;
    }
    if (k == 0)
        k = 1;
    if (k > n)
        k = n;
    return (struct split){.tasks = k, .iterations = n / k, .longer = n % k};
}

static void set_bounds(struct ort_task *t, uint64_t from, uint64_t to)
{
    uint64_t *bounds = t->data;
    bounds[0] = from;
    bounds[1] = to;
}

static void dispatch(struct ort_thread *thread, struct ort_task *t, unsigned flags)
{
    if (task_is_undeferred(thread, flags)) {
        t->flags |= ORT_TASK_UNDEFERRED;
        ort_task_run(thread, t);
    } else {
        ort_task_enqueue(thread, t);
    }
}

static void make_tasks(struct ort_thread *thread, const struct ort_taskloop *loop)
{
    struct split s = split(loop, thread->team->n);
    if ((!loop->submit || loop->ranges) && ort_task_range(thread, &loop->task,
                                                          &(struct ort_chunks){.n = s.tasks,
                                                                               .from = loop->start,
                                                                               .step = loop->step,
                                                                               .iterations = s.iterations,
                                                                               .longer = s.longer,
                                                                               .left = loop->n},
                                                          loop->nogroup))
        return;
    struct ort_task *first = NULL, **tail = &first;
    uint64_t from = loop->start, done = 0;
    for (uint64_t i = 0; i < s.tasks; i++) {
        uint64_t rest = loop->n - done, count = s.iterations + (i < s.longer);
        count = count < rest ? count : rest;
        done += count;
        if (PS_UNLIKELY(ort_tool_on()))
            ort_tool_next_chunk(thread, from, count);
        if (loop->submit) {
            loop->submit(thread, loop, from, count, done == loop->n);
            from += count * loop->step;
            continue;
        }
        struct ort_task *t = ort_task_make(thread, &loop->task);
        uint64_t to = from + count * loop->step;
        set_bounds(t, from, to);
        from = to;
        if (loop->task.copy) {
            t->next = NULL;
            *tail = t;
            tail = &t->next;
        } else {
            dispatch(thread, t, loop->task.flags);
        }
    }
    while (first) {
        struct ort_task *t = first;
        first = t->next;
        dispatch(thread, t, loop->task.flags);
    }
}

static void make_traced(struct ort_thread *thread, const struct ort_taskloop *loop)
{
    const void *caller = ort_tool_caller_of(thread);
    ort_tool_work(thread, ORT_WORK_TASKLOOP, ORT_SCOPE_BEGIN, loop->n, caller);
    make_tasks(thread, loop);
    ort_tool_work(thread, ORT_WORK_TASKLOOP, ORT_SCOPE_END, loop->n, caller);
    if (!loop->nogroup)
        ort_tool_taskgroup_end(thread, ort_taskgroup_end);
}

void ort_taskloop(struct ort_thread *thread, const struct ort_taskloop *loop)
{
    if (ort_settings.cancellation && ort_task_is_cancelled(thread->team, thread->task->group)) {
        /* A 0 in word 2 of the block tells the compiled code that nothing was registered. */
        if (!loop->nogroup && loop->reductions)
            loop->reductions[2] = 0;
        return;
    }
    if (!loop->nogroup) {
        if (PS_UNLIKELY(ort_tool_on()))
            ort_tool_taskgroup_start(thread);
        else
            ort_taskgroup_start(thread);
        if (loop->reductions)
            ort_task_reduction_register(thread, loop->reductions);
    }
    if (PS_UNLIKELY(ort_tool_on())) {
        make_traced(thread, loop);
    } else {
        make_tasks(thread, loop);
        if (!loop->nogroup)
            ort_taskgroup_end(thread);
    }
}
