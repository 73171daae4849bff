/* The room's contract: thread pools of other libraries run on the virtual processors.
 *
 *   pools.c     finds the libraries: at the start, and as they are loaded; PSTHREADS_POOLS; fork
 *   object.c    a loaded object: finds symbols by a part of their name, and replaces functions
 *   openblas.c, fftw.c   the two interfaces: jobs run as the members of a region
 *   width.c     how many threads a library's call may use, by what the program's threads do; width_policy.h decides
 *   census.c    lists every pool of the process, ours or not, for psrun doctor and Python
 *   known.c     the known kinds of pools, and the advice about each; psrun doctor reads files by it
 *
 * This is a library of its own, which psrun preloads or Python's psthreads.enable() opens. It finds the runtime as
 * `ps_layer` and `ort_layer` in the process (psthreads/data/layer.h, ort/core/layer.h), and is linked to none. Without
 * a runtime it only makes the census. In a program without such libraries it only reads the names that each new object
 * exports. */
#ifndef PS_POOLS_H
#define PS_POOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "atomic.h"
#include "compiler.h"
#include "object.h"
#include "ort/core/layer.h"
#include "psthreads/data/layer.h"

enum pools_kind { POOLS_OPENBLAS, POOLS_FFTW };

/* A library that lets its callers run its jobs. It is never freed or unloaded. Any thread reads the atomic fields; they
 * publish nothing else, so they are relaxed. `bound`, `width` and `left` are written under the library's lock
 * (openblas.c), or before the entry is in the list; `num_calls` by the threads that call. */
struct pools_library {
    struct pools_library *next;
    enum pools_kind kind;
    ElfW(Addr) base;                  /* the address where it is loaded */
    char *path;                       /* name of its file */
    _Atomic(const char *) left;       /* why we do not run its jobs, in words for the user; NULL: we do */
    _Atomic(unsigned) bound;          /* OpenBLAS: threads that the program or its user allows; 0: unknown yet */
    _Atomic(unsigned) width;          /* OpenBLAS: threads that its calls use now; 0: as many as `bound` */
    _Atomic(unsigned long) num_calls; /* parallel calls whose jobs we have run */
};

/* The libraries found so far, newest first. Written under the dynamic linker's lock; a release store publishes an
 * entry. */
extern _Atomic(struct pools_library *) pools_libraries;

/* The runtime's table; NULL: no runtime is in the process. */
extern const struct ort_layer *pools_core;

/* If the object has the library's interface: takes its jobs if possible, and returns a new entry for the list.
 * Otherwise, or without memory, returns NULL. The dynamic linker's lock may be held. */
struct pools_library *openblas_begins(const struct object *o);
struct pools_library *fftw_begins(const struct object *o);

void openblas_find_openmp(void); /* finds the runtime's OpenMP functions; called first, without a lock */
/* From now on calls of all OpenBLAS libraries use this many threads (at least 1), or their bound if that is less. */
void openblas_set_width(unsigned width);

/* Called by a thread that begins a parallel call of a library (width.c). */
void pools_width_at_call(void);
/* Called in a forked child, which does not have our kernel thread. */
void pools_width_after_fork(void);
/* Returns the width now: how many jobs of a call may run at once. Before the first call it is UINT_MAX. */
unsigned pools_width_now(void);

/* Takes the pools of all libraries, those that are loaded and those that come. Called when this library is loaded, and
 * again by a caller that has loaded the runtime later: Python's psthreads.enable() after psthreads.info(). Does nothing
 * if there is no runtime, if it was found before, or with PSTHREADS_POOLS=none. */
void psthreads_pools_begin(void);

/* Writes a line for each pool of the process to the file; census.c describes the fields. Callers: any thread that holds
 * no lock. Opens no library. Returns 0 or an errno value. */
int psthreads_pools_census(int fd);

#endif
