/* LLVM entry points: tasks.
 *
 * Compiled code gets a kmp_task_t from task_alloc and writes into it. Then it hands the task to omp_task (or
 * with_deps), runs it itself between begin_if0 and complete_if0, or gives it to taskloop as a pattern. The kmp_task_t
 * is in the core's descriptor, after a head of ours.
 *
 * Untied tasks come in parts: a part that ends hands its own task to omp_task and returns. The next part follows at
 * once on the same member, since tasks are tied here. So only that member uses KMPC_TASK_AGAIN. Compiled code makes a
 * task's private copies before it submits the task. So a task with destructors for them must run even if it is
 * cancelled (ORT_TASK_COPIED). A proxy task has no body: its work is done elsewhere. Any thread may report that the
 * work is done (__kmpc_proxy_task_completed). Without memory the program ends with one line. */
#include "emergency_pool.h"
#include "kmpc_task.h"
#include "task_frame.h"

#include <stdlib.h>
#include <string.h>

#define HEAD PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid

/* --- allocation --- */

/* Returns the offset of the block for the shared variables' addresses. */
static size_t shareds_at(size_t bytes) { return (bytes + 15) & ~(size_t)15; }

static PS_ALWAYS_INLINE struct kmpc_task_head *fill(struct ort_thread *t, struct ort_task *core, int32_t flags,
                                                    size_t bytes, size_t shareds, kmpc_routine routine)
{
    size_t at = shareds_at(bytes);
    struct kmpc_task_head *head = core->data;
    head->core = core;
    core->owner = t;
    head->flags = flags & KMPC_TASK_COMPILERS;
    head->bytes = bytes;
    head->shareds_bytes = shareds;
    head->task.routine = routine;
    head->task.part_id = 0;
    head->task.shareds = (char *)&head->task + at; /* never read if the task has none */
    return head;
}

static PS_ALWAYS_INLINE size_t room_for(size_t bytes, size_t shareds)
{
    return offsetof(struct kmpc_task_head, task) + shareds_at(bytes) + shareds;
}

struct kmpc_task_head *kmpc_task_new(struct ort_thread *t, int32_t flags, size_t bytes, size_t shareds,
                                     kmpc_routine routine)
{
    return fill(t, ort_task_new(t, room_for(bytes, shareds), 16), flags, bytes, shareds, routine);
}

static PS_NOINLINE struct kmpc_task *alloc_long(int32_t flags, size_t bytes, size_t shareds, kmpc_routine routine)
{
    return &kmpc_task_new(ort_self(), flags, bytes, shareds, routine)->task;
}

struct kmpc_task_head *kmpc_task_copy(struct ort_thread *t, const struct kmpc_task_head *model)
{
    struct kmpc_task_head *head =
        kmpc_task_new(t, model->flags, model->bytes, model->shareds_bytes, model->task.routine);
    void *shareds = head->task.shareds;
    memcpy(&head->task, &model->task, model->bytes);
    head->task.shareds = shareds;
    memcpy(shareds, model->task.shareds, model->shareds_bytes);
    return head;
}

size_t kmpc_task_bytes(const struct kmpc_task_head *head) { return room_for(head->bytes, head->shareds_bytes); }

struct kmpc_task_head *kmpc_task_copy_to(void *to, const struct kmpc_task_head *model)
{
    struct kmpc_task_head *head = memcpy(to, model, kmpc_task_bytes(model));
    head->task.shareds = (char *)&head->task + shareds_at(model->bytes);
    return head;
}

PS_EXPORT struct kmpc_task *__kmpc_omp_task_alloc(HEAD, int32_t flags, size_t bytes, size_t shareds,
                                                  kmpc_routine routine)
{
    struct ort_thread *t = ee_local_inline();
    struct ort_task *core = NULL;
    size_t room;
    if (PS_LIKELY(t != NULL) && !PS_UNLIKELY(__builtin_add_overflow(room_for(bytes, 0), shareds, &room)) &&
        PS_LIKELY(room <= ORT_TASK_SMALL))
        core = ort_task_new_small(&t->tasks.cache);
    if (PS_UNLIKELY(core == NULL))
        return alloc_long(flags, bytes, shareds, routine);
    return &fill(t, core, flags, bytes, shareds, routine)->task;
}

/* The task runs on the host, since there is no other device. */
PS_EXPORT struct kmpc_task *__kmpc_omp_target_task_alloc(HEAD, int32_t flags, size_t bytes, size_t shareds,
                                                         kmpc_routine routine, PS_UNUSED int64_t device)
{
    return &kmpc_task_new(ort_self(), flags, bytes, shareds, routine)->task;
}

/* The affinity clause is a hint, and is ignored. */
PS_EXPORT int32_t __kmpc_omp_reg_task_with_affinity(HEAD, PS_UNUSED struct kmpc_task *task, PS_UNUSED int32_t n,
                                                    PS_UNUSED void *list)
{
    return 0;
}

PS_EXPORT void *__kmpc_task_allow_completion_event(HEAD, struct kmpc_task *task)
{
    KMPC_NOT_NULL(at, task, "the task");
    struct kmpc_task_head *head = kmpc_head(task);
    head->flags |= KMPC_TASK_HAS_EVENT;
    return head->core;
}

/* --- running --- */

static PS_ALWAYS_INLINE void kmpc_run(void *data)
{
    struct kmpc_task_head *head = data;
    head->flags |= KMPC_TASK_RUNNING;
    do {
        head->flags &= ~KMPC_TASK_AGAIN;
        if (head->task.routine != NULL)
            head->task.routine(kmpc_number(head->core->owner), &head->task);
    } while (PS_UNLIKELY(head->flags & KMPC_TASK_AGAIN));
    head->flags &= ~KMPC_TASK_RUNNING;
    if (PS_UNLIKELY(head->flags & KMPC_TASK_DESTRUCTORS))
        head->task.data1.destructors(kmpc_number(head->core->owner), &head->task);
}

/* Runs a tied task without destructors: its routine runs once, if it has one. */
void kmpc_task_body_in_one(void *data)
{
    struct kmpc_task_head *head = data;
    if (PS_LIKELY(head->task.routine != NULL))
        head->task.routine(kmpc_number(head->core->owner), &head->task);
}

void kmpc_task_body(void *data) { kmpc_run(data); }

/* While the program's code runs, the task's record for tools has the address of this function's frame. */
PS_NOINLINE void kmpc_task_body_traced(void *data)
{
    struct ort_tool_frame *frame = &ort_tool_task(ort_self()->task)->frame;
    frame->exit.ptr = __builtin_frame_address(0);
    kmpc_run(data);
    frame->exit.ptr = NULL;
}

/* libomp runs a serialized region's tasks at once, inside of the task that makes them. Tools for this ABI expect that,
 * so with a tool it is done here too. */
static PS_NOINLINE void args_traced(const struct ort_thread *t, const struct kmpc_task_head *head,
                                    struct ort_task_args *args)
{
    args->fn = kmpc_task_body_traced;
    args->size = head->bytes;
    if (t->team->n == 1 && !(args->flags & ORT_TASK_DETACH))
        args->flags |= ORT_TASK_UNDEFERRED;
}

struct ort_task_args kmpc_task_args(const struct ort_thread *t, const struct kmpc_task_head *head)
{
    struct ort_task_args args = {.fn = kmpc_task_body};
    int32_t flags = head->flags;
    args.flags = (flags & KMPC_TASK_TIED ? 0 : ORT_TASK_UNTIED) | (flags & KMPC_TASK_FINAL ? ORT_TASK_FINAL : 0) |
                 (flags & KMPC_TASK_DESTRUCTORS ? ORT_TASK_COPIED : 0) |
                 (flags & (KMPC_TASK_HAS_EVENT | KMPC_TASK_PROXY) ? ORT_TASK_DETACH : 0);
    if (PS_UNLIKELY(ort_tool_on()))
        args_traced(t, head, &args);
    if (PS_UNLIKELY(flags & KMPC_TASK_PRIORITY))
        args.priority = head->task.data2.priority;
    return args;
}

static PS_NOINLINE void submit_long(struct ort_thread *t, const struct kmpc_task_head *head,
                                    const struct ort_depend_list *depend, unsigned flags, const void *caller,
                                    void *frame)
{
    struct ort_task_args args = kmpc_task_args(t, head);
    args.depend = depend;
    args.flags |= flags;
    args.caller = caller;
    args.frame = frame;
    ort_task_submit(t, head->core, &args);
}

/* A task with one of these flags takes the slow path. If KMPC_TASK_RUNNING is set, the call submits the next part of a
 * running task. */
#define NOT_PLAIN                                                                                           \
    (KMPC_TASK_FINAL | KMPC_TASK_DESTRUCTORS | KMPC_TASK_PROXY | KMPC_TASK_PRIORITY | KMPC_TASK_HAS_EVENT | \
     KMPC_TASK_RUNNING)

static PS_NOINLINE void submit_as(struct kmpc_task *task, const struct ort_depend_list *depend, unsigned flags,
                                  const void *caller, void *frame)
{
    struct kmpc_task_head *head = kmpc_head(task);
    struct ort_thread *t = ort_self_inline();
    if (PS_LIKELY(!(head->flags & NOT_PLAIN)) && flags == 0) {
        bool tied = head->flags & KMPC_TASK_TIED;
        unsigned untied = tied ? 0 : ORT_TASK_UNTIED;
        void (*body)(void *) = tied ? kmpc_task_body_in_one : kmpc_task_body;
        if (PS_LIKELY(depend == NULL ? ort_task_submit_fast(t, head->core, body, untied)
                                     : ort_task_submit_ordered(t, head->core, body, untied, depend)))
            return;
    } else if (PS_UNLIKELY(head->flags & KMPC_TASK_RUNNING)) {
        head->flags |= KMPC_TASK_AGAIN;
        return;
    }
    submit_long(t, head, depend, flags, caller, frame);
}
static PS_ALWAYS_INLINE void submit_task(struct kmpc_task *task, const struct ort_depend_list *depend)
{
    submit_as(task, depend, 0, ORT_CALLER, ORT_FRAME);
}

/* Returns 0: the task has been queued or run, and the caller has nothing left to do. The member that made the task must
 * submit it (task.h). */
PS_EXPORT int32_t __kmpc_omp_task(HEAD, struct kmpc_task *task)
{
    KMPC_NOT_NULL(at, task, "the task");
    struct kmpc_task_head *head = kmpc_head(task);
    if (PS_LIKELY((head->flags & (NOT_PLAIN | KMPC_TASK_TIED)) == KMPC_TASK_TIED) &&
        PS_LIKELY(ort_task_submit_fast(head->core->owner, head->core, kmpc_task_body_in_one, 0)))
        return 0;
    submit_task(task, NULL);
    return 0;
}
PS_EXPORT int32_t __kmpc_omp_task_parts(HEAD, struct kmpc_task *task)
{
    KMPC_NOT_NULL(at, task, "the task");
    submit_task(task, NULL);
    return 0;
}

/* Tells tools that compiled code runs the task itself, in its own frame. */
static PS_NOINLINE void runs_itself(struct ort_thread *t, void *frame)
{
    struct ort_tool_frame *f = &ort_tool_task(t->task)->frame;
    f->exit.ptr = frame;
    f->exit_flags = ORT_FRAME_PROGRAM_POINTER;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wframe-address" /* The program may have no frame pointer. */
/* With optimisation begin_if0 enters begin_otherwise by a jump, so that there is one frame less. */
#ifdef __OPTIMIZE__
#define PROGRAM_FRAME 1
#else
#define PROGRAM_FRAME 2
#endif
/* Begins a task in a frame. Whether the task is tied would matter to tools only. */
static PS_ALWAYS_INLINE void begin_in_frame(struct ort_thread *t, struct kmpc_task_head *head, unsigned around)
{
    ort_frame_enter_from(t, 0, around);
    head->flags |= KMPC_TASK_RUNNING | KMPC_TASK_IN_FRAME;
}
static PS_NOIPA void begin_otherwise(struct kmpc_location *at, PS_UNUSED int32_t gtid, struct kmpc_task *task,
                                     const void *caller, void *frame)
{
    if (task == NULL)
        kmpc_fatal(at, "__kmpc_omp_task_begin_if0", "the task is a null pointer");
    struct kmpc_task_head *head = kmpc_head(task);
    struct ort_thread *t = ort_self();
    if (!(head->flags & NOT_PLAIN) && !ort_tasks_traced() && ort_frame_is_there(t)) {
        begin_in_frame(t, head, t->task->flags);
        return;
    }
    struct ort_task_args args = kmpc_task_args(t, head);
    head->flags |= KMPC_TASK_RUNNING;
    args.flags |= ORT_TASK_UNDEFERRED;
    args.caller = caller;
    args.frame = frame;
    ort_task_enter(t, head->core, &args);
    if (PS_UNLIKELY(ort_tool_on()))
        runs_itself(t, __builtin_frame_address(PROGRAM_FRAME));
}
/* A plain task runs in a frame (task_frame.h), if the core allows that here. Its descriptor then only holds its
 * data. */
PS_EXPORT void __kmpc_omp_task_begin_if0(struct kmpc_location *at, int32_t gtid, struct kmpc_task *task)
{
    struct kmpc_task_head *head = task != NULL ? kmpc_head(task) : NULL;
    if (PS_UNLIKELY(head == NULL) || PS_UNLIKELY(head->flags & NOT_PLAIN) || PS_UNLIKELY(ort_tasks_traced())) {
        begin_otherwise(at, gtid, task, ORT_CALLER, ORT_FRAME);
        return;
    }
    struct ort_thread *t = head->core->owner;
    unsigned around = ort_task_flags_of(t->task);
    if (PS_UNLIKELY(!ort_frame_may_be(t, around)))
        begin_otherwise(at, gtid, task, ORT_CALLER, ORT_FRAME);
    else
        begin_in_frame(t, head, around);
}
#pragma GCC diagnostic pop

static PS_NOIPA void complete_otherwise(struct kmpc_location *at, int32_t gtid, struct kmpc_task *task)
{
    if (task == NULL)
        kmpc_fatal(at, "__kmpc_omp_task_complete_if0", "the task is a null pointer");
    struct kmpc_task_head *head = kmpc_head(task);
    while (PS_UNLIKELY(head->flags & KMPC_TASK_AGAIN)) {
        head->flags &= ~KMPC_TASK_AGAIN;
        task->routine(gtid, task);
    }
    if (head->flags & KMPC_TASK_DESTRUCTORS)
        task->data1.destructors(gtid, task);
    struct ort_thread *t = head->core->owner;
    if (!(head->flags & KMPC_TASK_IN_FRAME)) {
        ort_task_leave(t, head->core);
        return;
    }
    if (ort_frame_is_over(t->task))
        ort_frame_leave(t->task);
    else
        ort_task_frame_outlives(t->task);
    ort_task_discard(t, head->core);
}
PS_EXPORT void __kmpc_omp_task_complete_if0(struct kmpc_location *at, int32_t gtid, struct kmpc_task *task)
{
    struct kmpc_task_head *head = task != NULL ? kmpc_head(task) : NULL;
    if (PS_UNLIKELY(head == NULL) || PS_UNLIKELY((head->flags & (KMPC_TASK_AGAIN | KMPC_TASK_DESTRUCTORS |
                                                                 KMPC_TASK_IN_FRAME)) != KMPC_TASK_IN_FRAME)) {
        complete_otherwise(at, gtid, task);
        return;
    }
    struct ort_task *core = head->core;
    struct ort_thread *t = core->owner;
    struct ort_task *frame = t->task;
    if (PS_UNLIKELY(!ort_frame_is_over(frame)) || PS_UNLIKELY(!ort_task_discard_small(&t->tasks.cache, core)))
        complete_otherwise(at, gtid, task);
    else
        ort_frame_leave_as(t, frame);
}

PS_EXPORT void __kmpc_invoke_task_func(PS_UNUSED int32_t gtid, struct kmpc_task *task)
{
    KMPC_NOT_NULL(NULL, task, "the task");
    submit_task(task, NULL);
}

/* --- proxy tasks: completed from outside --- */

PS_EXPORT void __kmpc_proxy_task_completed(PS_UNUSED int32_t gtid, struct kmpc_task *task)
{
    KMPC_NOT_NULL(NULL, task, "the task");
    ort_task_fulfill(kmpc_head(task)->core);
}
PS_EXPORT void __kmpc_proxy_task_completed_ooo(struct kmpc_task *task)
{
    KMPC_NOT_NULL(NULL, task, "the task");
    ort_task_fulfill(kmpc_head(task)->core);
}

/* --- dependences --- */

/* The two lists of dependences of a call, in the core's form. Dependences that write come first, so that an address
 * which is in both lists counts as written. */
#define FEW 16
struct dependences {
    struct ort_depend_list list;
    struct ort_depend *all;
    union {
        struct ort_depend few[FEW];
        void *addresses[FEW];
    };
    const struct kmpc_depend *first, *second;
    size_t n_first;
};

static struct ort_depend kmpc_depend_at(const void *list, size_t i)
{
    return ((const struct dependences *)list)->all[i];
}

static enum ort_depend_kind depend_kind(const struct kmpc_depend *d)
{
    if (d->flags & (KMPC_DEPEND_OUT | KMPC_DEPEND_ALL))
        return ORT_DEPEND_OUT;
    if (d->flags & KMPC_DEPEND_MUTEXINOUTSET)
        return ORT_DEPEND_MUTEXINOUTSET;
    return d->flags & KMPC_DEPEND_INOUTSET ? ORT_DEPEND_INOUTSET : ORT_DEPEND_IN;
}

/* Returns whether the entry means omp_all_memory: by a flag, or with another compiler by the address -1. */
static bool kmpc_is_all_memory(const struct kmpc_depend *d)
{
    return (d->flags & KMPC_DEPEND_ALL) || (d->address == -1 && (d->flags & KMPC_DEPEND_OUT));
}

static struct ort_depend dependence_of(const struct kmpc_depend *d)
{
    return (struct ort_depend){kmpc_is_all_memory(d) ? NULL : (void *)d->address, depend_kind(d)};
}

static size_t take_depends(struct ort_depend *to, size_t at, const struct kmpc_depend *from, int32_t n, bool writers)
{
    for (int32_t i = 0; i < n; i++) {
        enum ort_depend_kind kind = depend_kind(&from[i]);
        if ((kind == ORT_DEPEND_OUT || kind == ORT_DEPEND_MUTEXINOUTSET) == writers)
            to[at++] = dependence_of(&from[i]);
    }
    return at;
}

static struct ort_depend as_written(const void *list, size_t i)
{
    const struct dependences *d = list;
    return dependence_of(i < d->n_first ? &d->first[i] : &d->second[i - d->n_first]);
}

/* Stores both lists in *d, and returns the core's list of them, or NULL if both are empty. See free_dependences. */
static const struct ort_depend_list *gather_dependences(struct dependences *d, int32_t n,
                                                        const struct kmpc_depend *list, int32_t m,
                                                        const struct kmpc_depend *noalias)
{
    size_t all = (size_t)(n > 0 ? n : 0) + (size_t)(m > 0 ? m : 0);
    if (all == 0)
        return NULL;
    d->all = d->few;
    if (all > FEW) {
        d->all = ort_mem_get(all * sizeof *d->all);
        PS_CHECK(d->all != NULL, "no memory for %zu dependences", all);
    }
    size_t at = 0;
    for (int writers = 1; writers >= 0; writers--) {
        at = take_depends(d->all, at, list, n, writers);
        at = take_depends(d->all, at, noalias, m, writers);
    }
    d->list = (struct ort_depend_list){.n = at, .get = kmpc_depend_at, .as_written = as_written, .list = d};
    d->first = list;
    d->second = noalias;
    d->n_first = (size_t)(n > 0 ? n : 0);
    return &d->list;
}

static void free_dependences(struct dependences *d)
{
    if (d->all != d->few)
        ort_mem_free(d->all);
}

/* Stores the addresses of a few dependences in *d. Those of out and inout fill the array from its front, those of in
 * from its back. Returns false if there are other kinds, or too many. */
static PS_ALWAYS_INLINE bool gather_addresses(struct dependences *d, int32_t n, const struct kmpc_depend *list)
{
    if (PS_UNLIKELY(n > FEW))
        return false;
    size_t out = 0, in = (size_t)n;
    unsigned flags = 0;
    for (const struct kmpc_depend *end = list + n; list != end; list++) {
        uintptr_t address = (uintptr_t)list->address;
        if (PS_UNLIKELY(address + 1 <= 1)) /* 0 or -1 */
            return false;
        flags |= list->flags;
        d->addresses[list->flags & KMPC_DEPEND_OUT ? out++ : --in] = (void *)address;
    }
    if (flags & ~(unsigned)(KMPC_DEPEND_IN | KMPC_DEPEND_OUT))
        return false;
    d->list = (struct ort_depend_list){.n = (size_t)n, .n_out = out, .addresses = d->addresses};
    return true;
}

/* Returns true in a team of one without a tool, if the current task has no incomplete child, and the new task needs no
 * event. Then every dependence is fulfilled: the task runs at once, and no later task needs to know of it. */
static bool nothing_to_depend_on(const struct ort_thread *t, const struct kmpc_task_head *head)
{
    return t->team->n == 1 && !PS_UNLIKELY(ort_tool_on()) && !(head->flags & (KMPC_TASK_PROXY | KMPC_TASK_HAS_EVENT)) &&
           ort_count_is_zero_after(&t->task->count);
}

#define LISTS int32_t n, const struct kmpc_depend *list, int32_t m, const struct kmpc_depend *noalias

PS_EXPORT int32_t __kmpc_omp_task_with_deps(HEAD, struct kmpc_task *task, LISTS)
{
    if (PS_UNLIKELY((n > 0 && list == NULL) || (m > 0 && noalias == NULL)))
        kmpc_fatal(at, __func__, "a list of dependences is a null pointer");
    KMPC_NOT_NULL(at, task, "the task");
    struct kmpc_task_head *head = kmpc_head(task);
    struct ort_thread *t = head->core->owner;
    struct dependences d;
    if (PS_LIKELY((head->flags & (NOT_PLAIN | KMPC_TASK_TIED)) == KMPC_TASK_TIED) && PS_LIKELY(m <= 0) &&
        t->team->n > 1 && PS_LIKELY(n > 0) && gather_addresses(&d, n, list) &&
        ort_task_submit_ordered(t, head->core, kmpc_task_body_in_one, 0, &d.list))
        return 0;
    if (nothing_to_depend_on(t, head)) {
        submit_as(task, NULL, ORT_TASK_UNDEFERRED, ORT_CALLER, ORT_FRAME);
        return 0;
    }
    d.all = d.few;
    submit_task(task, gather_dependences(&d, n, list, m, noalias));
    free_dependences(&d);
    return 0;
}

static void empty_kmpc_task(PS_UNUSED void *data) {}

static PS_ALWAYS_INLINE void wait_for_depends(bool nowait, LISTS)
{
    struct dependences d = {.all = d.few};
    const struct ort_depend_list *all = gather_dependences(&d, n, list, m, noalias);
    struct ort_thread *t = ort_self();
    struct ort_task_args args = {
        .fn = empty_kmpc_task, .align = 1, .depend = all, .caller = ORT_CALLER, .frame = ORT_FRAME};
    if (all != NULL && nowait)
        ort_task_create(t, &args);
    else if (all != NULL)
        ORT_TOOL_TRACED(t, ort_tool_taskwait_depend(t, all), ort_taskwait_depend(t, all));
    free_dependences(&d);
}

PS_EXPORT void __kmpc_omp_wait_deps(HEAD, LISTS)
{
    if (PS_UNLIKELY((n > 0 && list == NULL) || (m > 0 && noalias == NULL)))
        kmpc_fatal(at, __func__, "a list of dependences is a null pointer");
    wait_for_depends(false, n, list, m, noalias);
}
PS_EXPORT void __kmpc_omp_taskwait_deps_51(HEAD, LISTS, int32_t nowait)
{
    if (PS_UNLIKELY((n > 0 && list == NULL) || (m > 0 && noalias == NULL)))
        kmpc_fatal(at, __func__, "a list of dependences is a null pointer");
    wait_for_depends(nowait != 0, n, list, m, noalias);
}

/* --- waiting --- */

/* A function of its own, entered by a jump, so that a taskwait with nothing to wait for has no frame. */
static PS_NOIPA int32_t taskwait_otherwise(const void *caller, void *frame)
{
    struct ort_thread *t = ort_self();
    if (PS_UNLIKELY(ort_tool_on())) {
        ort_tool_taskwait_from(caller, frame);
        return 0;
    }
    ort_taskwait(t);
    return 0;
}
PS_EXPORT int32_t __kmpc_omp_taskwait(HEAD)
{
    struct ort_thread *t = ee_local_inline();
    if (PS_LIKELY(t != NULL) && PS_LIKELY(ort_taskwait_is_over(t)))
        return 0;
    return taskwait_otherwise(ORT_CALLER, ORT_FRAME);
}
PS_EXPORT int32_t __kmpc_omp_taskyield(HEAD, PS_UNUSED int32_t end_part)
{
    struct ort_thread *t = ort_self();
    ORT_TOOL_CALL(t, ort_taskyield(t));
    return 0;
}

PS_EXPORT void __kmpc_taskgroup(HEAD)
{
    struct ort_thread *t = ort_self_inline();
    ORT_TOOL_TRACED(t, ort_tool_taskgroup_start(t), ort_taskgroup_start(t));
}
PS_EXPORT void __kmpc_end_taskgroup(HEAD)
{
    struct ort_thread *t = ort_self_inline();
    const struct kmpc_thread *k = (const struct kmpc_thread *)(const void *)kmpc_carrier(t)->local;
    if (PS_LIKELY(!ort_tool_on()) && PS_LIKELY(k == NULL || k->reductions == NULL))
        ort_taskgroup_end(t);
    else
        ORT_TOOL_TRACED(t, ort_tool_taskgroup_end(t, kmpc_taskgroup_end), kmpc_taskgroup_end(t));
}

/* A graph of tasks (LLVM 18 and later, OpenMP 6.0 section 14.3) is a taskgroup here. The answer 1 makes compiled
 * code run the graph's body each time; nothing is recorded. */
PS_EXPORT int32_t __kmpc_start_record_task(HEAD, PS_UNUSED int32_t flags, PS_UNUSED int32_t id)
{
    __kmpc_taskgroup(at, gtid);
    return 1;
}
PS_EXPORT void __kmpc_end_record_task(HEAD, PS_UNUSED int32_t flags, PS_UNUSED int32_t id)
{
    __kmpc_end_taskgroup(at, gtid);
}

PS_EXPORT int32_t __kmpc_omp_has_task_team(PS_UNUSED int32_t gtid) { return ort_self()->team->n > 1; }

/* --- numbers of tasks, for debuggers: the tasks' addresses --- */

PS_EXPORT uint64_t __kmpc_get_taskid(void) { return (uint64_t)(uintptr_t)ort_self()->task; }
PS_EXPORT uint64_t __kmpc_get_parent_taskid(void)
{
    return (uint64_t)(uintptr_t)ps_load_relaxed(&ort_self()->task->parent);
}

/* --- the graph, for libraries that read it; and for libomptarget --- */

PS_EXPORT void *__kmpc_task_get_depnode(struct kmpc_task *task)
{
    ort_depend_successors(kmpc_head(task)->core);
    return kmpc_head(task)->core->node;
}
PS_EXPORT void *__kmpc_task_get_successors(struct kmpc_task *task)
{
    return ort_depend_successors(kmpc_head(task)->core);
}

/* Returns where a target task keeps its stream: NULL, so that libomptarget waits for the device in the task itself. */
PS_EXPORT void **__kmpc_omp_get_target_async_handle_ptr(PS_UNUSED int32_t gtid) { return NULL; }
