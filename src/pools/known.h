/* Which thread pools are known, how they are told, and what is said of them.
 *
 * A library's pool is told by the names that the library exports. The same table serves the census of a process
 * (census.c) and psrun, which reads files (psrun/file_pools.c). Nothing here looks at a process or a file itself. */
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

/* In the terms of Python's threadpoolctl, and beyond those: "blas" and "openblas", "tasks" and "tbb". */
extern const struct known_api {
    const char *user_api, *internal_api;
} known_api[KNOWN_KINDS];

/* The kind of the pool in an object of this file. `defines` tells whether the object exports the name, or where `part`
 * a name with it inside. One object has one pool at most. */
enum known_kind known_kind_of(const char *file, bool (*defines)(const void *object, const char *name, bool part),
                              const void *object);
/* Whether an object that wants this name of others is an OpenMP program's. */
bool known_is_openmp_name(const char *name);
/* The beginning of the file's name, as threadpoolctl calls it ("libgomp"), else what stands before the first '.' or
 * '-'. *n: its length. */
const char *known_prefix(const char *file, size_t *n);
/* What carries MKL's threads, told by the file of one of its layers: "intel", "gnu", "tbb", "sequential"; NULL: it is
 * no such file. */
const char *known_mkl_layer(const char *file);
/* MKL as its users see it: it loads its layers by itself. */
bool known_is_mkl_front(const char *file);
/* What carries numba's threads: "omp", "tbb", "workqueue"; NULL: it is no file of numba's. */
const char *known_numba_layer(const char *file);

/* What is known of a pool. */
struct known_facts {
    enum known_kind kind;
    /* OpenBLAS, FFTW, BLIS: "openmp", "pthreads" or "disabled"; MKL, numba: as above; NULL: not known */
    const char *layer;
    bool is_open;      /* it can hand its jobs to others (OpenBLAS, FFTW) */
    bool is_taken;     /* and does so, to us */
    const char *left;  /* why it does not, in words for its user; NULL: not known */
    bool runtime;      /* psthreads is there */
    bool is_runtime;   /* it is psthreads */
    bool openmp_taken; /* OpenMP's entry points are found in psthreads */
};

enum known_ours { KNOWN_NO, KNOWN_YES, KNOWN_COULD_BE };
extern const char *const known_ours[]; /* "no", "yes", "could be" */

/* Whether its work runs on psthreads, and why, or what to do for it. */
enum known_ours known_judge(const struct known_facts *f, const char **advice);

#endif
