/* Collective calls and file access that block: the nonblocking form, then a wait. See mpi_layer.h.
 *
 * MPI does not match a blocking collective call with a nonblocking one, so the form must not depend on the caller. In
 * MPI_AWARE mode it is the nonblocking one, unless PSTHREADS_MPI_COLLECTIVES=off. A caller that is no thread of
 * psthreads then waits in MPI_Wait. All ranks of a job must have the same mode and the same environment. A reduction by
 * a function of the program goes to MPI unchanged, in all ranks alike; otherwise the polling thread might run that
 * function. */
#include "mpi_layer.h"

static int finish_anywhere(MPI_Request *request, MPI_Status *status)
{
    void *thread;
    return mpi_threads(&thread) ? mpi_finish(request, status) : MPI_OWN(MPI_Wait)(request, status);
}

#define ANSWER(name, nonblocking, own, parameters, ...)                                   \
    PS_EXPORT int name parameters                                                         \
    {                                                                                     \
        MPI_Request request;                                                              \
        if (!mpi_aware() || !mpi_collectives || (own))                                    \
            return MPI_OWN(name)(__VA_ARGS__);                                            \
        int error = MPI_OWN(nonblocking)(__VA_ARGS__, &request);                          \
        return PS_UNLIKELY(error) ? error : finish_anywhere(&request, MPI_STATUS_IGNORE); \
    }

ANSWER(MPI_Barrier, MPI_Ibarrier, false, (MPI_Comm comm), comm)

#define COLLECTIVE(name, nonblocking, ...) ANSWER(MPI_##name, MPI_##nonblocking, __VA_ARGS__)
#define COUNT int
#define PLACE int
#include "collective_calls.h"
#undef COLLECTIVE
#undef COUNT
#undef PLACE

#if MPI_VERSION >= 4
#define COLLECTIVE(name, nonblocking, ...) ANSWER(MPI_##name##_c, MPI_##nonblocking##_c, __VA_ARGS__)
#define COUNT MPI_Count
#define PLACE MPI_Aint
#include "collective_calls.h"
#endif

/* --- files --- */

/* Writing that is not collective. Reading is in apart.c: Open MPI 4.1's nonblocking read never completes if the file
 * ends too early. With MPICH neither is intercepted: see by_turns in calls.c. */
#ifdef OPEN_MPI
#define FILE_ACCESS(name, nonblocking, parameters, ...)                     \
    PS_EXPORT int MPI_File_##name parameters                                \
    {                                                                       \
        MPI_Request request;                                                \
        void *thread;                                                       \
        if (!mpi_aware() || !mpi_threads(&thread))                          \
            return MPI_OWN(MPI_File_##name)(__VA_ARGS__, status);           \
        int error = MPI_OWN(MPI_File_##nonblocking)(__VA_ARGS__, &request); \
        return PS_UNLIKELY(error) ? error : mpi_finish(&request, status);   \
    }

FILE_ACCESS(write, iwrite, (MPI_File file, const void *buf, int n, MPI_Datatype type, MPI_Status *status), file, buf, n,
            type)
FILE_ACCESS(write_at, iwrite_at,
            (MPI_File file, MPI_Offset at, const void *buf, int n, MPI_Datatype type, MPI_Status *status), file, at,
            buf, n, type)
FILE_ACCESS(write_shared, iwrite_shared, (MPI_File file, const void *buf, int n, MPI_Datatype type, MPI_Status *status),
            file, buf, n, type)
#endif
