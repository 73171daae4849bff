/* What a program loads when it starts: the program and its libraries, in the loader's order, and which of them are
 * OpenMP runtimes.
 *
 * The dynamic loader itself is asked (--list; where that fails LD_TRACE_LOADED_OBJECTS, as ldd does): it alone knows
 * the cache, RPATH and RUNPATH, hwcaps and the environment exactly as they will be. Nothing of the program runs. Cost:
 * one fork and exec, about a millisecond, and a mapping a library. What is loaded later with dlopen is not seen.
 *
 * Most programs leave the loader no choice: no object has RPATH or RUNPATH, no variable says more, and a library is
 * either in the drop-in's folder or one entry of the loader's cache. Their closure is read from the files alone, which
 * takes some 0.1 ms. For all others the loader is asked: nothing else of its search is repeated here.
 * Rejected: our own resolver for all programs. It would have to follow each C library's rules, and would be wrong by a
 * version. Rejected: the loader's answers kept in a file. A use would have to check each folder that had a say. */
#ifndef PSRUN_CLOSURE_H
#define PSRUN_CLOSURE_H

#include "elf_file.h"

enum runtime {
    RUNTIME_NONE,
    RUNTIME_GNU,   /* answers GCC's entry points */
    RUNTIME_LLVM,  /* answers Clang's */
    RUNTIME_BOTH,  /* libomp, which has GCC's as well, or ours */
    RUNTIME_OTHER, /* an OpenMP runtime with entry points of its own */
};

struct object {
    char *name; /* as it was asked for: "libgomp.so.1" */
    bool found; /* the loader finds a file, and we can read it */
    struct elf elf;
    enum runtime runtime;
    bool ours; /* it is the drop-in's file */
};

struct closure {
    struct object **object; /* [0] is the program itself */
    unsigned num;
};

/* Traces program (opened as object 0) with the given values of the loader's variables; NULL: as they are. interp: the
 * loader to ask. dropin: to recognise our own file. Returns 0 or an errno value; then there is nothing to free. */
int closure_trace(struct closure *c, const char *interp, const char *program, const char *library_path,
                  const char *preload, const struct elf *dropin);
/* Does the same without the loader, where LD_LIBRARY_PATH is `folder` alone (the drop-in's) and nothing is preloaded.
 * false: the loader must be asked; then there is nothing to free. */
bool closure_read(struct closure *c, const char *interp, const char *program, const char *folder,
                  const struct elf *dropin);
void closure_free(struct closure *c);
/* Returns how many libraries are asked for and not found (or cannot be read); *first: the first of them. */
unsigned closure_missing(const struct closure *c, const char **first);

/* Returns the first object, from index i on, with a runtime that is not ours; c->num: none. */
unsigned closure_foreign(const struct closure *c, unsigned i);
bool closure_has_runtime(const struct closure *c);
/* Whether an object but the C library imports one of `names` (NULL at the end), while the C library stands before ours
 * in the order of lookup. The drop-in defines these names too. */
bool closure_misses(const struct closure *c, const char *const *names);
/* Whether both of these hold. The program has a sanitizer that keeps its own state in the kernel thread's thread-local
 * storage (address, thread), so user-level threads have no storage of their own. And something in the program would
 * miss that storage: thread-local variables, or what the C library keeps for a thread. */
bool closure_shares_tls(const struct closure *c);
/* Whether some object but the C library imports one of the names (NULL-terminated). */
bool closure_wants_any(const struct closure *c, const char *const names[]);

enum runtime runtime_of(const struct elf *e);
const char *runtime_name(enum runtime r);

/* An OpenMP symbol that the drop-in lacks. */
struct lack {
    const char *symbol;
    const char *version; /* NULL: any */
    const char *user;    /* the object that wants it */
};
/* Collects the entry points (with version nodes) that objects of c want from their runtime and that dropin does not
 * define, `max` at most. Returns how many there are; *num_wanted is how many the objects want at all. */
unsigned closure_lacks(const struct closure *c, const struct elf *dropin, struct lack *lack, unsigned max,
                       unsigned *num_wanted);

#endif
