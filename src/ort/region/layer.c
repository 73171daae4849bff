/* See layer.h. */
#include "layer.h"

#include "ort.h"
#include "task.h"

/* Whose creator goes on only when they are complete, or that have no place of their own. */
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

const struct ort_layer ort_layer PS_EXPORT = {sizeof(struct ort_layer), hold_running_task, ort_task_release,
                                              set_tasks_in_order};
