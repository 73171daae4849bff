/* Decides how a program runs on our runtime: by name, by interposition, or not at all.
 *
 * By name: the drop-in's folder comes first in LD_LIBRARY_PATH, so objects that need libgomp.so.1, libomp.so.5 or
 * libiomp5.so get ours. By interposition: LD_PRELOAD as well, so that ours comes first in the order of symbol lookup.
 * This is needed if
 *   - the loader would still take another runtime: DT_RPATH precedes LD_LIBRARY_PATH, and wheels have renamed copies
 *     (libgomp-a34b3233.so.1). Such a runtime is loaded, but never called. psrun checks that ours defines every entry
 *     point that the objects need, in its version;
 *   - no object needs a runtime at the start, but a renamed copy may be loaded later (python3, and scripts);
 *   - the program is not linked to a runtime, but a library of it is. Such a program finds the C library first, also
 *     for functions that we answer for OpenMP threads (sched_yield, gettid, masks).
 * If names are enough, the runtime is not preloaded: LD_PRELOAD would affect every program that the program starts.
 *
 * The layer over MPI (src/mpi) is preloaded if the program is linked to Open MPI or MPICH, is one of their launchers,
 * or was started by one. src/pools is preloaded after the runtime if libraries may come later, or if the program is
 * linked to a library that lets other code run its jobs (or to OpenBLAS's OpenMP flavour). A program with an OpenMP
 * runtime usually loads such libraries at the start; for later ones the user gives --pools. A program in which nothing
 * is to be replaced (plan.alone) runs as it is; programs that it starts get our runtime. Nothing helps against
 * RTLD_DEEPBIND, another runtime linked in statically, or a set-user-id program (for which the loader ignores both
 * variables). Single-threaded. A failure is one line and a shell's exit status (plan.status). */
#ifndef PSRUN_PLAN_H
#define PSRUN_PLAN_H

#include "closure.h"

#include <limits.h>

enum {
    EXIT_USAGE = 125,      /* psrun itself cannot do its work */
    EXIT_CANNOT_RUN = 126, /* the program exists, but cannot run on our runtime */
    EXIT_NOT_FOUND = 127,  /* no such program, a library is missing, or the runtime lacks entry points */
};

#define PLAN_LACKS_MAX 16

struct plan {
    char *dropin_dir;
    struct elf dropin;
    /* "psthreads", "pthreads", or what the name of a given drop-in folder tells; lives as long as dropin_dir */
    const char *entities;
    const char *mpi;               /* the MPI whose layer is preloaded, "openmpi" or "mpich"; NULL: none */
    bool no_mpi;                   /* (option) no layer over MPI is wanted */
    const char *mpi_without_layer; /* the MPI that the program uses, if its layer is not installed; otherwise NULL */
    bool asks_pools;               /* (option) pools are asked for: so psrun expects that libraries come later */
    bool no_pools;                 /* (option) pools of other libraries stay as they are */
    char *pools;                   /* the file of src/pools' library; NULL: it is not preloaded */
    bool only_counts;              /* (doctor) `pools` is preloaded only for its census, and takes no pool */
    /* kernel threads were chosen because user-level threads would share thread-local storage (closure_shares_tls) */
    bool for_sanitizer;
    char *file; /* the file that will be executed */
    char *elf;  /* the ELF file that was examined: `file`, or the interpreter of its "#!" line */
    bool script;
    bool library;          /* (doctor) it is a shared library */
    struct closure before; /* what the program would load without psrun (only if asked for) */
    struct closure after;  /* what the program will load under psrun */
    bool preload;
    bool yields; /* the runtime is preloaded only so that its sched_yield and the like precede the C library's */
    /* Why nothing in the program is to be replaced: it can get no OpenMP, or has our runtime linked in. NULL: it runs
     * on the runtime of dropin_dir. */
    const char *alone;
    bool linked_in;     /* `alone` is set because our runtime is linked into the program */
    char *library_path; /* values for the loader's variables; preload_value NULL: unchanged */
    char *preload_value;
    unsigned num_wanted; /* number of entry points that the program needs */
    unsigned num_lacks;
    struct lack lack[PLAN_LACKS_MAX];
    int status; /* 0, or psrun's exit status; `why` has the reason */
    char why[PATH_MAX + 512];
};

/* Makes the plan. p is all zero except for the options. entities: "psthreads" or "pthreads"; NULL: psthreads if the
 * program allows. dropin_dir NULL: it is found from psrun's own place. compare: fill in p->before too. allow_library:
 * program may be a shared library. Returns p->status. */
int plan_make(struct plan *p, const char *program, const char *entities, const char *dropin_dir, bool compare,
              bool allow_library);

#endif
