/* The room's own contract: other libraries' thread pools taken onto the virtual processors.
 *
 *   pools.c     which libraries are there: at the start, and as they are opened; PSTHREADS_POOLS; fork
 *   object.c    a loaded object: its symbols by a part of their name, and another function in place of one
 *   openblas.c, fftw.c   the two interfaces: jobs are run as the members of a region
 *   width.c     how wide a library's call may be, by what the program's threads do; width_policy.h decides
 *   census.c    every pool of the process, ours or not, for psrun doctor and Python
 *   known.c     which kinds of pools are known, and what is said of each; psrun doctor reads files by it
 *
 * A library of its own, preloaded by psrun or opened by Python's psthreads.enable(). It finds the runtime as `ps_layer`
 * and `ort_layer` in the process (psthreads/data/layer.h, ort/core/layer.h) and is linked to none; without one it only
 * counts. In a program without such libraries it looks at the names that each new object exports, and does no more. */
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

/* A library with an interface for callers' threads. Never freed, and never unloaded. The shared words are read by any
 * thread, and publish nothing else: relaxed. `bound`, `width` and `left` are written under the library's lock
 * (openblas.c), or before it is in the list; `num_calls` by the threads that call. */
struct pools_library {
    struct pools_library *next;
    enum pools_kind kind;
    ElfW(Addr) base;                  /* where it is loaded */
    char *path;                       /* its file */
    _Atomic(const char *) left;       /* why its jobs do not come to us, in words for its user; NULL: they do */
    _Atomic(unsigned) bound;          /* OpenBLAS: threads that the program or its user allows; 0: not known yet */
    _Atomic(unsigned) width;          /* OpenBLAS: threads that its calls use now; 0: as many as that */
    _Atomic(unsigned long) num_calls; /* parallel calls that came to us */
};

/* The libraries found so far, newest first. Written under the dynamic linker's lock; a release publishes the entry. */
extern _Atomic(struct pools_library *) pools_libraries;

/* The runtime; NULL: there is none in the process. */
extern const struct ort_layer *pools_core;

/* The object has such a library's interface: a new entry for the list, whether the library's jobs come to us or not.
 * NULL: it has not, or there is no memory. The dynamic linker's lock may be held. */
struct pools_library *openblas_begins(const struct object *o);
struct pools_library *fftw_begins(const struct object *o);

void openblas_find_openmp(void); /* the runtime's functions; before the first library begins, with no lock held */
/* Calls of all OpenBLAS libraries use as many threads from now on, or their bound where that is less. At least 1. */
void openblas_set_width(unsigned width);

/* A parallel call of an OpenBLAS begins, on the calling thread (width.c). */
void pools_width_at_call(void);
/* In a forked child: no thread of ours is there. */
void pools_width_after_fork(void);
/* For a library's jobs that do not wait for one another: how many may run at once now. */
unsigned pools_width_now(void);

/* Takes the pools that are there and those that come. Called when this library is loaded, and again by what has loaded
 * the runtime after it: Python's psthreads.enable() behind psthreads.info(). Without a runtime, or where it was found
 * before: nothing. */
void psthreads_pools_begin(void);

/* Writes a line for each pool of the process to the file: fields separated by tabs, see census.c. Any thread, no locks
 * held; opens nothing. 0, or an errno value. */
int psthreads_pools_census(int fd);

#endif
