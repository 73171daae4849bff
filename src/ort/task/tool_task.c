/* Tools: the events of explicit tasks and of taskloop. See tool.h. The events of waits: tool_wait.c.
 *
 * A member that runs a task has left another task for it, and returns to that task when this one ends (task.h). So
 * schedule events nest. */
#include <stdlib.h>

#include "task_steps.h"
#include "tool.h"

static ort_tool_ptr current_region_data(const struct ort_thread *t) { return &t->team->tool.data; }

static struct ort_tool_dependence dependence(struct ort_depend d)
{
    enum { IN = 1, INOUT = 3, MUTEXINOUTSET = 4, INOUTSET = 7, ALL_MEMORY = 34 };
    struct ort_tool_dependence shown = {.variable = {.ptr = d.address}, .type = INOUT};
    if (d.kind == ORT_DEPEND_IN)
        shown.type = IN;
    else if (d.kind == ORT_DEPEND_MUTEXINOUTSET)
        shown.type = MUTEXINOUTSET;
    else if (d.kind == ORT_DEPEND_INOUTSET)
        shown.type = INOUTSET;
    else if (d.address == NULL)
        shown.type = ALL_MEMORY;
    return shown;
}

void ort_tool_tell_dependences(ort_tool_ptr task, const struct ort_depend_list *list)
{
    if (ps_load_relaxed(&ort_tool_events.dependences) == NULL)
        return;
    struct ort_tool_dependence few[16], *all = few;
    if (list->n > sizeof few / sizeof few[0]) {
        all = malloc(list->n * sizeof *all);
        PS_CHECK(all != NULL, "no memory to tell a tool of %zu dependences", list->n);
    }
    for (size_t i = 0; i < list->n; i++)
        all[i] = dependence((list->as_written != NULL ? list->as_written : list->get)(list->list, i));
    ORT_RAISE(dependences, task, all, (int)list->n);
    if (all != few)
        free(all);
}

void ort_tool_task_created(struct ort_thread *thread, struct ort_task *t, const struct ort_task_args *args)
{
    struct ort_tool_task *task = ort_tool_task(t), *parent = ort_tool_task(thread->task);
    ort_tool_enter(thread, args->caller, args->frame);
    *task = (struct ort_tool_task){
        .flags = ORT_TOOL_TASK_EXPLICIT, .bytes = (uint32_t)args->size, .chunk = thread->tool.chunk};
    thread->tool.chunk.iterations = 0;
    if (task_is_undeferred(thread, args->flags))
        task->flags |= ORT_TOOL_TASK_UNDEFERRED;
    if (t->flags & ORT_TASK_UNTIED)
        task->flags |= ORT_TOOL_TASK_UNTIED;
    if (t->flags & ORT_TASK_FINAL)
        task->flags |= ORT_TOOL_TASK_FINAL;
    if (t->flags & ORT_TASK_MERGEABLE)
        task->flags |= ORT_TOOL_TASK_MERGEABLE;
    ORT_RAISE(task_create, &parent->data, &parent->frame, &task->data, task->flags, args->depend != NULL,
              ort_tool_place(thread->tool.caller, args->fn));
    if (args->depend != NULL)
        ort_tool_tell_dependences(&task->data, args->depend);
    if (!(task->flags & ORT_TOOL_TASK_UNDEFERRED))
        ort_tool_leave(thread); /* for an undeferred task ort_tool_task_ends does this */
}

void ort_tool_task_begins(struct ort_thread *thread, struct ort_task *t, struct ort_task *below)
{
    struct ort_tool_task *task = ort_tool_task(t);
    int status = thread->tool.yields ? ORT_SWITCH_YIELD : ORT_SWITCH_SWITCH;
    thread->tool.yields = false;
    task->below = below;
    ORT_RAISE(task_schedule, &ort_tool_task(below)->data, status, &task->data);
    ort_stop_here(ORT_STOP_TASK_BEGIN);
    task->flags |= thread->tool.state * ORT_TOOL_TASK_BELOW_UNIT;
    thread->tool.state = 0;
    if (task->chunk.iterations != 0)
        ORT_RAISE(dispatch, current_region_data(thread), &task->data, ORT_CHUNK_TASKLOOP,
                  (union ort_tool_data){.ptr = &task->chunk});
}

void ort_tool_task_ends(struct ort_thread *thread, struct ort_task *t, struct ort_task *below, bool detached)
{
    int status = ORT_SWITCH_COMPLETE;
    thread->tool.state = (ort_tool_task(t)->flags & ORT_TOOL_TASK_BELOW) / ORT_TOOL_TASK_BELOW_UNIT;
    if (detached && !(ps_load_relaxed(&t->event) & ORT_EVENT_FULFILLED))
        status = ORT_SWITCH_DETACH;
    else if (ort_settings.cancellation && ort_task_is_cancelled(t->team, t->group))
        status = ORT_SWITCH_CANCEL;
    ORT_RAISE(task_schedule, &ort_tool_task(t)->data, status, &ort_tool_task(below)->data);
    ort_stop_here(ORT_STOP_TASK_END);
    if (ort_tool_task(t)->flags & ORT_TOOL_TASK_UNDEFERRED)
        ort_tool_task(below)->frame.enter.ptr = NULL;
}

void ort_tool_task_discarded(struct ort_task *t)
{
    bool parallel = ort_cancelled_parallel(t->team);
    ORT_RAISE(cancel, &ort_tool_task(t)->data,
              ORT_CANCEL_DISCARDED | (parallel ? ORT_CANCEL_PARALLEL : ORT_CANCEL_TASKGROUP), NULL);
}

void ort_tool_task_fulfilled(struct ort_task *t, bool late)
{
    ORT_RAISE(task_schedule, &ort_tool_task(t)->data, late ? ORT_SWITCH_LATE_FULFILL : ORT_SWITCH_EARLY_FULFILL, NULL);
}

void ort_tool_task_depends(struct ort_task *first, struct ort_task *second)
{
    ORT_RAISE(task_dependence, &ort_tool_task(first)->data, &ort_tool_task(second)->data);
}
