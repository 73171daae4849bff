/* What the LLVM entry points of tasks share: the head that stands before a kmp_task_t. */
#ifndef PS_ABI_KMPC_TASK_H
#define PS_ABI_KMPC_TASK_H

#include "kmpc.h"

/* The head of a task. The thread that makes the task writes the head until the task is submitted; then the member that
 * runs the task does. */
struct kmpc_task_head {
    struct ort_task *core;
    int32_t flags; /* the compiler's bits (KMPC_TASK_COMPILERS), and ours below */
    size_t bytes, shareds_bytes;
    alignas(16) struct kmpc_task task;
};
enum {
    KMPC_TASK_COMPILERS = 0xffff, /* the bits that the compiler sets */
    KMPC_TASK_IN_FRAME = 1 << 27, /* the task runs in a frame (ort/task/task_frame.h) */
    KMPC_TASK_HAS_EVENT = 1 << 28,
    KMPC_TASK_RUNNING = 1 << 29, /* a part of the task runs */
    KMPC_TASK_AGAIN = 1 << 30,   /* of an untied task: another part follows */
};

static inline struct kmpc_task_head *kmpc_head(struct kmpc_task *task)
{
    return PS_CONTAINER_OF(task, struct kmpc_task_head, task);
}

/* Makes a task with a descriptor of the core. bytes: size of the kmp_task_t; shareds: size of the block for
 * `shareds`. */
struct kmpc_task_head *kmpc_task_new(struct ort_thread *t, int32_t flags, size_t bytes, size_t shareds,
                                     kmpc_routine routine);
/* Makes a task like `model`, with a copy of its data. */
struct kmpc_task_head *kmpc_task_copy(struct ort_thread *t, const struct kmpc_task_head *model);
/* Returns the bytes of the head and of everything that belongs to the task. */
size_t kmpc_task_bytes(const struct kmpc_task_head *head);
/* Copies the head of `model`, and everything that belongs to the task, to `to`, which is aligned to 16. Returns the new
 * head. Its `core` is still the model's. */
struct kmpc_task_head *kmpc_task_copy_to(void *to, const struct kmpc_task_head *model);
/* Functions that run a task, called by the core or by one another; data is the task's head. The first is for any task,
 * the second for a tied task without destructors, the third for any task when a tool listens. A debugger knows them by
 * kmpc_debug_layout. */
void kmpc_task_body(void *data);
void kmpc_task_body_in_one(void *data);
void kmpc_task_body_traced(void *data);
/* Returns the core's arguments for a task, made from the head's flags, without dependences. */
struct ort_task_args kmpc_task_args(const struct ort_thread *t, const struct kmpc_task_head *head);

#endif
