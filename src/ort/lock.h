/* Locks of the program. See lock.c. Zeroed memory is a free lock. */
#ifndef PS_ORT_LOCK_H
#define PS_ORT_LOCK_H

#include "atomic.h"
#include "compiler.h"

void ort_lock(_Atomic uint32_t *word); /* [switches] */
bool ort_lock_try(_Atomic uint32_t *word);
void ort_unlock(_Atomic uint32_t *word);

/* 16 bytes: the size of libgomp's omp_nest_lock_t. */
struct ort_nest_lock {
    _Atomic uint32_t word;
    int32_t count;
    _Atomic(const void *) owner; /* its task (OpenMP 3.0 and later) or its thread (2.5) */
};
_Static_assert(sizeof(struct ort_nest_lock) <= 16, "a nest lock lies in the program's omp_nest_lock_t");

void ort_nest_lock(struct ort_nest_lock *lock, const void *owner);    /* [switches] */
int ort_nest_lock_try(struct ort_nest_lock *lock, const void *owner); /* the new count; 0: not taken */
void ort_nest_unlock(struct ort_nest_lock *lock);

#endif
