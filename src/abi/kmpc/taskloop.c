/* LLVM entry points: taskloop. Compiled code passes a task as a pattern. Each task of the loop is a copy of it with
 * bounds of its own; the pattern itself never runs.
 *
 * The bounds are in the pattern, where `lower` and `upper` point. They have 64 bits and are inclusive. `dup`, if there
 * is one, constructs what a copy of the bytes does not copy. It is also told which task has the last iterations
 * (lastprivate).
 *
 * Many tasks may share one descriptor (ort/task/task_range.h). It contains a copy of the pattern, in which a member
 * runs these tasks one after the other. Before each task the private copies are made anew; `dup` makes them from the
 * pattern itself. The pattern lives until the construct's group is complete. Without a group (nogroup) it may be gone
 * earlier, so tasks with `dup` then have a descriptor each. */
#include <string.h>

#include "kmpc_task.h"

typedef void (*duplicate)(struct kmpc_task *to, struct kmpc_task *from, int32_t last);

struct pattern {
    struct kmpc_task_head *head;
    size_t lower_at, upper_at; /* offsets in the kmp_task_t */
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
    ort_task_submit(t, head->core, &args);
}

/* --- many tasks in one descriptor --- */

/* The data of a descriptor for many tasks: one kmp_task_t, in which a member runs the tasks one after the other.
 * Whatever a task may have changed in it is restored before the next task. A member that steals some of the tasks gets
 * a copy of this block. */
struct many {
    uint64_t from, end; /* the next task's range, written by the core */
    uint64_t step, last_end;
    size_t lower_at, upper_at;
    duplicate dup;
    struct kmpc_task *pattern;  /* `dup` copies from it */
    const struct many *here;    /* this block's address; after a move its old address */
    size_t own_at, own_words;   /* own_at: where a task's own data begins in the kmp_task_t; own_words: its words */
    uint64_t *own;              /* a copy of those words as they were at first; at the end of the block */
    struct kmpc_task_head head; /* what belongs to the task follows */
};
#define MANY_BYTES 4096 /* size limit of the pattern */

/* Returns the offset of the first byte of the kmp_task_t that a task may change. clang puts both bounds, the step, a
 * flag that `dup` writes, and the reductions' block first. A task does not change these, so the offset is that of the
 * private copies, which follow. If the bounds are elsewhere, the layout is unknown, and the offset is that of the first
 * byte behind struct kmpc_task. */
enum { BOUNDS_AT = sizeof(struct kmpc_task), PRIVATE_AT = BOUNDS_AT + 5 * sizeof(uint64_t) };
static size_t changes_from(const struct pattern *p)
{
    bool known = p->lower_at == BOUNDS_AT && p->upper_at == BOUNDS_AT + sizeof(uint64_t);
    size_t from = known ? PRIVATE_AT : BOUNDS_AT;
    return from < p->head->bytes ? from : p->head->bytes;
}

/* Corrects the addresses in a block that has been moved. */
static PS_NOINLINE void rebase_many(struct many *m)
{
    size_t bytes = kmpc_task_bytes(&m->head);
    m->head.task.shareds = (char *)&m->head + bytes - m->head.shareds_bytes;
    m->own = (uint64_t *)(void *)((char *)m + offsetof(struct many, head) + ((bytes + 15) & ~(size_t)15));
    m->here = m;
}

static PS_ALWAYS_INLINE void next_of_many(struct many *m, struct kmpc_task *task)
{
    uint64_t upper = m->end - m->step, *own = (uint64_t *)(void *)((char *)task + m->own_at);
    for (size_t i = 0; i < m->own_words; i++) {
        own[i] = m->own[i];
        /* Keeps the compiler from making a vector loop, whose setup costs more than these few words. */
        __asm__("" : "+r"(i));
    }
    memcpy((char *)task + m->lower_at, &m->from, sizeof m->from);
    memcpy((char *)task + m->upper_at, &upper, sizeof upper);
}

static PS_NOINLINE void run_one_of_many(void *data)
{
    struct many *m = data;
    struct kmpc_task *task = &m->head.task;
    if (PS_UNLIKELY(m->here != m))
        rebase_many(m);
    next_of_many(m, task);
    task->part_id = 0;
    if (m->dup != NULL)
        m->dup(task, m->pattern, m->end == m->last_end);
    m->head.core = ort_self()->task;
    kmpc_task_body(&m->head);
}

/* As run_one_of_many, for a tied task without `dup` and destructors. */
static void run_plain_one(void *data)
{
    struct many *m = data;
    struct ort_thread *t = ee_local_inline();
    if (PS_UNLIKELY(m->here != m) || PS_UNLIKELY(t == NULL) || PS_UNLIKELY(t->number == 0)) {
        run_one_of_many(data);
        return;
    }
    next_of_many(m, &m->head.task);
    m->head.task.routine((int32_t)t->number - 1, &m->head.task);
}

static PS_NOINLINE void taskloop_of_many(struct ort_thread *t, struct ort_taskloop *loop, const struct pattern *p)
{
    size_t bytes = kmpc_task_bytes(p->head), own_at = changes_from(p), own_bytes = p->head->bytes - own_at,
           words = (own_bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t),
           all = offsetof(struct many, head) + ((bytes + 15) & ~(size_t)15) + words * sizeof(uint64_t);
    struct many *m = __builtin_alloca(all);
    *m = (struct many){.step = loop->step,
                       .last_end = loop->start + loop->n * loop->step,
                       .lower_at = p->lower_at,
                       .upper_at = p->upper_at,
                       .dup = p->dup,
                       .pattern = &p->head->task,
                       .own_at = own_at,
                       .own_words = words};
    kmpc_task_copy_to(&m->head, p->head);
    rebase_many(m);
    memcpy(m->own, (char *)&p->head->task + own_at, own_bytes);
    loop->task = kmpc_task_args(t, p->head);
    loop->task.fn = p->dup == NULL && (p->head->flags & (KMPC_TASK_TIED | KMPC_TASK_DESTRUCTORS)) == KMPC_TASK_TIED
                        ? run_plain_one
                        : run_one_of_many;
    loop->task.data = m;
    loop->task.size = all;
    loop->task.align = alignof(struct many);
    loop->task.flags |= p->undeferred ? ORT_TASK_UNDEFERRED : 0;
    loop->task.flags &= ~(unsigned)ORT_TASK_COPIED;
    loop->ranges = true;
    ort_taskloop(t, loop);
}

/* Returns whether the tasks may share a descriptor. If a tool listens they may not, because it must be told of each
 * task. */
static bool may_be_many(const struct pattern *p, bool nogroup)
{
    return !PS_UNLIKELY(ort_tool_on()) && kmpc_task_bytes(p->head) <= MANY_BYTES && p->head->task.routine != NULL &&
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
    /* The loop is empty if the upper bound is before the lower one. The bounds are compared as signed numbers, so an
     * unsigned loop may look empty too. But then the distance of its bounds is less than 2^63, and the loop runs. */
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
        if (may_be_many(&p, nogroup))
            taskloop_of_many(t, &loop, &p);
        else
            ORT_TOOL_CALL(t, ort_taskloop(t, &loop));
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
