/* Task groups.
 *
 * Does: opens a group around the tasks that the current task creates, and waits for all of them and their descendants.
 * Callers: the task's member. Groups nest; a task inherits its creator's innermost group, for reductions and
 * cancellation. Only children of the task that opened the group are counted, each until the subtree below it is
 * complete. Deeper tasks of the group do not change the count. So a recursion inside of a group has no shared counter.
 * Shared fields: count as in task.h (own: the member of the opening task); cancelled: any thread. The member of the
 * opening task writes all other fields; members that run tasks of the group read them.
 * Failures: if there is no memory, in the emergency pool either, the program ends with one line. Cost: a malloc and a
 * free. OpenMP 5.2 section 15.4. */
#include "task_internal.h"

#include "emergency_pool.h"
#include "race.h"

void ort_taskgroup_start(struct ort_thread *thread)
{
    struct ort_task *self = thread->task;
    struct ort_taskgroup *group = ort_mem_get(sizeof *group);
    PS_CHECK(group != NULL, "out of memory for a taskgroup");
    *group = (struct ort_taskgroup){.prev = self->group, .task = self};
    if (self->group)
        group->reductions = self->group->reductions;
    self->group = group;
}

void ort_taskgroup_end(struct ort_thread *thread)
{
    struct ort_task *self = thread->task;
    struct ort_taskgroup *group = self->group;
    if (!group || group->task != self)
        return;
    if (!ort_count_is_zero(&group->count))
        ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_GROUP, .object = group, .within = self});
    ps_race_acquire(group);
    self->group = group->prev;
    ort_mem_free(group);
}
