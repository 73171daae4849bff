/* Between the LLVM entry points of tasks: what stands before a kmp_task_t. */
#ifndef PS_ABI_KMPC_TASK_H
#define PS_ABI_KMPC_TASK_H

#include "kmpc.h"

/* Written by the creator until the task is submitted, then by the member that runs it. */
struct kmpc_task_head {
    struct ort_task *core;
    int32_t flags; /* the compiler's, and ours */
    size_t bytes, shareds_bytes;
    alignas(16) struct kmpc_task task;
};
enum {
    KMPC_TASK_COMPILERS = 0xffff, /* the bits that are */
    KMPC_TASK_IN_FRAME = 1 << 27, /* it runs in a frame (ort/task/task_frame.h) */
    KMPC_TASK_HAS_EVENT = 1 << 28,
    KMPC_TASK_RUNNING = 1 << 29, /* a part of it runs */
    KMPC_TASK_AGAIN = 1 << 30,   /* the next part is to follow */
};

static inline struct kmpc_task_head *kmpc_head(struct kmpc_task *task)
{
    return PS_CONTAINER_OF(task, struct kmpc_task_head, task);
}

struct kmpc_task_head *kmpc_task_new(struct ort_thread *t, int32_t flags, size_t bytes, size_t shareds,
                                     kmpc_routine routine);
/* Another of the kind, with a copy of its data. */
struct kmpc_task_head *kmpc_task_copy(struct ort_thread *t, const struct kmpc_task_head *model);
/* Bytes of the head and all that belongs to the task. */
size_t kmpc_task_bytes(const struct kmpc_task_head *head);
/* The same at `to`, aligned to 16; of no descriptor's yet. */
struct kmpc_task_head *kmpc_task_copy_to(void *to, const struct kmpc_task_head *model);
/* What the core runs: any task; one that is tied; any for a tool. A debugger knows them by kmpc_debug_layout. */
void kmpc_task_body(void *data);
void kmpc_task_body_in_one(void *data);
void kmpc_task_body_traced(void *data);
/* As the task's flags say, without dependences. */
struct ort_task_args kmpc_task_args(const struct ort_thread *t, const struct kmpc_task_head *head);

#endif
