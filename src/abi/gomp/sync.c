/* GNU entry points: barrier, critical, atomic, the error directive. */
#include <stdio.h>
#include <stdlib.h>

#include "gomp.h"
#include "lock.h"

PS_EXPORT void GOMP_barrier(void) { ort_barrier(ort_self()); }
/* kind: what the barrier belongs to, for tools. */
PS_EXPORT void GOMP_barrier_ext(PS_UNUSED int kind) { ort_barrier(ort_self()); }

static _Atomic uint32_t unnamed, atomic_regions;

PS_EXPORT void GOMP_critical_start(void) { ort_lock(&unnamed); }
PS_EXPORT void GOMP_critical_end(void) { ort_unlock(&unnamed); }

/* The compiler gives each name a zeroed word of a pointer's size: the lock lies in it. */
PS_EXPORT void GOMP_critical_name_start(void **name) { ort_lock((_Atomic uint32_t *)(void *)name); }
PS_EXPORT void GOMP_critical_name_end(void **name) { ort_unlock((_Atomic uint32_t *)(void *)name); }

PS_EXPORT void GOMP_atomic_start(void) { ort_lock(&atomic_regions); }
PS_EXPORT void GOMP_atomic_end(void) { ort_unlock(&atomic_regions); }

/* The same lock: parts of a program that older compilers made combine their reductions under it. */
PS_EXPORT void GOMP_reduction_start(void) { ort_lock(&atomic_regions); }
PS_EXPORT void GOMP_reduction_end(void) { ort_unlock(&atomic_regions); }

/* length is SIZE_MAX for a string that ends with a zero. libgomp's own lines, since programs' tests look for them. */
static void report(const char *kind, const char *message, size_t length)
{
    if (message == NULL)
        fprintf(stderr, "\nlibgomp: %serror directive encountered\n", kind);
    else if (length == SIZE_MAX)
        fprintf(stderr, "\nlibgomp: %serror directive encountered: %s\n", kind, message);
    else
        fprintf(stderr, "\nlibgomp: %serror directive encountered: %.*s\n", kind, (int)length, message);
}

PS_EXPORT void GOMP_warning(const char *message, size_t length) { report("", message, length); }

PS_EXPORT void GOMP_error(const char *message, size_t length)
{
    report("fatal error: ", message, length);
    exit(EXIT_FAILURE);
}
