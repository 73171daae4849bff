/* Tools: the events of taskwait and taskgroup, around the waits themselves. See tool.h. */
#include "ort.h"

static ort_tool_ptr waiting_region_data(const struct ort_thread *t) { return &t->team->tool.data; }
static ort_tool_ptr current_task_data(const struct ort_thread *t) { return &ort_tool_task(t->task)->data; }

void ort_tool_taskwait_from(const void *caller, void *frame)
{
    struct ort_thread *t = ort_self();
    ort_tool_enter(t, caller, frame);
    ort_tool_ptr task = current_task_data(t);
    ORT_RAISE(sync_region, ORT_SYNC_TASKWAIT, ORT_SCOPE_BEGIN, waiting_region_data(t), task, caller);
    ORT_RAISE(sync_region_wait, ORT_SYNC_TASKWAIT, ORT_SCOPE_BEGIN, waiting_region_data(t), task, caller);
    t->tool.state = ORT_STATE_WAIT_TASKWAIT;
    ort_taskwait(t);
    t->tool.state = 0;
    ORT_RAISE(sync_region_wait, ORT_SYNC_TASKWAIT, ORT_SCOPE_END, waiting_region_data(t), task, caller);
    ORT_RAISE(sync_region, ORT_SYNC_TASKWAIT, ORT_SCOPE_END, waiting_region_data(t), task, caller);
    ort_tool_leave(t);
}

/* A tool is told of a taskwait with dependences as of a task that has these dependences, and no body. */
void ort_tool_taskwait_depend(struct ort_thread *t, const struct ort_depend_list *list)
{
    struct ort_tool_task *self = ort_tool_task(t->task);
    union ort_tool_data waits = {0};
    ORT_RAISE(task_create, &self->data, &self->frame, &waits,
              ORT_TOOL_TASK_TASKWAIT | ORT_TOOL_TASK_UNDEFERRED | ORT_TOOL_TASK_MERGEABLE, 1, t->tool.caller);
    ort_tool_tell_dependences(&waits, list);
    t->tool.state = ORT_STATE_WAIT_TASKWAIT;
    ort_taskwait_depend(t, list);
    t->tool.state = 0;
    ORT_RAISE(task_schedule, &waits, ORT_SWITCH_TASKWAIT_COMPLETE, &self->data);
}

void ort_tool_taskgroup_start(struct ort_thread *t)
{
    ort_taskgroup_start(t);
    ORT_RAISE(sync_region, ORT_SYNC_TASKGROUP, ORT_SCOPE_BEGIN, waiting_region_data(t), current_task_data(t),
              t->tool.caller);
}

void ort_tool_taskgroup_end(struct ort_thread *t, void (*end)(struct ort_thread *))
{
    const void *caller = t->tool.caller;
    ort_tool_ptr task = current_task_data(t);
    ORT_RAISE(sync_region_wait, ORT_SYNC_TASKGROUP, ORT_SCOPE_BEGIN, waiting_region_data(t), task, caller);
    t->tool.state = ORT_STATE_WAIT_TASKGROUP;
    end(t);
    t->tool.state = 0;
    ORT_RAISE(sync_region_wait, ORT_SYNC_TASKGROUP, ORT_SCOPE_END, waiting_region_data(t), task, caller);
    ORT_RAISE(sync_region, ORT_SYNC_TASKGROUP, ORT_SCOPE_END, waiting_region_data(t), task, caller);
}
