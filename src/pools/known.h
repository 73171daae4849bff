/* The known kinds of thread pools: how a library is recognised, and what the user is told about it.
 *
 * A library's pool is recognised by names that the library exports. The same table serves the census of a process
 * (census.c) and psrun, which reads files (psrun/file_pools.c). Code here does not look at a process or a file
 * itself. */
#ifndef PS_POOLS_KNOWN_H
#define PS_POOLS_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

enum known_kind {
    KNOWN_NONE,
    KNOWN_OPENMP,
    KNOWN_OPENBLAS,
    KNOWN_MKL,
    KNOWN_BLIS,
    KNOWN_FFTW,
    KNOWN_TBB,
    KNOWN_NUMBA,
    KNOWN_TORCH,
    KNOWN_KINDS
};

/* The names of each kind: threadpoolctl's, and in the same style names for kinds that threadpoolctl does not know. */
extern const struct known_api {
    const char *user_api, *internal_api;
} known_api[KNOWN_KINDS];

/* Returns the kind of pool in an object of this file. defines(object, name, part) returns whether the object exports
 * the name; with `part`, whether it exports a name that contains it. An object has at most one pool. */
enum known_kind known_kind_of(const char *file, bool (*defines)(const void *object, const char *name, bool part),
                              const void *object);
/* Returns whether this is the name of an OpenMP entry point, so that an object which takes it from others uses
 * OpenMP. */
bool known_is_openmp_name(const char *name);
/* Returns the beginning of the file's name as threadpoolctl has it ("libgomp"); for other files the part before the
 * first '.' or '-'. *n gets its length. */
const char *known_prefix(const char *file, size_t *n);
/* Returns what carries MKL's threads if this is the file of one of MKL's layers: "intel", "gnu", "tbb", "sequential";
 * otherwise NULL. */
const char *known_mkl_layer(const char *file);
/* Returns whether this is MKL's front, libmkl_rt, which programs are linked with and which loads the layers. */
bool known_is_mkl_front(const char *file);
/* Returns which of numba's threading layers the file is: "omp", "tbb", "workqueue"; NULL if this is not one of numba's
 * files. */
const char *known_numba_layer(const char *file);

/* What is known about a pool, for known_judge. */
struct known_facts {
    enum known_kind kind;
    /* OpenBLAS, FFTW, BLIS: "openmp", "pthreads" or "disabled"; MKL, numba: as known_mkl_layer and known_numba_layer
     * return it; NULL: unknown */
    const char *layer;
    bool is_open;      /* the library lets other code run its jobs (OpenBLAS, FFTW) */
    bool is_taken;     /* psthreads runs its jobs */
    const char *left;  /* why psthreads does not run them, in words for the user; NULL: unknown */
    bool runtime;      /* psthreads is in the process */
    bool is_runtime;   /* the library is psthreads */
    bool openmp_taken; /* the process's calls of OpenMP arrive at psthreads */
};

enum known_ours { KNOWN_NO, KNOWN_YES, KNOWN_COULD_BE };
extern const char *const known_ours[]; /* the words "no", "yes", "could be" */

/* Returns whether the pool's work runs on psthreads. *advice gets the reason, or what the user can do. */
enum known_ours known_judge(const struct known_facts *f, const char **advice);

#endif
