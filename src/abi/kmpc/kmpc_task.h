/* Between the LLVM entry points of tasks: what stands before a kmp_task_t. */
#ifndef PS_ABI_KMPC_TASK_H
#define PS_ABI_KMPC_TASK_H

#include "kmpc.h"

/* Written by the creator until the task is submitted, then by the member that runs it. */
struct kmpc_task_head {
    struct ort_task *core;
    int32_t flags;
    bool detach;
    bool running, again; /* a part of it runs; the next one is to follow */
    size_t bytes, shareds_bytes;
    int64_t base; /* ort_task_enter's */
    alignas(16) struct kmpc_task task;
};

static inline struct kmpc_task_head *kmpc_head(struct kmpc_task *task)
{
    return PS_CONTAINER_OF(task, struct kmpc_task_head, task);
}

struct kmpc_task_head *kmpc_task_new(struct ort_thread *t, int32_t flags, size_t bytes, size_t shareds,
                                     kmpc_routine routine);
/* What the core runs. */
void kmpc_task_body(void *data);
/* As the task's flags say, without dependences. */
struct ort_task_args kmpc_task_args(const struct ort_thread *t, const struct kmpc_task_head *head);

#endif
