/* OpenMP's memory allocators. See allocator.c. */
#ifndef PS_ORT_ALLOCATOR_H
#define PS_ORT_ALLOCATOR_H

#include "compiler.h"

/* Handles of allocators. Up to ORT_ALLOCATOR_RESERVED_MAX they are predefined, above it they are addresses. Both ABIs
 * use these numbers: 2 to 8 are large_cap, const, high_bw, low_lat, cgroup, pteam and thread. */
enum {
    ORT_ALLOCATOR_NULL = 0,
    ORT_ALLOCATOR_DEFAULT = 1,
    ORT_ALLOCATOR_HIGH_BW = 4,
    ORT_ALLOCATOR_PINNED = 200,       /* GCC's ompx_gnu_pinned_mem_alloc */
    ORT_ALLOCATOR_MANAGED,            /* ompx_gnu_managed_mem_alloc, for devices; here as the default one */
    ORT_ALLOCATOR_RESERVED_MAX = 4095 /* below every address; numbers without a meaning stand for the default one */
};
enum { ORT_MEMSPACE_DEFAULT, ORT_MEMSPACE_LARGE_CAP, ORT_MEMSPACE_CONST, ORT_MEMSPACE_HIGH_BW, ORT_MEMSPACE_LOW_LAT };
enum {
    ORT_MEMSPACE_CGROUP = 5, /* LLVM's number from release 21 on; so is 99 */
    ORT_MEMSPACE_LLVM_DEFAULT = 99,
    ORT_MEMSPACE_MANAGED = 200 /* GCC's ompx_gnu_managed_mem_space */
};

/* omp_alloctrait_t as it is in the program's memory: an omp_alloctrait_key_t and an omp_alloctrait_value_t. */
struct ort_alloctrait {
    int key;
    uintptr_t value;
};
enum {
    ORT_TRAIT_SYNC_HINT = 1,
    ORT_TRAIT_ALIGNMENT,
    ORT_TRAIT_ACCESS,
    ORT_TRAIT_POOL_SIZE,
    ORT_TRAIT_FALLBACK,
    ORT_TRAIT_FB_DATA,
    ORT_TRAIT_PINNED,
    ORT_TRAIT_PARTITION
};
enum {
    ORT_TRAIT_FALSE = 0,
    ORT_TRAIT_TRUE = 1,
    ORT_TRAIT_CONTENDED = 3,
    ORT_TRAIT_UNCONTENDED,
    ORT_TRAIT_SERIALIZED,
    ORT_TRAIT_PRIVATE,
    ORT_TRAIT_ALL,
    ORT_TRAIT_THREAD,
    ORT_TRAIT_PTEAM,
    ORT_TRAIT_CGROUP,
    ORT_TRAIT_DEFAULT_FB,
    ORT_TRAIT_NULL_FB,
    ORT_TRAIT_ABORT_FB,
    ORT_TRAIT_ALLOCATOR_FB,
    ORT_TRAIT_ENVIRONMENT,
    ORT_TRAIT_NEAREST,
    ORT_TRAIT_BLOCKED,
    ORT_TRAIT_INTERLEAVED
};
#define ORT_TRAIT_DEFAULT UINTPTR_MAX

/* Makes an allocator, and returns its handle. Returns ORT_ALLOCATOR_NULL if the memory space is unknown, if an
 * allocator cannot have these traits, or if there is no memory. */
uintptr_t ort_allocator_make(uintptr_t memspace, int num_traits, const struct ort_alloctrait *traits);
/* Frees an allocator; does nothing to a predefined one. The program must have freed all memory of the allocator before,
 * because ort_free and ort_realloc read the allocator. */
void ort_allocator_destroy(uintptr_t allocator);
/* ort_allocator_default returns the default allocator of the calling task's data environment. ort_allocator_set_default
 * changes it (ORT_ALLOCATOR_NULL: to ORT_ALLOCATOR_DEFAULT). */
uintptr_t ort_allocator_default(void);
void ort_allocator_set_default(uintptr_t allocator);
/* Returns the name of a predefined allocator, as in OMP_ALLOCATOR; NULL for others. */
const char *ort_allocator_name(uintptr_t allocator);
/* Reads OMP_ALLOCATOR into the initial ICVs (allocator_env.c). Called while the library is loaded, and when variables
 * are read again. */
void ort_allocator_env_read(void);

/* Allocates `bytes`, aligned to `alignment` (0 or a power of two) and to the allocator's own alignment.
 * ORT_ALLOCATOR_NULL: the default allocator. Returns NULL if bytes == 0, or if neither the allocator nor its fallbacks
 * can give the memory. Exception: with abort_fb the program is aborted. */
void *ort_alloc(size_t alignment, size_t bytes, uintptr_t allocator, bool zeroed);
/* Copies the content of p to `bytes` of new memory of `allocator` (ORT_ALLOCATOR_NULL: of p's own allocator), frees p,
 * and returns the new memory. p may be NULL. Returns NULL and keeps p if there is no memory; frees p and returns NULL
 * if bytes == 0. */
void *ort_realloc(void *p, size_t bytes, uintptr_t allocator);
void ort_free(void *p);

#endif
