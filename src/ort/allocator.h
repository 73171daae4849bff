/* OpenMP's memory allocators. See allocator.c. */
#ifndef PS_ORT_ALLOCATOR_H
#define PS_ORT_ALLOCATOR_H

#include "compiler.h"

/* Handles of the predefined allocators; above them an address. Both ABIs have these numbers. */
enum {
    ORT_ALLOCATOR_NULL = 0,
    ORT_ALLOCATOR_DEFAULT = 1,
    ORT_ALLOCATOR_PREDEFINED_MAX = 8, /* default, large_cap, const, high_bw, low_lat, cgroup, pteam, thread */
};
enum { ORT_MEMSPACE_DEFAULT, ORT_MEMSPACE_LARGE_CAP, ORT_MEMSPACE_CONST, ORT_MEMSPACE_HIGH_BW, ORT_MEMSPACE_LOW_LAT };

/* omp_alloctrait_t, as it lies in memory. */
struct ort_alloctrait {
    int key;
    uintptr_t value;
};

/* A new allocator; ORT_ALLOCATOR_NULL: the traits cannot be had. */
uintptr_t ort_allocator_make(uintptr_t memspace, int num_traits, const struct ort_alloctrait *traits);
/* What it has given stays valid only for ort_free; no effect on predefined ones. */
void ort_allocator_destroy(uintptr_t allocator);
/* Of the calling task's data environment. */
uintptr_t ort_allocator_default(void);
void ort_allocator_set_default(uintptr_t allocator);
/* Name of a predefined one, as OMP_ALLOCATOR has it; NULL for others. */
const char *ort_allocator_name(uintptr_t allocator);
/* OMP_ALLOCATOR, into the initial ICVs. Once, in the loader. */
void ort_allocator_env_read(void);

/* `bytes` aligned to `alignment` (0 or a power of two) and the allocator's own alignment; NULL: as the fallback trait says, or bytes == 0. */
void *ort_alloc(size_t alignment, size_t bytes, uintptr_t allocator, bool zeroed);
/* The content moves to memory of `allocator` (ORT_ALLOCATOR_NULL: the one it has). p may be NULL. */
void *ort_realloc(void *p, size_t bytes, uintptr_t allocator);
void ort_free(void *p);

#endif
