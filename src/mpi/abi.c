/* Finds MPI in the process, and what it allows: see mpi_layer.h.
 *
 * This library is preloaded before it is known whether MPI will be in the process. (Python loads MPI late, with symbols
 * that other libraries do not see.) So this library is not linked to MPI. At the first call it looks for the MPI for
 * which it was compiled, by name among the loaded libraries, and there for each function. If that MPI is not loaded,
 * the program uses another one, and each call goes on to the next definition of its function.
 *
 * States of mpi_mode_word: UNKNOWN -> STRAIGHT or AWARE, by compare-and-swap, at the first call after MPI was
 * initialized; AWARE -> STRAIGHT at MPI_Finalize. All ranks must use the same form of a collective call, blocking or
 * nonblocking. So the form depends on the mode and the environment alone, and not on the caller. */
#include "mpi_layer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef OPEN_MPI
#define MPI_NAME "Open MPI"
static const char *const libraries[] = {"libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40"};
#else
#define MPI_NAME "MPICH"
static const char *const libraries[] = {"libmpich.so.12", "libmpi.so.12", "libmpichfort.so.12", "libmpifort.so.12"};
#endif

_Atomic uint32_t mpi_mode_word;
bool mpi_collectives;

static bool is_there; /* the MPI for which this library was compiled is loaded */
static pthread_once_t found = PTHREAD_ONCE_INIT;

void *mpi_find(const char *name)
{
    for (unsigned i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        void *symbol = library ? dlsym(library, name) : NULL;
        if (library)
            dlclose(library);
        if (symbol)
            return symbol;
    }
    return dlsym(RTLD_NEXT, name);
}

static void missing(const char *name)
{
    fprintf(stderr, "psthreads: libpsthreads-mpi was called for %s, and no MPI library has it: psrun --mpi=off\n",
            name);
    abort();
}

void *mpi_own_late(struct mpi_own *own)
{
    void *function = mpi_find(own->name);
    if (!function)
        missing(own->name);
    ps_store_relaxed(&own->function, function);
    return function;
}

extern struct mpi_own __start_mpi_own[], __stop_mpi_own[];

static void find_mpi(void)
{
    for (unsigned i = 0; i < sizeof libraries / sizeof *libraries && !is_there; i++)
        is_there = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD) != NULL; /* not closed, so that it stays loaded */
    for (struct mpi_own *own = __start_mpi_own; own < __stop_mpi_own; own++)
        ps_store_relaxed(&own->function, mpi_find(own->name));
}

static bool is_set(const char *name, const char *value)
{
    const char *text = getenv(name);
    return text && strcmp(text, value) == 0;
}

static const char *level_name(int level)
{
    return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
           : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
           : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                            : "MPI_THREAD_MULTIPLE";
}

static void tell_mpi_mode(enum mpi_mode mode, int level)
{
    if (!getenv("PSTHREADS_VERBOSE") || is_set("PSTHREADS_VERBOSE", "0"))
        return;
    if (mode == MPI_AWARE)
        fprintf(stderr, "psthreads: " MPI_NAME ", %s: threads that wait in MPI hold no virtual processor%s\n",
                level_name(level), mpi_collectives ? "" : ", but in collective calls (PSTHREADS_MPI_COLLECTIVES=off)");
    else if (level == MPI_THREAD_MULTIPLE)
        fprintf(stderr, "psthreads: " MPI_NAME ": calls go to MPI as they are (PSTHREADS_MPI=off)\n");
    else
        fprintf(stderr, "psthreads: " MPI_NAME ", %s: calls go to MPI as they are (MPI_THREAD_MULTIPLE is wanted)\n",
                level_name(level));
}

enum mpi_mode mpi_mode_now(void)
{
    int yes = 0, level = MPI_THREAD_SINGLE;
    uint32_t mode = ps_load_acquire(&mpi_mode_word), unknown = MPI_UNKNOWN;
    if (mode != MPI_UNKNOWN)
        return (enum mpi_mode)mode;
    pthread_once(&found, find_mpi);
    if (!is_there)
        return MPI_STRAIGHT;
    MPI_OWN(MPI_Initialized)(&yes);
    if (!yes)
        return MPI_STRAIGHT; /* the call is an error, or one that MPI allows before its initialization */
    MPI_OWN(MPI_Finalized)(&yes);
    if (yes)
        return MPI_STRAIGHT;
    MPI_OWN(MPI_Query_thread)(&level);
    mpi_collectives = !is_set("PSTHREADS_MPI_COLLECTIVES", "off");
    mode = level == MPI_THREAD_MULTIPLE && !is_set("PSTHREADS_MPI", "off") ? MPI_AWARE : MPI_STRAIGHT;
    if (!ps_cas_acq_rel(&mpi_mode_word, &unknown, mode))
        return (enum mpi_mode)unknown;
    if (mode == MPI_AWARE) {
        mpi_tasks_in_order();
        mpi_start_watcher();
    }
    tell_mpi_mode((enum mpi_mode)mode, level);
    return (enum mpi_mode)mode;
}

void mpi_mode_over(void) { ps_store_release(&mpi_mode_word, MPI_STRAIGHT); }

#ifdef OPEN_MPI
/* Open MPI's constants are addresses of its variables. */
static void *constant(const char *name)
{
    /* A program may have a copy of the variable (copy relocation). The copy is then the valid one, and RTLD_DEFAULT
     * finds it. */
    void *at = dlsym(RTLD_DEFAULT, name);
    if (!at)
        at = mpi_find(name);
    if (!at)
        missing(name);
    return at;
}
MPI_Datatype mpi_packed(void) { return (MPI_Datatype)constant("ompi_mpi_packed"); }
MPI_Comm mpi_no_comm(void) { return (MPI_Comm)constant("ompi_mpi_comm_null"); }
MPI_Info mpi_no_info(void) { return (MPI_Info)constant("ompi_mpi_info_null"); }
MPI_Request mpi_null(void)
{
    static _Atomic(void *) known;
    void *at = ps_load_relaxed(&known);
    if (!at)
        ps_store_relaxed(&known, at = constant("ompi_request_null"));
    return (MPI_Request)at;
}
bool mpi_op_predefined(MPI_Op op)
{
    static const char *const names[] = {"max", "min",  "sum",  "prod",   "land",   "band",    "lor",
                                        "bor", "lxor", "bxor", "maxloc", "minloc", "replace", "no_op"};
    static _Atomic(void *) known[sizeof names / sizeof *names];
    char name[40];
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        void *at = ps_load_relaxed(&known[i]);
        if (!at) {
            snprintf(name, sizeof name, "ompi_mpi_op_%s", names[i]);
            at = constant(name);
            ps_store_relaxed(&known[i], at);
        }
        if (at == (void *)op)
            return true;
    }
    return false;
}
#else
MPI_Datatype mpi_packed(void) { return MPI_PACKED; }
MPI_Comm mpi_no_comm(void) { return MPI_COMM_NULL; }
MPI_Info mpi_no_info(void) { return MPI_INFO_NULL; }
MPI_Request mpi_null(void) { return MPI_REQUEST_NULL; }
bool mpi_op_predefined(MPI_Op op) { return op >= MPI_MAX && op <= MPI_NO_OP; }
#endif
