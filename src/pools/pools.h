/* The room's own contract: other libraries' thread pools taken onto the virtual processors.
 *
 *   pools.c     which libraries are there: at the start, and as they are opened; PSTHREADS_POOLS; fork
 *   object.c    a loaded object: its symbols by a part of their name, and another function in place of one
 *   openblas.c, fftw.c   the two interfaces: jobs are run as the members of a region
 *   width.c     how wide a library's call may be, by what the program's threads do; width_policy.h decides
 *   census.c    every pool of the process, ours or not, for psrun doctor and Python
 *
 * A library of its own, preloaded by psrun or opened by Python's psthreads.enable(). It finds the runtime as `ps_layer`
 * and `ort_layer` in the process (psthreads/data/layer.h, ort/core/layer.h) and is linked to none; without one it only
 * counts. In a program without such libraries it looks at the names that each new object exports, and does no more. */
#ifndef PS_POOLS_H
#define PS_POOLS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "atomic.h"
#include "compiler.h"
#include "ort/core/layer.h"
#include "psthreads/data/layer.h"

enum pools_kind { POOLS_OPENBLAS, POOLS_FFTW };

/* A library with an interface for callers' threads. Never freed; `gone` when it was unloaded. */
struct pools_library {
    struct pools_library *next;
    enum pools_kind kind;
    ElfW(Addr) base;         /* where it is loaded */
    const char *path;        /* its file, or the program's */
    const char *left;        /* why it is not ours, in words for its user; NULL: its jobs come to us */
    unsigned bound;          /* OpenBLAS: as many threads as the program or its user allows; 0: not known yet */
    _Atomic(unsigned) width; /* OpenBLAS: what its calls use now */
    _Atomic(bool) gone;
};

/* The libraries found so far, newest first. */
extern _Atomic(struct pools_library *) pools_libraries;

/* The runtime, and how many virtual processors it has; NULL: there is none in the process. */
extern const struct ort_layer *pools_core;
unsigned pools_num_vps(void);

bool pools_wants(enum pools_kind kind); /* PSTHREADS_POOLS */
bool pools_verbose(void);               /* PSTHREADS_VERBOSE */

/* Writes a line for each pool of the process to the file: fields separated by tabs, see census.c. Any thread, no locks
 * held; opens nothing. 0, or an errno value. */
int psthreads_pools_census(int fd);

#endif
