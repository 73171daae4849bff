/* Collective calls and file access that block: the nonblocking form, then a wait. See mpi_layer.h.
 *
 * MPI does not match a blocking collective call with a nonblocking one. So which form is taken must not depend on who
 * calls: in MPI_AWARE mode it is the nonblocking one always, also where the caller is no thread of ours (who then
 * waits in MPI_Wait). The same mode and the same environment are wanted in all ranks of a job. A reduction by a
 * function of the program's goes to MPI as it is, in all ranks alike: whoever polls would run that function. */
#include "mpi_layer.h"

static int finish_anywhere(MPI_Request *request, MPI_Status *status)
{
    void *thread;
    return mpi_threads(&thread) ? mpi_finish(request, status) : mpi_own.MPI_Wait(request, status);
}

#define COLLECTIVE(name, nonblocking, own, parameters, ...)                               \
    PS_EXPORT int MPI_##name parameters                                                   \
    {                                                                                     \
        MPI_Request request;                                                              \
        if (!mpi_aware() || !mpi_collectives || (own))                                    \
            return mpi_own.MPI_##name(__VA_ARGS__);                                       \
        int error = mpi_own.MPI_##nonblocking(__VA_ARGS__, &request);                     \
        return PS_UNLIKELY(error) ? error : finish_anywhere(&request, MPI_STATUS_IGNORE); \
    }

COLLECTIVE(Barrier, Ibarrier, false, (MPI_Comm comm), comm)
COLLECTIVE(Bcast, Ibcast, false, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm), buf, count, type,
           root, comm)
COLLECTIVE(Gather, Igather, false,
           (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype intype, int root, MPI_Comm comm),
           out, n, type, in, m, intype, root, comm)
COLLECTIVE(Gatherv, Igatherv, false,
           (const void *out, int n, MPI_Datatype type, void *in, const int m[], const int at[], MPI_Datatype intype,
            int root, MPI_Comm comm),
           out, n, type, in, m, at, intype, root, comm)
COLLECTIVE(Scatter, Iscatter, false,
           (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype intype, int root, MPI_Comm comm),
           out, n, type, in, m, intype, root, comm)
COLLECTIVE(Scatterv, Iscatterv, false,
           (const void *out, const int n[], const int at[], MPI_Datatype type, void *in, int m, MPI_Datatype intype,
            int root, MPI_Comm comm),
           out, n, at, type, in, m, intype, root, comm)
COLLECTIVE(Allgather, Iallgather, false,
           (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype intype, MPI_Comm comm), out, n,
           type, in, m, intype, comm)
COLLECTIVE(Allgatherv, Iallgatherv, false,
           (const void *out, int n, MPI_Datatype type, void *in, const int m[], const int at[], MPI_Datatype intype,
            MPI_Comm comm),
           out, n, type, in, m, at, intype, comm)
COLLECTIVE(Alltoall, Ialltoall, false,
           (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype intype, MPI_Comm comm), out, n,
           type, in, m, intype, comm)
COLLECTIVE(Alltoallv, Ialltoallv, false,
           (const void *out, const int n[], const int at[], MPI_Datatype type, void *in, const int m[],
            const int inat[], MPI_Datatype intype, MPI_Comm comm),
           out, n, at, type, in, m, inat, intype, comm)
COLLECTIVE(Alltoallw, Ialltoallw, false,
           (const void *out, const int n[], const int at[], const MPI_Datatype types[], void *in, const int m[],
            const int inat[], const MPI_Datatype intypes[], MPI_Comm comm),
           out, n, at, types, in, m, inat, intypes, comm)
COLLECTIVE(Reduce, Ireduce, !mpi_op_predefined(op),
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm), out, in, n, type,
           op, root, comm)
COLLECTIVE(Allreduce, Iallreduce, !mpi_op_predefined(op),
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), out, in, n, type, op, comm)
COLLECTIVE(Reduce_scatter, Ireduce_scatter, !mpi_op_predefined(op),
           (const void *out, void *in, const int m[], MPI_Datatype type, MPI_Op op, MPI_Comm comm), out, in, m, type,
           op, comm)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, !mpi_op_predefined(op),
           (const void *out, void *in, int m, MPI_Datatype type, MPI_Op op, MPI_Comm comm), out, in, m, type, op, comm)
COLLECTIVE(Scan, Iscan, !mpi_op_predefined(op),
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), out, in, n, type, op, comm)
COLLECTIVE(Exscan, Iexscan, !mpi_op_predefined(op),
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), out, in, n, type, op, comm)
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, false,
           (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype intype, MPI_Comm comm), out, n,
           type, in, m, intype, comm)
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, false,
           (const void *out, int n, MPI_Datatype type, void *in, const int m[], const int at[], MPI_Datatype intype,
            MPI_Comm comm),
           out, n, type, in, m, at, intype, comm)
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, false,
           (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype intype, MPI_Comm comm), out, n,
           type, in, m, intype, comm)
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, false,
           (const void *out, const int n[], const int at[], MPI_Datatype type, void *in, const int m[],
            const int inat[], MPI_Datatype intype, MPI_Comm comm),
           out, n, at, type, in, m, inat, intype, comm)
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, false,
           (const void *out, const int n[], const MPI_Aint at[], const MPI_Datatype types[], void *in, const int m[],
            const MPI_Aint inat[], const MPI_Datatype intypes[], MPI_Comm comm),
           out, n, at, types, in, m, inat, intypes, comm)

/* --- nonblocking reductions --- */

/* Only to know of functions of the program's. */
#define REDUCTION(name, op, parameters, ...)       \
    PS_EXPORT int name parameters                  \
    {                                              \
        if (mpi_aware() && !mpi_op_predefined(op)) \
            mpi_note_function();                   \
        return mpi_own.name(__VA_ARGS__);          \
    }

#define REDUCTIONS(CALL, COUNT)                                                                                       \
    REDUCTION(                                                                                                        \
        CALL(Ireduce), op,                                                                                            \
        (const void *out, void *in, COUNT n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, MPI_Request *r),  \
        out, in, n, type, op, root, comm, r)                                                                          \
    REDUCTION(CALL(Iallreduce), op,                                                                                   \
              (const void *out, void *in, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *r), out, \
              in, n, type, op, comm, r)                                                                               \
    REDUCTION(                                                                                                        \
        CALL(Ireduce_scatter), op,                                                                                    \
        (const void *out, void *in, const COUNT m[], MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *r),    \
        out, in, m, type, op, comm, r)                                                                                \
    REDUCTION(CALL(Ireduce_scatter_block), op,                                                                        \
              (const void *out, void *in, COUNT m, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *r), out, \
              in, m, type, op, comm, r)                                                                               \
    REDUCTION(CALL(Iscan), op,                                                                                        \
              (const void *out, void *in, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *r), out, \
              in, n, type, op, comm, r)                                                                               \
    REDUCTION(CALL(Iexscan), op,                                                                                      \
              (const void *out, void *in, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *r), out, \
              in, n, type, op, comm, r)
#define SMALL(name) MPI_##name
REDUCTIONS(SMALL, int)

/* --- files --- */

/* Writing that is not collective. Reading is in apart.c: Open MPI 4.1's nonblocking read never completes where the
 * file ends before it. With MPICH all access goes to MPI as it is: see by_turns in calls.c. */
#ifdef OPEN_MPI
#define FILE_ACCESS(name, nonblocking, parameters, ...)                    \
    PS_EXPORT int MPI_File_##name parameters                               \
    {                                                                      \
        MPI_Request request;                                               \
        void *thread;                                                      \
        if (!mpi_aware() || !mpi_threads(&thread))                         \
            return mpi_own.MPI_File_##name(__VA_ARGS__, status);           \
        int error = mpi_own.MPI_File_##nonblocking(__VA_ARGS__, &request); \
        return PS_UNLIKELY(error) ? error : mpi_finish(&request, status);  \
    }

FILE_ACCESS(write, iwrite, (MPI_File file, const void *buf, int n, MPI_Datatype type, MPI_Status *status), file, buf, n,
            type)
FILE_ACCESS(write_at, iwrite_at,
            (MPI_File file, MPI_Offset at, const void *buf, int n, MPI_Datatype type, MPI_Status *status), file, at,
            buf, n, type)
FILE_ACCESS(write_shared, iwrite_shared, (MPI_File file, const void *buf, int n, MPI_Datatype type, MPI_Status *status),
            file, buf, n, type)
#endif
