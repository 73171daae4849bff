/* GNU entry points: tasks, task groups, task reductions. The entry points translate their arguments and call the core;
 * gomp_task.h has the layouts. */
#include "check.h"
#include "gomp_task.h"
#include "ort.h"

static struct ort_depend plain(void **words, size_t i)
{
    return (struct ort_depend){words[2 + i], i < (uintptr_t)words[1] ? ORT_DEPEND_OUT : ORT_DEPEND_IN};
}

static struct ort_depend from_object(void **object)
{
    uintptr_t kind = (uintptr_t)object[1];
    PS_CHECK(kind >= ORT_DEPEND_IN && kind <= ORT_DEPEND_INOUTSET,
             "unknown dependence type %zu in an omp_depend_t object", (size_t)kind);
    /* Kind 3 is inout, which the core treats as out. */
    return (struct ort_depend){object[0], kind == 3 ? ORT_DEPEND_OUT : (enum ort_depend_kind)kind};
}

static struct ort_depend extended(void **words, size_t i)
{
    uintptr_t out = (uintptr_t)words[2], mutex = out + (uintptr_t)words[3], in = mutex + (uintptr_t)words[4];
    if (i >= in)
        return from_object(words[5 + i]);
    return (struct ort_depend){words[5 + i], i < out     ? ORT_DEPEND_OUT
                                             : i < mutex ? ORT_DEPEND_MUTEXINOUTSET
                                                         : ORT_DEPEND_IN};
}

static struct ort_depend gomp_depend_at(const void *list, size_t i)
{
    void **words = (void **)(uintptr_t)list;
    return words[0] ? plain(words, i) : extended(words, i);
}

static struct ort_depend object(const void *objects, size_t i)
{
    return from_object((void **)(uintptr_t)objects + 2 * i);
}

struct ort_depend_list gomp_depend_objects(const void *objects, size_t n)
{
    return (struct ort_depend_list){.n = n, .get = object, .list = objects};
}

struct ort_depend_list gomp_depend_list(void **words)
{
    if (words[0] == NULL)
        return (struct ort_depend_list){.n = (uintptr_t)words[1], .get = gomp_depend_at, .list = words};
    return (struct ort_depend_list){.n = (uintptr_t)words[0],
                                    .n_out = (uintptr_t)words[1],
                                    .addresses = words + 2,
                                    .get = gomp_depend_at,
                                    .list = words};
}

/* A function of its own, so that GOMP_task's frame does not contain the list. */
static PS_NOINLINE void spawn_ordered(void (*fn)(void *), void *data, size_t size, size_t align, unsigned flags,
                                      void **words)
{
    struct ort_depend_list list = gomp_depend_list(words);
    ort_task_spawn_ordered(fn, data, size, align, flags, &list);
}

/* A function of its own, so that its variables are not in GOMP_task's frame. */
static PS_NOINLINE void task_with_clauses(struct ort_task_args *args, unsigned flags, void **depend, int priority,
                                          void *detach)
{
    if (flags & GOMP_TASK_FLAG_PRIORITY)
        args->priority = priority;
    if (flags & GOMP_TASK_FLAG_DETACH) {
        args->flags |= ORT_TASK_DETACH;
        args->event = detach;
    }
    struct ort_depend_list list;
    if (flags & GOMP_TASK_FLAG_DEPEND) {
        list = gomp_depend_list(depend);
        args->depend = &list;
    }
    ort_task_create(ort_self(), args);
}

/* A plain task does not use the last three parameters. They are volatile so that the compiler reads them where they are
 * needed. Otherwise it would keep them in registers, which each call would have to save first. */
PS_EXPORT void GOMP_task(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long arg_size, long arg_align,
                         bool if_clause, unsigned flags, void **volatile depend, volatile int priority,
                         void *volatile detach)
{
    if (PS_LIKELY((flags & ~GOMP_TASK_SAME_FLAGS) == 0) && !PS_UNLIKELY(ort_tool_on())) {
        if (PS_LIKELY(cpyfn == NULL)) {
            if (if_clause)
                ort_task_spawn(fn, data, (size_t)arg_size, (size_t)arg_align, flags);
            else
                ort_task_call(fn, data, flags);
        } else {
            if (if_clause)
                ort_task_spawn_copied(fn, data, cpyfn, (size_t)arg_size, (size_t)arg_align, flags);
            else
                ort_task_call_copied(fn, data, cpyfn, (size_t)arg_size, (size_t)arg_align, flags);
        }
        return;
    }
    if ((flags & ~GOMP_TASK_SAME_FLAGS) == GOMP_TASK_FLAG_DEPEND && cpyfn == NULL && if_clause && !ort_tool_on()) {
        spawn_ordered(fn, data, (size_t)arg_size, (size_t)arg_align, flags & GOMP_TASK_SAME_FLAGS, depend);
        return;
    }
    struct ort_task_args args = gomp_task_args(fn, data, cpyfn, arg_size, arg_align, if_clause, flags);
    task_with_clauses(&args, flags, depend, priority, detach);
}

PS_EXPORT void GOMP_taskwait(void)
{
    struct ort_thread *t = ee_local_inline();
    if (PS_LIKELY(t != NULL) && ort_taskwait_is_over(t))
        return;
    ORT_TRACED(ort_tool_taskwait_from(ORT_CALLER, ORT_FRAME), ort_taskwait(ort_self()));
}

PS_EXPORT void GOMP_taskwait_depend(void **depend)
{
    struct ort_depend_list list = gomp_depend_list(depend);
    struct ort_thread *t = ort_self();
    ORT_TOOL_TRACED(t, ort_tool_taskwait_depend(t, &list), ort_taskwait_depend(t, &list));
}

static void empty_gomp_task(void *data) { (void)data; }

PS_EXPORT void GOMP_taskwait_depend_nowait(void **depend)
{
    struct ort_depend_list list = gomp_depend_list(depend);
    struct ort_task_args args = {
        .fn = empty_gomp_task, .align = 1, .depend = &list, .caller = ORT_CALLER, .frame = ORT_FRAME};
    ort_task_create(ort_self(), &args);
}

PS_EXPORT void GOMP_taskyield(void) { ORT_TOOL_CALL(ort_self(), ort_taskyield(ort_self())); }

PS_EXPORT void GOMP_taskgroup_start(void)
{
    struct ort_thread *t = ort_self();
    ORT_TOOL_TRACED(t, ort_tool_taskgroup_start(t), ort_taskgroup_start(t));
}

PS_EXPORT void GOMP_taskgroup_end(void)
{
    struct ort_thread *t = ort_self();
    ORT_TOOL_TRACED(t, ort_tool_taskgroup_end(t, ort_taskgroup_end), ort_taskgroup_end(t));
}

PS_EXPORT void GOMP_taskgroup_reduction_register(uintptr_t *data) { ort_task_reduction_register(ort_self(), data); }

PS_EXPORT void GOMP_taskgroup_reduction_unregister(uintptr_t *data) { ort_task_reduction_unregister(data); }

PS_EXPORT void GOMP_task_reduction_remap(size_t count, size_t count_original, void **pointers)
{
    ort_task_reduction_remap(ort_self(), count, count_original, pointers);
}

PS_EXPORT void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
    ort_workshare_reduction_end(ort_self(), cancelled);
}
