/* Processes that a program starts by MPI run under psrun, as do processes that it starts without MPI. They need psrun
 * because otherwise a blocking collective call in them would not match the nonblocking one of a rank under psrun
 * (collective.c).
 *
 * The launcher starts processes with its own environment, not with the program's. So psrun is put before the command.
 * Only the root of the call does this, while the mode is MPI_AWARE. The command stays unchanged if there is no memory,
 * or if psrun has not preloaded this library or is not in its place beside it. It also stays unchanged if it has no
 * slash and the launcher looks for it in other folders (the key "path"). The calls are collective without a nonblocking
 * form, see apart.c. Fortran's calls in fortran_apart.c (Open MPI's, and those of MPICH's mpi_f08) go to MPI without
 * psrun. */
#include "mpi_layer.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds psrun: this library is in build/lib/mpi beside build/bin, or in prefix/lib/psthreads/mpi beside prefix/bin. */
static bool find_psrun(char path[PATH_MAX])
{
    static const char *const places[] = {"../../bin/psrun", "../../../bin/psrun"};
    const char *preloaded = getenv("LD_PRELOAD");
    char beside[PATH_MAX];
    Dl_info own;
    if (!preloaded || !strstr(preloaded, "/libpsthreads-mpi-") || !dladdr((void *)find_psrun, &own))
        /* Only processes into which psrun has preloaded this library start others under psrun. */
        return false;
    const char *end = strrchr(own.dli_fname, '/');
    for (unsigned i = 0; end && i < sizeof places / sizeof *places; i++) {
        int n = snprintf(beside, sizeof beside, "%.*s/%s", (int)(end - own.dli_fname), own.dli_fname, places[i]);
        if (n < (int)sizeof beside && realpath(beside, path) && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

static bool looked_for_elsewhere(const char *command, MPI_Info info)
{
    char value[2];
    int flag = 0;
    if (strchr(command, '/') || info == mpi_no_info())
        return false;
    MPI_OWN(MPI_Info_get)(info, "path", 1, value, &flag);
    return flag;
}

/* Returns psrun's arguments, which the caller frees: the command and its own arguments. arguments NULL: the command has
 * none. Returns NULL if the command stays unchanged. */
static char **arguments_of_psrun(const char *command, char **arguments, MPI_Info info)
{
    int n = 0;
    while (arguments && arguments[n])
        n++;
    char **all = looked_for_elsewhere(command, info) ? NULL : malloc(sizeof *all * ((size_t)n + 2));
    if (!all)
        return NULL;
    all[0] = (char *)command;
    if (n > 0)
        memcpy(all + 1, arguments, sizeof *all * (size_t)n);
    all[n + 1] = NULL;
    return all;
}

/* Returns whether the caller is the call's root rank. MPI reads the command only there. */
static bool is_root(int root, MPI_Comm comm)
{
    int rank = -1;
    return comm != mpi_no_comm() && MPI_OWN(MPI_Comm_rank)(comm, &rank) == MPI_SUCCESS && rank == root;
}

PS_EXPORT int MPI_Comm_spawn(const char *command, char *arguments[], int n, MPI_Info info, int root, MPI_Comm comm,
                             MPI_Comm *result, int errors[])
{
    char psrun[PATH_MAX], **all = NULL;
    mpi_go_apart();
    if (mpi_aware() && is_root(root, comm) && command && find_psrun(psrun))
        all = arguments_of_psrun(command, arguments, info);
    int error =
        MPI_OWN(MPI_Comm_spawn)(all ? psrun : command, all ? all : arguments, n, info, root, comm, result, errors);
    free(all);
    return error;
}

PS_EXPORT int MPI_Comm_spawn_multiple(int count, char *commands[], char **arguments[], const int n[],
                                      const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *result, int errors[])
{
    char psrun[PATH_MAX], **names = NULL, ***all = NULL;
    mpi_go_apart();
    if (mpi_aware() && is_root(root, comm) && count > 0 && commands && infos && find_psrun(psrun)) {
        names = malloc(sizeof *names * (size_t)count);
        all = malloc(sizeof *all * (size_t)count);
    }
    for (int i = 0; names && all && i < count; i++) {
        char **own = arguments ? arguments[i] : NULL;
        all[i] = arguments_of_psrun(commands[i], own, infos[i]);
        names[i] = all[i] ? psrun : commands[i];
    }
    /* If some commands have arguments, each command without arguments needs an empty list. */
    char *none[] = {NULL};
    bool *kept = names && all ? calloc((size_t)count, sizeof *kept) : NULL;
    for (int i = 0; kept && i < count; i++)
        if ((kept[i] = !all[i]))
            all[i] = arguments && arguments[i] ? arguments[i] : none;
    int error = MPI_OWN(MPI_Comm_spawn_multiple)(count, kept ? names : commands, kept ? all : arguments, n, infos, root,
                                                 comm, result, errors);
    for (int i = 0; names && all && i < count; i++)
        if (!kept || !kept[i])
            free(all[i]);
    free(kept);
    free(names);
    free(all);
    return error;
}
