/* LLVM entry points: taskloop. The task that compiled code gives is a pattern: each task is a copy of it with bounds of
 * its own.
 *
 * The bounds lie in the pattern, where `lower` and `upper` point. They have 64 bits and are inclusive. `dup`, where
 * there is one, constructs what a copy of bytes does not copy. It also takes the flag of the task that has the last
 * iterations (lastprivate). The pattern itself is never run.
 *
 * Where there are many tasks they stand in one descriptor (ort/task_range.h). Its data is the pattern with all that
 * belongs to it, and each task is a copy on the stack of the member that runs it. `dup` copies from the pattern itself
 * there too, which lives until the construct's group is complete; without a group (nogroup) such tasks are made one by
 * one. */
#include <string.h>

#include "kmpc_task.h"

typedef void (*duplicate)(struct kmpc_task *to, struct kmpc_task *from, int32_t last);

struct pattern {
    struct kmpc_task_head *head;
    size_t lower_at, upper_at; /* in the kmp_task_t */
    duplicate dup;
    bool undeferred;
    const void *caller;
    void *frame;
};

static void submit_taskloop(struct ort_thread *t, const struct ort_taskloop *loop, uint64_t from, uint64_t count,
                            bool last)
{
    const struct pattern *p = loop->context;
    struct kmpc_task_head *model = p->head, *head = kmpc_task_copy(t, model);
    uint64_t to = from + (count - 1) * loop->step;
    memcpy((char *)&head->task + p->lower_at, &from, sizeof from);
    memcpy((char *)&head->task + p->upper_at, &to, sizeof to);
    if (p->dup != NULL)
        p->dup(&head->task, &model->task, last);
    struct ort_task_args args = kmpc_task_args(t, head);
    args.caller = p->caller;
    args.frame = p->frame;
    if (p->undeferred)
        args.flags |= ORT_TASK_UNDEFERRED;
    if (kmpc_records(t))
        kmpc_record_task(t, head, NULL, p->undeferred);
    ort_task_submit(t, head->core, &args);
}

/* --- many tasks in one descriptor --- */

struct many {
    uint64_t from, end; /* of the next task: the core writes them */
    uint64_t step, last_end;
    size_t lower_at, upper_at;
    duplicate dup;
    struct kmpc_task *pattern;  /* for dup */
    struct kmpc_task_head head; /* and what follows it */
};
#define MANY_BYTES 4096 /* of a task that is copied to a stack, at most */

static void run_one_of_many(void *data)
{
    const struct many *m = data;
    size_t bytes = kmpc_task_bytes(&m->head);
    struct kmpc_task_head *head = kmpc_task_copy_to(__builtin_alloca(bytes), &m->head, ort_self_inline());
    uint64_t upper = m->end - m->step;
    memcpy((char *)&head->task + m->lower_at, &m->from, sizeof m->from);
    memcpy((char *)&head->task + m->upper_at, &upper, sizeof upper);
    if (m->dup != NULL)
        m->dup(&head->task, m->pattern, m->end == m->last_end);
    kmpc_task_body(head);
}

static PS_NOINLINE void taskloop_of_many(struct ort_thread *t, struct ort_taskloop *loop, const struct pattern *p)
{
    size_t bytes = kmpc_task_bytes(p->head), all = offsetof(struct many, head) + bytes;
    struct many *m = __builtin_alloca(all);
    *m = (struct many){.step = loop->step,
                       .last_end = loop->start + loop->n * loop->step,
                       .lower_at = p->lower_at,
                       .upper_at = p->upper_at,
                       .dup = p->dup,
                       .pattern = &p->head->task};
    memcpy(&m->head, p->head, bytes);
    loop->task = kmpc_task_args(t, p->head);
    loop->task.fn = run_one_of_many;
    loop->task.data = m;
    loop->task.size = all;
    loop->task.align = alignof(struct many);
    loop->task.flags |= p->undeferred ? ORT_TASK_UNDEFERRED : 0;
    loop->task.flags &= ~(unsigned)ORT_TASK_COPIED;
    loop->ranges = true;
    ort_taskloop(t, loop);
}

/* A task that a tool hears of, or that is recorded, is one by itself. */
static bool may_be_many(const struct ort_thread *t, const struct pattern *p, bool nogroup)
{
    return !PS_UNLIKELY(ort_tool_on()) && !kmpc_records(t) && kmpc_task_bytes(p->head) <= MANY_BYTES &&
           !(nogroup && p->dup != NULL) && !(p->head->flags & (KMPC_TASK_HAS_EVENT | KMPC_TASK_PROXY));
}

enum { BY_DEFAULT, BY_GRAINSIZE, BY_NUM_TASKS };

static PS_ALWAYS_INLINE void taskloop(const struct kmpc_location *at, const char *entry, struct kmpc_task *task,
                                      bool deferred, uint64_t *lower, uint64_t *upper, int64_t step, bool nogroup,
                                      int32_t by, uint64_t size, bool strict, void *dup)
{
    if (task == NULL || lower == NULL || upper == NULL)
        kmpc_fatal(at, entry, "the task or a bound is a null pointer");
    struct ort_thread *t = ort_self();
    struct kmpc_task_head *head = kmpc_head(task);
    if (step == 0)
        kmpc_fatal(at, entry, "the increment is 0");
    int64_t from = (int64_t)*lower, to = (int64_t)*upper;
    uint64_t distance = step > 0 ? *upper - *lower : *lower - *upper,
             stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    /* Compiled code has converted the bounds to 64 bits with their sign and does not ask for empty loops, but for
     * these. */
    if (!(step > 0 ? to < from : to > from) || distance < UINT64_C(1) << 63) {
        struct pattern p = {.head = head,
                            .lower_at = (size_t)((char *)lower - (char *)task),
                            .upper_at = (size_t)((char *)upper - (char *)task),
                            .dup = (duplicate)dup,
                            .undeferred = !deferred,
                            .caller = ORT_CALLER,
                            .frame = ORT_FRAME};
        struct ort_taskloop loop = {
            .nogroup = nogroup,
            .strict = strict,
            .by = by == BY_GRAINSIZE   ? ORT_TASKLOOP_GRAINSIZE
                  : by == BY_NUM_TASKS ? ORT_TASKLOOP_NUM_TASKS
                                       : ORT_TASKLOOP_DEFAULT,
            .size = by == BY_DEFAULT ? 0 : size,
            .n = distance / stride + 1,
            .start = *lower,
            .step = (uint64_t)step,
            .submit = submit_taskloop,
            .context = &p,
        };
        if (kmpc_records(t) && !nogroup)
            kmpc_record_step(t, KMPC_STEP_GROUP, NULL);
        if (may_be_many(t, &p, nogroup))
            taskloop_of_many(t, &loop, &p);
        else
            ORT_TOOL_CALL(t, ort_taskloop(t, &loop));
        if (kmpc_records(t) && !nogroup)
            kmpc_record_step(t, KMPC_STEP_GROUP_END, NULL);
    }
    if (head->flags & KMPC_TASK_DESTRUCTORS)
        task->data1.destructors(kmpc_number(ort_self()), task);
    ort_task_discard(ort_self(), head->core);
}

PS_EXPORT void __kmpc_taskloop(struct kmpc_location *at, PS_UNUSED int32_t gtid, struct kmpc_task *task,
                               int32_t deferred, uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup,
                               int32_t by, uint64_t size, void *dup)
{
    taskloop(at, __func__, task, deferred != 0, lower, upper, step, nogroup != 0, by, size, false, dup);
}

PS_EXPORT void __kmpc_taskloop_5(struct kmpc_location *at, PS_UNUSED int32_t gtid, struct kmpc_task *task,
                                 int32_t deferred, uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup,
                                 int32_t by, uint64_t size, int32_t strict, void *dup)
{
    taskloop(at, __func__, task, deferred != 0, lower, upper, step, nogroup != 0, by, size, strict != 0, dup);
}
