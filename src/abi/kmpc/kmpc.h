/* What all LLVM entry points include: the layouts that compiled code touches, and what they keep for a thread.
 *
 * They translate arguments and call ort; none calls another ABI's entry point. The prototypes are the compilers'
 * (builtins to clang and flang): no header of ours declares them. Arguments that carry the caller's number (gtid) or
 * source location are not needed and not looked at, but where a line is printed: the core knows the calling thread.
 *
 * A thread's number (gtid) is the process's, as libomp has it: 0 is the initial thread's, member 0 of a team has its
 * parent's. Member numbers are given when a thread first asks and given back with its storage.
 *
 * Source of the layouts: the code that clang 14 to 19 emits (clang/lib/CodeGen/CGOpenMPRuntime.cpp,
 * llvm/lib/Frontend/OpenMP), and openmp/runtime/src/kmp.h, whose comments document them. */
#ifndef PS_ABI_KMPC_H
#define PS_ABI_KMPC_H

#include <stdarg.h>

#include "check.h"
#include "ort.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* --- what compiled code gives --- */

/* ident_t: a place in the source. `source` is ";file;function;line;column;;"; the flags are bits. */
struct kmpc_location {
    int32_t reserved_1;
    int32_t flags;
    int32_t reserved_2;
    int32_t reserved_3;
    const char *source;
};
enum { KMPC_LOCATION_ATOMIC_REDUCE = 0x10 }; /* a reduction that the compiler can also do with atomic operations */

/* kmp_critical_name: 32 zeroed bytes a name (or a user's lock variable): the lock lies in its first word. */
typedef _Atomic uint32_t kmpc_critical;

/* An outlined region: numbers by reference, then argc pointers. */
typedef void (*kmpc_microtask)(int32_t *gtid, int32_t *tid, ...);

struct kmpc_task;
typedef int32_t (*kmpc_routine)(int32_t gtid, struct kmpc_task *task);

/* kmp_task_t, written by compiled code between allocation and submission; its private copies follow, then the block for
 * `shareds`. */
struct kmpc_task {
    void *shareds;
    kmpc_routine routine;
    int32_t part_id; /* of an untied task: where it goes on */
    union {
        int32_t priority;
        kmpc_routine destructors;
    } data1, data2; /* the destructors, then the priority */
};
_Static_assert(sizeof(struct kmpc_task) == 40, "kmp_task_t has 40 bytes");

/* kmp_tasking_flags_t: the compiler's half. */
enum {
    KMPC_TASK_TIED = 0x1,
    KMPC_TASK_FINAL = 0x2,
    KMPC_TASK_MERGED_IF0 = 0x4,
    KMPC_TASK_DESTRUCTORS = 0x8,
    KMPC_TASK_PROXY = 0x10,
    KMPC_TASK_PRIORITY = 0x20,
    KMPC_TASK_DETACHABLE = 0x40,
};

/* kmp_depend_info_t: 24 bytes. */
struct kmpc_depend {
    intptr_t address;
    size_t length;
    uint8_t flags;
};
enum {
    KMPC_DEPEND_IN = 0x1,
    KMPC_DEPEND_OUT = 0x2,
    KMPC_DEPEND_MUTEXINOUTSET = 0x4,
    KMPC_DEPEND_INOUTSET = 0x8,
    KMPC_DEPEND_ALL = 0x80
};
_Static_assert(sizeof(struct kmpc_depend) == 24, "kmp_depend_info_t has 24 bytes");

/* kmp_dim: a loop of a doacross nest, bounds inclusive. */
struct kmpc_dim {
    int64_t lower, upper, stride;
};

/* --- what is kept for a thread --- */

struct kmpc_threadprivate;
struct kmpc_reduction;
struct kmpc_doacross;

/* State of a thread and of the members 0 of all regions inside of it. Only its own entity touches it, except number. */
struct kmpc_thread {
    struct ort_local local; /* first */
    int32_t number;
    /* Clauses of the next construct, which comes in calls of its own. */
    unsigned num_threads;
    unsigned *inner_threads, n_inner; /* of a list: what stands for the levels below; freed with its region */
    struct { /* of a strict num_threads: 0 none, 1 a warning, 2 the end, where there cannot be as many */
        int severity;
        const char *message, *source;
    } strict;
    int bind; /* enum ort_bind */
    unsigned num_teams, thread_limit;
    struct kmpc_threadprivate *copies; /* threadprivate.c */
    struct kmpc_reduction *reductions; /* open groups with task reductions, innermost first: task_reduction.c */
    struct kmpc_doacross *doacross;    /* open doacross nests, innermost first: doacross.c */
};

/* Of the calling thread; made at need. */
struct kmpc_thread *kmpc_thread_make(struct ort_thread *t);
static inline struct ort_thread *kmpc_carrier(struct ort_thread *t)
{
    while (t->id == 0 && t->team->parent != NULL)
        t = t->team->parent;
    return t;
}
static inline struct kmpc_thread *kmpc_thread(struct ort_thread *t)
{
    t = kmpc_carrier(t);
    return PS_LIKELY(t->local != NULL) ? (struct kmpc_thread *)(void *)t->local : kmpc_thread_make(t);
}
int32_t kmpc_number_make(struct ort_thread *t);
static PS_ALWAYS_INLINE int32_t kmpc_number(struct ort_thread *t)
{
    return PS_LIKELY(t->number != 0) ? (int32_t)t->number - 1 : kmpc_number_make(t);
}

/* Checks a strict num_threads clause: the region that begins has `wanted` threads by that clause. */
PS_COLD void kmpc_check_strict(struct kmpc_thread *k, unsigned wanted);

/* A program asks in libomp's way: affinity is shown as in libomp from now on, and OMP_SCHEDULE is read if it was set
 * after this library was loaded. */
void kmpc_asked_as_libomp(void);

/* Gives back a thread's threadprivate copies. */
void kmpc_threadprivate_free(struct kmpc_threadprivate *copies);

/* A loop that was left by a cancellation: its slot. */
static inline void kmpc_leave_cancelled_loop(struct ort_thread *t)
{
    if (PS_UNLIKELY(t->loop.ws != NULL))
        ort_loop_leave(t);
}

/* --- between these files --- */

/* Calls fn(gtid, tid, args[0], .., args[argc - 1]). Each processor has a file for it. */
int kmpc_invoke(kmpc_microtask fn, int32_t *gtid, int32_t *tid, int argc, void **args);
/* As kmpc_invoke; *frame gets the frame pointer that the caller of fn has. */
int kmpc_invoke_traced(kmpc_microtask fn, int32_t *gtid, int32_t *tid, int argc, void **args, void **frame);
/* The task of a group ends: its reductions are combined. task_reduction.c */
void kmpc_taskgroup_end(struct ort_thread *t);

/* Aborts with a line that names the entry point and the source. */
PS_NORETURN PS_COLD void kmpc_fatal(const struct kmpc_location *where, const char *entry, const char *what);

/* In an entry point: a pointer that the ABI promises. */
#define KMPC_NOT_NULL(at, p, what)                               \
    do {                                                         \
        if (PS_UNLIKELY((p) == NULL))                            \
            kmpc_fatal(at, __func__, what " is a null pointer"); \
    } while (0)

/* Schedules (enum sched_type) as the core has them. */
struct kmpc_schedule {
    unsigned sched; /* enum ort_sched */
    bool runtime, ordered, distribute;
    bool nonmonotonic;
    bool vectors; /* chunks are multiples of the chunk size given, which is a vector's length */
};
/* Returns the number of iterations of a loop with inclusive bounds; U: the unsigned type as wide as these. Most loops
 * count by one, and a division takes longer than what else a start does. */
static PS_ALWAYS_INLINE uint64_t kmpc_trips(uint64_t distance, uint64_t stride)
{
    return (PS_LIKELY(stride == 1) ? distance : distance / stride) + 1;
}
#define KMPC_TRIP(U, lower, upper, step)                                                                  \
    ((step) > 0                                                                                           \
         ? ((upper) < (lower) ? 0 : kmpc_trips((uint64_t)(U)((U)(upper) - (U)(lower)), (uint64_t)(step))) \
         : ((upper) > (lower) ? 0                                                                         \
                              : kmpc_trips((uint64_t)(U)((U)(lower) - (U)(upper)), 0 - (uint64_t)(int64_t)(step))))
/* false: an unknown number. */
bool kmpc_schedule_of(int32_t number, struct kmpc_schedule *out);
enum { KMPC_SCHED_STATIC_CHUNKED = 33, KMPC_SCHED_STATIC = 34, KMPC_DISTRIBUTE_CHUNKED = 91, KMPC_DISTRIBUTE = 92 };

/* The function kmpc_<name> is what programs that were linked with libomp call as omp_<name>. */
#define KMPC_AS(name) __asm__(".symver kmpc_" #name ", omp_" #name "@VERSION")
/* The function under Fortran's name too. Its arguments are addresses, or it has none. */
#define KMPC_FORTRAN(name) extern __typeof__(name) name##_ __attribute__((alias(#name), visibility("default")))

#endif
