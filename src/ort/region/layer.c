/* See layer.h. */
#include "layer.h"

#include <limits.h>

#include "ort.h"
#include "region.h"
#include "task.h"

/* Flags of tasks that cannot be held: implicit, undeferred and final tasks, and tasks outside of every region. */
#define CANNOT_BE_HELD (ORT_TASK_IMPLICIT | ORT_TASK_UNDEFERRED | ORT_TASK_INCLUDES | ORT_TASK_FINAL)

static void *hold_running_task(void)
{
    struct ort_thread *thread = ee_local();
    struct ort_task *t = thread ? thread->task : NULL;
    if (!t || t->flags & CANNOT_BE_HELD)
        return NULL;
    ort_task_hold(t);
    return t;
}

static void set_tasks_in_order(bool yes) { ps_store_relaxed(&ort_tasks_in_order, yes); }

struct jobs {
    unsigned n;
    void (*job)(void *data, unsigned id);
    void *data;
};

static void run_jobs_of_member(void *data)
{
    const struct jobs *jobs = data;
    const struct ort_thread *self = ort_self();
    for (unsigned id = self->id; id < jobs->n; id += self->team->n)
        jobs->job(jobs->data, id);
}

/* Runs the jobs as a region. The program's ICVs must not restrict the region's size, so the task has other ICVs
 * meanwhile. `owner` marks them as the task's own (team.c, "Alike"). */
static void run_jobs(unsigned n, void (*job)(void *data, unsigned id), void *data)
{
    struct jobs jobs = {n, job, data};
    struct ort_task *task = ort_self()->task;
    struct ort_icv *icv = task->icv, wide;
    ort_icv_copy(&wide, icv);
    wide.owner = task;
    wide.older = NULL;
    wide.dynamic = false;
    wide.max_active_levels = UINT_MAX;
    wide.thread_limit = UINT_MAX;
    task->icv = &wide;
    ort_parallel(&(struct ort_parallel){
        .fn = run_jobs_of_member, .data = &jobs, .num_threads = n, .bind = ORT_BIND_UNSET, .caller = ORT_CALLER});
    task->icv = icv;
}

/* Starts the core first, because the core tells the entities how many vps there are. */
static unsigned num_vps(void)
{
    ort_self();
    return ee_num_vps();
}

const struct ort_layer ort_layer PS_EXPORT = {sizeof(struct ort_layer), hold_running_task, ort_task_release,
                                              set_tasks_in_order,       run_jobs,          num_vps,
                                              ort_tool_tell_bodies};
