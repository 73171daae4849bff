/* ICVs of data environments: a task gets a copy of its own when it first changes a value. See icv.h. */
#include "icv.h"

#include "check.h"
#include "emergency_pool.h"
#include "ort.h"
#include "race.h"
#include "region.h"

struct ort_icv *ort_icv_write(struct ort_thread *t)
{
    struct ort_task *task = t->task;
    struct ort_icv *icv = task->icv;
    ort_hot_forget(t);
    bool mine = icv->owner == task;
    if (mine && !ps_load_relaxed(&icv->shared))
        return icv;
    struct ort_icv *copy = ort_mem_get(sizeof *copy);
    if (copy == NULL) {
        ps_warn("no memory to change an internal control variable; it stays as it was");
        return NULL;
    }
    ort_icv_copy(copy, icv);
    copy->owner = task;
    copy->older = mine ? icv : NULL;
    task->icv = copy;
    task->flags |= ORT_TASK_OWN_ICV | ORT_TASK_SPECIAL;
    ort_member_changed(t);
    return copy;
}

void ort_icv_drop_slow(struct ort_icv *icv)
{
    while (icv != NULL) {
        struct ort_icv *older = icv->older;
        ort_mem_free(icv);
        icv = older;
    }
}
