/* Cancellation.
 *
 * Does: keeps the cancelled state of regions, work-sharing constructs and task groups. Does not: leave a construct;
 * compiled code asks whether it is cancelled, and leaves by itself. The barrier at which a cancelled region does not
 * wait is ort_task_barrier_cancel (task.c).
 * Callers: members, in their implicit or an explicit task.
 *
 * States: three flags. team.tasks.cancelled has one bit for the region, and one that is set once a task group in the
 * region is cancelled. So a member that makes or runs a task reads one word, instead of each group around it. Member 0
 * clears the word after the region. team.tasks.loop_cancelled is cleared by the last member that arrives at the
 * construct's closing barrier (ort_task_barrier or ort_task_barrier_cancel), and after the region. taskgroup.cancelled
 * ends with the group.
 * A group's flag is set before a fetch-or sets the team's bit. A member that reads the bit from this fetch-or (acquire
 * load) also sees the flag. A work-sharing construct with task reductions has a group of its own; `cancel taskgroup` in
 * it cancels the group around it.
 * Failures: none. Without OMP_CANCELLATION nothing here costs more than a load. OpenMP 5.2 chapter 16. */
#include "race.h"
#include "task_internal.h"

bool ort_task_group_is_cancelled(struct ort_taskgroup *group)
{
    for (; group != NULL; group = group->prev) {
        if (ps_load_acquire(&group->cancelled))
            return true;
    }
    return false;
}

static bool region_cancelled(struct ort_team *team)
{
    return ps_load_acquire(&team->tasks.cancelled) & ORT_CANCELLED_REGION;
}

bool ort_cancelled_parallel(struct ort_team *team) { return region_cancelled(team); }

static bool group_cancelled(const struct ort_taskgroup *group)
{
    if (!group)
        return false;
    if (ps_load_acquire(&group->cancelled))
        return true;
    return group->workshare && group->prev && ps_load_acquire(&group->prev->cancelled);
}

bool ort_cancellation_point(struct ort_thread *thread, unsigned which)
{
    if (!ort_settings.cancellation)
        return false;
    struct ort_task_team *q = &thread->team->tasks;
    if (which & (ORT_CANCEL_LOOP | ORT_CANCEL_SECTIONS))
        return ps_load_acquire(&q->loop_cancelled);
    if ((which & ORT_CANCEL_TASKGROUP) && group_cancelled(thread->task->group))
        return true;
    if (!region_cancelled(thread->team))
        return false;
    ps_race_acquire(ort_cancelled_at(thread->team));
    return true;
}

bool ort_cancel(struct ort_thread *thread, unsigned which)
{
    if (!ort_settings.cancellation)
        return false;
    struct ort_team *team = thread->team;
    if (which & (ORT_CANCEL_LOOP | ORT_CANCEL_SECTIONS)) {
        /* Outside of every region the loop has only the caller, so there is no other member to tell. */
        if (team->level > 0)
            ps_store_release(&team->tasks.loop_cancelled, 1);
        return true;
    }
    if (which & ORT_CANCEL_TASKGROUP) {
        struct ort_taskgroup *group = thread->task->group;
        if (group && group->workshare && group->prev)
            group = group->prev;
        if (group) {
            ps_store_release(&group->cancelled, 1);
            /* The bit is tested, not the group's flag. Another thread may have set the flag but not yet the bit; then
             * the caller must set the bit before it goes on, or its own tasks would still run. */
            if (!(ps_load_relaxed(&team->tasks.cancelled) & ORT_CANCELLED_GROUP))
                ps_or_acq_rel(&team->tasks.cancelled, ORT_CANCELLED_GROUP);
        }
        return true;
    }
    ps_race_release(ort_cancelled_at(team));
    ps_or_seq(&team->tasks.cancelled, ORT_CANCELLED_REGION);
    ort_task_wake_barrier(team);
    return true;
}
