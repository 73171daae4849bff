/* GNU entry points of tasks, taskloop, task reductions and cancellation: prototypes as compiled code calls them.
 *
 * Source of the ABI: what GCC 4.4 to 13 emit; compilers older than an argument do not set the flag that makes it
 * read. */
#ifndef PS_GOMP_TASK_H
#define PS_GOMP_TASK_H

#include "compiler.h"
#include "task.h"

enum gomp_task_flags {
    GOMP_TASK_FLAG_UNTIED = 1 << 0,
    GOMP_TASK_FLAG_FINAL = 1 << 1,
    GOMP_TASK_FLAG_MERGEABLE = 1 << 2,
    GOMP_TASK_FLAG_DEPEND = 1 << 3,
    GOMP_TASK_FLAG_PRIORITY = 1 << 4,
    GOMP_TASK_FLAG_UP = 1 << 8,
    GOMP_TASK_FLAG_GRAINSIZE = 1 << 9,
    GOMP_TASK_FLAG_IF = 1 << 10,
    GOMP_TASK_FLAG_NOGROUP = 1 << 11,
    GOMP_TASK_FLAG_REDUCTION = 1 << 12,
    GOMP_TASK_FLAG_DETACH = 1 << 13,
    GOMP_TASK_FLAG_STRICT = 1 << 14,
};

/* What `depend` points to. word[0] not 0: that many addresses from word[2] on, the first word[1] of them out or inout,
 * the others in. word[0] 0: word[1] entries from word[5] on: word[2] addresses out or inout, word[3] mutexinoutset,
 * word[4] in, and then pointers to omp_depend_t objects (address and kind). An address NULL among the out ones means
 * omp_all_memory. */
struct ort_depend_list gomp_depend_list(void **words);
/* n omp_depend_t objects in a row. */
struct ort_depend_list gomp_depend_objects(const void *objects, size_t n);

/* The flags that the core has under the same numbers. */
#define GOMP_TASK_SAME_FLAGS (ORT_TASK_UNTIED | ORT_TASK_FINAL | ORT_TASK_MERGEABLE)
_Static_assert(GOMP_TASK_SAME_FLAGS == (GOMP_TASK_FLAG_UNTIED | GOMP_TASK_FLAG_FINAL | GOMP_TASK_FLAG_MERGEABLE),
               "flags are copied");

/* What GOMP_task and GOMP_taskloop have in common; inlined for ORT_CALLER. */
static PS_ALWAYS_INLINE struct ort_task_args gomp_task_args(void (*fn)(void *), void *data,
                                                            void (*cpyfn)(void *, void *), long arg_size,
                                                            long arg_align, bool if_clause, unsigned flags)
{
    return (struct ort_task_args){.fn = fn,
                                  .data = data,
                                  .copy = cpyfn,
                                  .size = (size_t)arg_size,
                                  .align = (size_t)arg_align,
                                  .flags = (flags & GOMP_TASK_SAME_FLAGS) | (if_clause ? 0 : ORT_TASK_UNDEFERRED),
                                  .caller = ORT_CALLER,
                                  .frame = ORT_FRAME};
}

void GOMP_task(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long arg_size, long arg_align,
               bool if_clause, unsigned flags, void **depend, int priority, void *detach);
void GOMP_taskwait(void);
void GOMP_taskwait_depend(void **depend);
void GOMP_taskwait_depend_nowait(void **depend);
void GOMP_taskyield(void);
void GOMP_taskgroup_start(void);
void GOMP_taskgroup_end(void);
void GOMP_taskgroup_reduction_register(uintptr_t *data);
void GOMP_taskgroup_reduction_unregister(uintptr_t *data);
void GOMP_task_reduction_remap(size_t count, size_t count_original, void **pointers);
void GOMP_workshare_task_reduction_unregister(bool cancelled);

void GOMP_taskloop(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long arg_size, long arg_align,
                   unsigned flags, unsigned long num_tasks, int priority, long start, long end, long step);
void GOMP_taskloop_ull(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long arg_size, long arg_align,
                       unsigned flags, unsigned long num_tasks, int priority, unsigned long long start,
                       unsigned long long end, unsigned long long step);

bool GOMP_cancel(int which, bool do_cancel);
bool GOMP_cancellation_point(int which);
bool GOMP_barrier_cancel(void);
bool GOMP_barrier_cancel_ext(int kind);
bool GOMP_loop_end_cancel(void);
bool GOMP_sections_end_cancel(void);

#endif
