/* Decides how a program comes to run on our runtime: by name, by interposition, or not at all.
 *
 * By name: the drop-in's folder stands first in LD_LIBRARY_PATH, so objects that need libgomp.so.1, libomp.so.5 or
 * libiomp5.so get ours.
 * By interposition: LD_PRELOAD as well, so that ours stands before every library in the order of symbol lookup. That is
 * needed
 *   - where the loader would still take another file: DT_RPATH comes before LD_LIBRARY_PATH, and wheels carry renamed
 *     copies (libgomp-a34b3233.so.1). The other file is then loaded and never called, provided that we define every
 *     entry point, in its version, that some object wants; this is checked.
 *   - where nothing at the start needs a runtime, but something may load one later (python3, and scripts): a renamed
 *     copy then meets our symbols first;
 *   - where some library calls what we answer for OpenMP threads (sched_yield, gettid, masks), and would find the C
 *     library's. A program that is not linked to a runtime itself names the C library before the libraries of its
 *     libraries.
 * The layer over MPI (src/mpi) is preloaded where the program is linked to Open MPI or MPICH, is a launcher of theirs,
 * or may load MPI later and was started by a launcher. The layer does nothing in a program without MPI, and loads
 * nothing.
 * The library that takes other libraries' thread pools (src/pools) is preloaded behind the runtime: where libraries may
 * come later, and where one that the program is linked to lets its caller run its parallel jobs. Then the runtime is
 * preloaded too, also in a program without OpenMP. A program that has its runtime by name loads such libraries at the
 * start as a rule; for others the pools are asked for (--pools).
 * Where names suffice LD_PRELOAD is not set: it would go into every program that the program starts.
 * A program without OpenMP runs as it is (static, of another C library, or without any runtime that it could load);
 * what it starts gets ours. Neither LD_LIBRARY_PATH nor LD_PRELOAD helps against RTLD_DEEPBIND, a runtime linked in
 * statically, or a set-user-id program (the loader ignores both).
 *
 * Single-threaded; a plan is made once. Failures are reported as one line and a shell's exit status (plan.status). */
#ifndef PSRUN_PLAN_H
#define PSRUN_PLAN_H

#include "closure.h"

#include <limits.h>

enum {
    EXIT_USAGE = 125,      /* psrun itself cannot do its work */
    EXIT_CANNOT_RUN = 126, /* the program is there, but cannot run on our runtime */
    EXIT_NOT_FOUND = 127,  /* no such program, or entry points that it needs are missing */
};

#define PLAN_LACKS_MAX 16

struct plan {
    char *dropin_dir;
    struct elf dropin;
    /* "psthreads", "pthreads", or what a given drop-in folder is called by; lives as long as dropin_dir */
    const char *entities;
    const char *mpi;               /* "openmpi" or "mpich": the task-aware layer for it is preloaded; NULL: none */
    bool no_mpi;                   /* (option) none is wanted */
    const char *mpi_without_layer; /* the same, where the layer is not there; NULL: it is, or there is no MPI */
    bool asks_pools;               /* (option) some are asked for, so they may come later whatever the program is */
    bool no_pools;                 /* (option) other libraries' thread pools stay as they are */
    char *pools;                   /* the library that takes them (src/pools); NULL: it is not preloaded */
    bool only_counts;              /* (doctor) that library is preloaded for its census alone, and takes no pool */
    /* pthreads was chosen since user-level threads would share thread-local storage (closure_shares_tls) */
    bool for_sanitizer;
    char *file; /* what will be executed */
    char *elf;  /* what was looked at: file, or the interpreter of its "#!" line */
    bool script;
    bool library;          /* (doctor) a shared library */
    struct closure before; /* as it would be without us (only if asked for) */
    struct closure after;  /* as it will be */
    bool preload;
    bool yields; /* preloaded for what is interposed before the C library alone */
    /* Why nothing of it can be replaced, where there is no OpenMP in it either: it runs as it is;
     * NULL: it is not so. */
    const char *alone;
    bool linked_in;     /* `alone`, since our runtime is linked into it */
    char *library_path; /* the values that it will get; preload_value NULL: leave as it is */
    char *preload_value;
    unsigned num_wanted; /* entry points in use */
    unsigned num_lacks;
    struct lack lack[PLAN_LACKS_MAX];
    int status; /* 0, or what psrun exits with, and why */
    char why[PATH_MAX + 512];
};

/* p is all zero but for the options. entities: "psthreads" or "pthreads"; NULL: psthreads where the program allows.
 * dropin_dir NULL: found from psrun's own place. compare: fill p->before too. allow_library: a shared library may be
 * looked at. Returns p->status. */
int plan_make(struct plan *p, const char *program, const char *entities, const char *dropin_dir, bool compare,
              bool allow_library);

#endif
