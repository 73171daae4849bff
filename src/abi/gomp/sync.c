/* GNU entry points: barrier, critical, atomic, the error directive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gomp.h"
#include "lock_routines.h"
#include "own_lock.h"

/* GCC calls GOMP_barrier also for the implicit barriers at the ends of single constructs and of static loops. So a tool
 * is told of an explicit barrier at each of them. */
static PS_ALWAYS_INLINE void meet_gomp_barrier(void)
{
    if (ee_barrier_pass())
        return;
    ORT_TRACED(ort_tool_barrier_from(ORT_SYNC_BARRIER_EXPLICIT, ORT_CALLER, ORT_FRAME),
               ort_task_barrier(ort_self_inline()));
}
PS_EXPORT void GOMP_barrier(void) { meet_gomp_barrier(); }
/* kind tells tools to which construct the barrier belongs; it is ignored. */
PS_EXPORT void GOMP_barrier_ext(PS_UNUSED int kind) { meet_gomp_barrier(); }

static _Atomic uint32_t unnamed, atomic_regions;
ORT_CHILD_FREES(atomic_regions_of_a_child, &atomic_regions, 1, sizeof atomic_regions)

PS_EXPORT void GOMP_critical_start(void) { ort_routine_enter(&unnamed, ORT_MUTEX_CRITICAL, 0); }
PS_EXPORT void GOMP_critical_end(void) { ort_routine_leave(&unnamed, ORT_MUTEX_CRITICAL); }

/* For each name the compiler makes a zeroed word of a pointer's size. The lock is in this word. */
PS_EXPORT void GOMP_critical_name_start(void **name)
{
    ort_routine_enter((_Atomic uint32_t *)(void *)name, ORT_MUTEX_CRITICAL, 0);
}
PS_EXPORT void GOMP_critical_name_end(void **name)
{
    ort_routine_leave((_Atomic uint32_t *)(void *)name, ORT_MUTEX_CRITICAL);
}

PS_EXPORT void GOMP_atomic_start(void) { ort_routine_enter(&atomic_regions, ORT_MUTEX_ATOMIC, 0); }
PS_EXPORT void GOMP_atomic_end(void) { ort_routine_leave(&atomic_regions, ORT_MUTEX_ATOMIC); }

/* Reductions take the lock of GOMP_atomic_start. Code of older compilers combines its reductions under that lock, and a
 * program may contain such code as well. */
PS_EXPORT void GOMP_reduction_start(void)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_reduction(ort_self(), ORT_SCOPE_BEGIN, ORT_CALLER);
    ort_lock(&atomic_regions);
}
PS_EXPORT void GOMP_reduction_end(void)
{
    ort_unlock(&atomic_regions);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_reduction(ort_self(), ORT_SCOPE_END, ORT_CALLER);
}

/* Prints the same lines as libgomp, because tests of programs look for them. length is SIZE_MAX for a string that ends
 * with a zero. */
static void report_error(const char *kind, const char *message, size_t length)
{
    if (message == NULL)
        fprintf(stderr, "\nlibgomp: %serror directive encountered\n", kind);
    else if (length == SIZE_MAX)
        fprintf(stderr, "\nlibgomp: %serror directive encountered: %s\n", kind, message);
    else
        fprintf(stderr, "\nlibgomp: %serror directive encountered: %.*s\n", kind, (int)length, message);
}

static PS_ALWAYS_INLINE void tell_message(int severity, const char *message, size_t length)
{
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_error(severity, message, message != NULL && length == SIZE_MAX ? strlen(message) : length, ORT_CALLER);
}

PS_EXPORT void GOMP_warning(const char *message, size_t length)
{
    tell_message(ORT_TOOL_WARNING, message, length);
    report_error("", message, length);
}

PS_EXPORT void GOMP_error(const char *message, size_t length)
{
    tell_message(ORT_TOOL_FATAL, message, length);
    report_error("fatal error: ", message, length);
    exit(EXIT_FAILURE);
}
