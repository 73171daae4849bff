/* What a program loads when it starts: the program and its libraries, in the loader's order, and which of them are
 * OpenMP runtimes.
 *
 * psrun asks the dynamic loader itself (--list; if that fails, LD_TRACE_LOADED_OBJECTS, as ldd does). Only the loader
 * knows the cache, RPATH and RUNPATH, hwcaps and the environment exactly as they will be at the start. No code of the
 * program runs. Cost: one fork and exec, about a millisecond, and one mapping for each library. Libraries that the
 * program opens later by dlopen are not seen.
 *
 * Most programs leave the loader no choice: no object has RPATH or RUNPATH, no variable changes the search, and each
 * library is either in the drop-in's folder or one entry of the loader's cache. The closure of such a program is read
 * from the files alone, in some 0.1 ms.
 *
 * Rejected: our own resolver for all programs: it would have to follow each C library's rules, and some version would
 * differ. Rejected: keeping the loader's answers in a file: each use would have to check every folder that had an
 * influence. */
#ifndef PSRUN_CLOSURE_H
#define PSRUN_CLOSURE_H

#include "elf_file.h"

enum runtime {
    RUNTIME_NONE,
    RUNTIME_GNU,   /* has GCC's entry points */
    RUNTIME_LLVM,  /* has Clang's */
    RUNTIME_BOTH,  /* has both kinds, as libomp and ours have */
    RUNTIME_OTHER, /* has only other OpenMP functions */
};

struct object {
    char *name; /* the name under which it is needed: "libgomp.so.1" */
    bool found; /* the loader finds a file, and psrun can read it */
    struct elf elf;
    enum runtime runtime;
    bool ours; /* it is the drop-in's file */
};

struct closure {
    struct object **object; /* [0] is the program itself */
    unsigned num;
};

/* Reads the closure of program, which becomes object 0, by asking the loader `interp`. library_path and preload are
 * values for the loader's variables; NULL: as they are. dropin: our own file, to recognise it. Returns 0, or an errno
 * value; then there is nothing to free. */
int closure_trace(struct closure *c, const char *interp, const char *program, const char *library_path,
                  const char *preload, const struct elf *dropin);
/* Reads the closure as closure_trace does, but without the loader. Only for LD_LIBRARY_PATH = `folder` (the drop-in's)
 * and no preloads. Returns false if the loader must be asked; then there is nothing to free. */
bool closure_read(struct closure *c, const char *interp, const char *program, const char *folder,
                  const struct elf *dropin);
void closure_free(struct closure *c);
/* Returns how many libraries are needed and not found (or cannot be read). *first gets the name of the first. */
unsigned closure_missing(const struct closure *c, const char **first);

/* Returns the index of the first object, from i on, that is a runtime other than ours; c->num if there is none. */
unsigned closure_foreign(const struct closure *c, unsigned i);
bool closure_has_runtime(const struct closure *c);
/* Returns whether calls of one of `names` (NULL-terminated) reach the C library, though the drop-in defines the names
 * too. That is so if an object other than the C library imports one of them, and the C library comes before our runtime
 * in the order of lookup. */
bool closure_misses(const struct closure *c, const char *const *names);
/* Returns whether both of these hold. The program has a sanitizer that keeps its state in the kernel thread's
 * thread-local storage (address, thread, leak, safe stack), so user-level threads would have no storage of their own.
 * And the program would miss that storage: it has thread-local variables, or uses what the C library keeps for each
 * thread. */
bool closure_shares_tls(const struct closure *c);
/* Returns whether some object other than the C library imports one of the names (NULL-terminated). */
bool closure_wants_any(const struct closure *c, const char *const names[]);

enum runtime runtime_of(const struct elf *e);
const char *runtime_name(enum runtime r);

/* An OpenMP symbol, or a version node, that an object needs and the drop-in does not have. */
struct lack {
    const char *symbol;  /* "version": a version node is missing */
    const char *version; /* NULL: any version */
    const char *user;    /* the object that needs it */
};
/* Collects the entry points (and version nodes) that objects of c need and dropin does not define: at most `max` of
 * them. Returns how many there are, also if these are more than `max`. *num_wanted gets how many entry points the
 * objects need in all. Both count an entry point once for each object that needs it. */
unsigned closure_lacks(const struct closure *c, const struct elf *dropin, struct lack *lack, unsigned max,
                       unsigned *num_wanted);

#endif
