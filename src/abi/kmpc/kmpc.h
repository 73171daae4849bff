/* What all LLVM entry points include: the layouts that compiled code uses, and what the entry points keep for a thread.
 *
 * The entry points translate arguments and call the core (ort). None calls another ABI's entry point. The compilers
 * know the prototypes (builtins of clang and flang); no header of ours declares them. The core knows the calling
 * thread, so the argument with its number (gtid) is only handed on to functions of tasks. The source location's text is
 * printed in messages; its flags tell the kind of a barrier or a work-share, and whether a reduction has atomic
 * operations.
 *
 * A thread's number (gtid) is unique in the process, as in libomp. A thread gets the lowest free number, so the initial
 * thread normally has 0. Member 0 of a team has its parent's number. Another member gets a number together with its
 * storage (kmpc_thread_make), and loses both together.
 *
 * Source of the layouts: the code that clang 14 to 19 emit (clang/lib/CodeGen/CGOpenMPRuntime.cpp,
 * llvm/lib/Frontend/OpenMP), and openmp/runtime/src/kmp.h, whose comments document them. */
#ifndef PS_ABI_KMPC_H
#define PS_ABI_KMPC_H

#include <stdarg.h>

#include "check.h"
#include "ort.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* --- what compiled code passes --- */

/* ident_t: a place in the source. `source` is ";file;function;line;column;;". The flags are bits. */
struct kmpc_location {
    int32_t reserved_1;
    int32_t flags;
    int32_t reserved_2;
    int32_t reserved_3;
    const char *source;
};
/* A bit of `flags`: compiled code can do the reduction with atomic operations too. */
enum { KMPC_LOCATION_ATOMIC_REDUCE = 0x10 };

/* kmp_critical_name: 32 zeroed bytes for each name (or a user's lock variable). The lock is in the first word. */
typedef _Atomic uint32_t kmpc_critical;

/* An outlined region: gets the addresses of the thread's number (gtid) and of its number in the team (tid), then argc
 * pointers. */
typedef void (*kmpc_microtask)(int32_t *gtid, int32_t *tid, ...);

struct kmpc_task;
typedef int32_t (*kmpc_routine)(int32_t gtid, struct kmpc_task *task);

/* kmp_task_t. Compiled code writes it between allocation and submission. The task's private copies follow in memory,
 * then the block for `shareds`. */
struct kmpc_task {
    void *shareds;
    kmpc_routine routine;
    int32_t part_id; /* of an untied task: the part with which it continues */
    union {
        int32_t priority;
        kmpc_routine destructors;
    } data1, data2; /* data1: the destructors; data2: the priority */
};
_Static_assert(sizeof(struct kmpc_task) == 40, "kmp_task_t has 40 bytes");

/* kmp_tasking_flags_t: the bits that the compiler sets. */
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

/* kmp_dim: a loop of a doacross nest, with inclusive bounds. */
struct kmpc_dim {
    int64_t lower, upper, stride;
};

/* --- what is kept for a thread --- */

struct kmpc_threadprivate;
struct kmpc_reduction;
struct kmpc_doacross;

/* The state of a thread, and of the members 0 of all regions that it has opened. Only that thread reads and writes it,
 * until the core frees it (give_back in thread.c). */
struct kmpc_thread {
    struct ort_local local; /* must be first */
    int32_t number;
    /* The next fields are clauses of the next construct, which compiled code passes in calls of their own. */
    unsigned num_threads;
    /* Of a list in num_threads: the numbers for the inner levels. Freed with the construct's region. */
    unsigned *inner_threads, n_inner;
    /* Of a strict num_threads. severity: what happens if there cannot be so many threads. 0: nothing, 1: a warning, 2:
     * the program ends. */
    struct {
        int severity;
        const char *message, *source;
    } strict;
    int bind; /* a value of enum ort_bind */
    unsigned num_teams, thread_limit;
    struct kmpc_threadprivate *copies; /* its threadprivate copies: threadprivate.c */
    struct kmpc_reduction *reductions; /* open groups with task reductions, innermost first: task_reduction.c */
    struct kmpc_doacross *doacross;    /* open doacross nests, innermost first: doacross.c */
};

/* Makes the state of the calling thread, and returns it. t: the thread of the core that has the state
 * (kmpc_carrier). */
struct kmpc_thread *kmpc_thread_make(struct ort_thread *t);
/* Returns the thread in which the state for t is kept. For a member 0 that is the thread that opened its region, and if
 * this thread is a member 0 too, the search goes on outwards. For every other thread it is t itself. */
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
/* kmpc_number returns t's number (gtid). At the first call for t it calls kmpc_number_make, which stores the number in
 * t. */
int32_t kmpc_number_make(struct ort_thread *t);
static PS_ALWAYS_INLINE int32_t kmpc_number(struct ort_thread *t)
{
    return PS_LIKELY(t->number != 0) ? (int32_t)t->number - 1 : kmpc_number_make(t);
}

/* Called before a region whose num_threads clause asks for `wanted` threads. If the clause is strict and there cannot
 * be so many, warns or ends the program (k->strict). Afterwards the clause no longer counts. */
PS_COLD void kmpc_check_strict(struct kmpc_thread *k, unsigned wanted);

/* Called when a thread uses libomp's interface. The first call reads OMP_SCHEDULE if it was set after this library was
 * loaded, and the KMP_ variables if they were not read at the start; then it shows the settings if a variable asks for
 * that. From then on affinity is shown as by libomp. */
void kmpc_asked_as_libomp(void);

/* Frees a thread's threadprivate copies. */
void kmpc_threadprivate_free(struct kmpc_threadprivate *copies);

/* If the caller has left a loop by a cancellation, its work-share slot is still taken: gives the slot back. */
static inline void kmpc_leave_cancelled_loop(struct ort_thread *t)
{
    if (PS_UNLIKELY(t->loop.ws != NULL))
        ort_loop_leave(t);
}

/* --- between these files --- */

/* Calls fn(gtid, tid, args[0], .., args[argc - 1]), and returns 1. microtask.S of each processor has it. */
int kmpc_invoke(kmpc_microtask fn, int32_t *gtid, int32_t *tid, int argc, void **args);
/* As kmpc_invoke. Stores in *frame the frame pointer of the function that calls fn. */
int kmpc_invoke_traced(kmpc_microtask fn, int32_t *gtid, int32_t *tid, int argc, void **args, void **frame);
/* Ends the current taskgroup: waits for its tasks, then combines its reductions (task_reduction.c). */
void kmpc_taskgroup_end(struct ort_thread *t);

/* Ends the program with a line that names the entry point and the place in the source. */
PS_NORETURN PS_COLD void kmpc_fatal(const struct kmpc_location *where, const char *entry, const char *what);

/* For entry points: ends the program if a pointer that the ABI promises is NULL. */
#define KMPC_NOT_NULL(at, p, what)                               \
    do {                                                         \
        if (PS_UNLIKELY((p) == NULL))                            \
            kmpc_fatal(at, __func__, what " is a null pointer"); \
    } while (0)

/* A schedule (enum sched_type) in the core's terms. */
struct kmpc_schedule {
    unsigned sched; /* a value of enum ort_sched */
    bool runtime, ordered, distribute;
    bool nonmonotonic;
    bool vectors; /* the given chunk size is a vector's length; chunks are multiples of it */
};
/* KMPC_TRIP returns the number of iterations of a loop with inclusive bounds. U: the unsigned type of the bounds'
 * width. kmpc_trips does it for a loop with at least one iteration: distance is that of its bounds, stride its step
 * without the sign. Most loops count by one. That case has no division, which would take longer than the rest of a
 * loop's start. */
static PS_ALWAYS_INLINE uint64_t kmpc_trips(uint64_t distance, uint64_t stride)
{
    return (PS_LIKELY(stride == 1) ? distance : distance / stride) + 1;
}
#define KMPC_TRIP(U, lower, upper, step)                                                                  \
    ((step) > 0                                                                                           \
         ? ((upper) < (lower) ? 0 : kmpc_trips((uint64_t)(U)((U)(upper) - (U)(lower)), (uint64_t)(step))) \
         : ((upper) > (lower) ? 0                                                                         \
                              : kmpc_trips((uint64_t)(U)((U)(lower) - (U)(upper)), 0 - (uint64_t)(int64_t)(step))))
/* Stores the schedule with this number in *out. Returns false if the number is unknown. */
bool kmpc_schedule_of(int32_t number, struct kmpc_schedule *out);
enum { KMPC_SCHED_STATIC_CHUNKED = 33, KMPC_SCHED_STATIC = 34, KMPC_DISTRIBUTE_CHUNKED = 91, KMPC_DISTRIBUTE = 92 };

/* Exports the function kmpc_<name> as omp_<name> for programs that were linked with libomp. */
#define KMPC_AS(name) __asm__(".symver kmpc_" #name ", omp_" #name "@VERSION")
/* Exports the function under Fortran's name too. Its arguments must be addresses, or it has none. */
#define KMPC_FORTRAN(name) extern __typeof__(name) name##_ __attribute__((alias(#name), visibility("default")))

#endif
