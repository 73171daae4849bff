/* GNU entry points of tasks, taskloop, task reductions and cancellation: prototypes as compiled code calls them.
 *
 * Source of the ABI: the code that GCC 4.4 to 13 emit. Code of an older compiler passes fewer arguments, and does not
 * set the flags of those that it leaves out. An entry point reads such an argument only if its flag is set. */
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

/* Returns the core's list of dependences, made from the words that compiled code passes for depend clauses. The list
 * refers to these words, so they must outlive it. There are two layouts:
 *   word[0] not 0: word[0] addresses begin at word[2]. The first word[1] of them are out or inout, the others are in.
 *   word[0] == 0: word[1] entries begin at word[5], in this order: word[2] addresses for out or inout, word[3]
 *   addresses for mutexinoutset, word[4] addresses for in, and pointers to omp_depend_t objects (address and kind).
 * A NULL address for out means omp_all_memory. */
struct ort_depend_list gomp_depend_list(void **words);
/* Returns the core's list of the n omp_depend_t objects, which follow one another in memory and must outlive the
 * list. */
struct ort_depend_list gomp_depend_objects(const void *objects, size_t n);

/* The flags whose bits are the same in the core, so that they are copied. */
#define GOMP_TASK_SAME_FLAGS (ORT_TASK_UNTIED | ORT_TASK_FINAL | ORT_TASK_MERGEABLE)
_Static_assert(GOMP_TASK_SAME_FLAGS == (GOMP_TASK_FLAG_UNTIED | GOMP_TASK_FLAG_FINAL | GOMP_TASK_FLAG_MERGEABLE),
               "flags are copied");

/* Makes the core's arguments for a task from those that GOMP_task and GOMP_taskloop have in common. Inlined, so that
 * ORT_CALLER is the program's address. */
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
