/* Open MPI's Fortran calls that block: those of mpif.h and `use mpi` (mpi_recv_ and its spellings) and of `use mpi_f08`
 * (which calls ompi_recv_f). MPICH's mpif.h and `use mpi` call the C functions, which calls.c defines.
 *
 * Such a function starts Open MPI's own Fortran form of the nonblocking call, waits, and completes the request by the
 * Fortran form of test or wait. So this file need not know the addresses that have a meaning (MPI_BOTTOM, MPI_IN_PLACE,
 * MPI_STATUS_IGNORE). It converts requests to C's only to ask whether they are complete. The tests are here too: after
 * a test that finds nothing another thread may run. fortran_waits.c has the calls that wait for existing messages and
 * requests, fortran_apart.c those without a nonblocking form. */
#include "fortran.h"

#ifdef OPEN_MPI

static bool predefined(const void *op) { return mpi_op_predefined(MPI_OWN(MPI_Op_f2c)(*(const MPI_Fint *)op)); }
static MPI_Fint packed(void) { return MPI_OWN(MPI_Type_c2f)(mpi_packed()); }

static void finish(MPI_Fint *request, void *status, MPI_Fint *error)
{
    MPI_Fint flag = 0;
    *error = MPI_SUCCESS;
    OWN(test, T3)(request, &flag, status, error);
    if (flag || *error)
        return;
    MPI_Request r = MPI_OWN(MPI_Request_f2c)(*request);
    mpi_await_one(&r);
    OWN(wait, T2)(request, status, error);
}

static void finish_ignored(MPI_Fint *request, MPI_Fint *error)
{
    MPI_Fint status[sizeof(MPI_Status) / sizeof(MPI_Fint) + 1];
    finish(request, status, error);
}

/* --- messages --- */

#define SENDS(lower, UPPER, nonblocking)                 \
    PS_EXPORT void ompi_##lower##_f(P6, MPI_Fint *error) \
    {                                                    \
        MPI_Fint request;                                \
        if (!fortran_caller_can_wait()) {                \
            OWN(lower, T6)(A6, error);                   \
            return;                                      \
        }                                                \
        OWN(nonblocking, T7)(A6, &request, error);       \
        if (!*error)                                     \
            finish_ignored(&request, error);             \
    }                                                    \
    SPELLINGS(lower, UPPER)

SENDS(send, SEND, isend)
SENDS(ssend, SSEND, issend)
SENDS(rsend, RSEND, irsend)

/* A call with one request and a status. n: the number of its arguments before the status. */
#define WITH_STATUS(lower, UPPER, nonblocking, n)                        \
    PS_EXPORT void ompi_##lower##_f(P##n, void *status, MPI_Fint *error) \
    {                                                                    \
        MPI_Fint request;                                                \
        if (!fortran_caller_can_wait()) {                                \
            OWN(lower, T##n, void *)(A##n, status, error);               \
            return;                                                      \
        }                                                                \
        OWN(nonblocking, T##n, void *)(A##n, &request, error);           \
        if (!*error)                                                     \
            finish(&request, status, error);                             \
    }                                                                    \
    SPELLINGS(lower, UPPER)

WITH_STATUS(recv, RECV, irecv, 6)
WITH_STATUS(mrecv, MRECV, imrecv, 4)

PS_EXPORT void ompi_sendrecv_f(P11, void *status, MPI_Fint *error)
{
    MPI_Fint receive, send, received = MPI_SUCCESS;
    if (!fortran_caller_can_wait()) {
        OWN(sendrecv, T11, void *)(A11, status, error);
        return;
    }
    OWN(irecv, T7)(f, g, h, i, j, k, &receive, error);
    if (*error)
        return;
    OWN(isend, T7)(a, b, c, d, e, k, &send, error);
    if (*error)
        return;
    finish_ignored(&send, error);
    finish(&receive, status, &received);
    *error = received ? received : *error;
}
SPELLINGS(sendrecv, SENDRECV)

/* Sends a copy of the buffer. Arguments: buf, count, type, dest, sendtag, source, recvtag, comm. */
PS_EXPORT void ompi_sendrecv_replace_f(P8, void *status, MPI_Fint *error)
{
    MPI_Fint bytes = 0, used = 0, type = 0, receive, send, sent = MPI_SUCCESS;
    void *copy = NULL;
    *error = MPI_SUCCESS;
    if (fortran_caller_can_wait()) {
        type = packed();
        OWN(pack_size, T4)(b, c, h, &bytes, error);
        copy = *error ? NULL : malloc(bytes > 0 ? (size_t)bytes : 1);
        if (copy)
            OWN(pack, T7)(a, b, c, copy, &bytes, &used, h, error);
    }
    if (!copy || *error) { /* MPI's own call waits here, or reports what is wrong */
        free(copy);
        OWN(sendrecv_replace, T9)(A8, status, error);
        return;
    }
    OWN(irecv, T7)(a, b, c, f, g, h, &receive, error);
    if (!*error)
        OWN(isend, T7)(copy, &used, &type, d, e, h, &send, error);
    if (!*error) {
        finish_ignored(&send, &sent);
        finish(&receive, status, error);
        *error = *error ? *error : sent;
    }
    free(copy);
}
SPELLINGS(sendrecv_replace, SENDRECV_REPLACE)

/* --- tests --- */

/* n: the number of arguments before the error. flag: the argument that tells whether the test has found something. */
#define TESTS(lower, UPPER, n, flag)                       \
    PS_EXPORT void ompi_##lower##_f(P##n, MPI_Fint *error) \
    {                                                      \
        bool aware = mpi_aware();                          \
        OWN(lower, T##n)(A##n, error);                     \
        if (aware && !*(MPI_Fint *)(flag) && !*error)      \
            mpi_tested_in_vain();                          \
    }                                                      \
    SPELLINGS(lower, UPPER)

TESTS(test, TEST, 3, b)
TESTS(testall, TESTALL, 4, c)
TESTS(testany, TESTANY, 5, d)
TESTS(testsome, TESTSOME, 5, c)
TESTS(iprobe, IPROBE, 5, d)
TESTS(improbe, IMPROBE, 6, d)
TESTS(request_get_status, REQUEST_GET_STATUS, 3, b)
TESTS(win_test, WIN_TEST, 2, b)

/* --- writing to files that is not collective --- */

WITH_STATUS(file_write, FILE_WRITE, file_iwrite, 4)
WITH_STATUS(file_write_at, FILE_WRITE_AT, file_iwrite_at, 5)
WITH_STATUS(file_write_shared, FILE_WRITE_SHARED, file_iwrite_shared, 4)

/* --- collective calls: in the same form, blocking or nonblocking, as C's, in all ranks --- */

#define COLLECTIVE(lower, UPPER, n, own)                    \
    PS_EXPORT void ompi_##lower##_f(P##n, MPI_Fint *error)  \
    {                                                       \
        MPI_Fint request;                                   \
        if (!mpi_aware() || !mpi_collectives || (own)) {    \
            OWN(lower, T##n)(A##n, error);                  \
            return;                                         \
        }                                                   \
        OWN(i##lower, T##n, void *)(A##n, &request, error); \
        if (!*error)                                        \
            finish_ignored(&request, error);                \
    }                                                       \
    SPELLINGS(lower, UPPER)

COLLECTIVE(barrier, BARRIER, 1, false)
COLLECTIVE(bcast, BCAST, 5, false)
COLLECTIVE(gather, GATHER, 8, false)
COLLECTIVE(gatherv, GATHERV, 9, false)
COLLECTIVE(scatter, SCATTER, 8, false)
COLLECTIVE(scatterv, SCATTERV, 9, false)
COLLECTIVE(allgather, ALLGATHER, 7, false)
COLLECTIVE(allgatherv, ALLGATHERV, 8, false)
COLLECTIVE(alltoall, ALLTOALL, 7, false)
COLLECTIVE(alltoallv, ALLTOALLV, 9, false)
COLLECTIVE(alltoallw, ALLTOALLW, 9, false)
COLLECTIVE(reduce, REDUCE, 7, !predefined(e))
COLLECTIVE(allreduce, ALLREDUCE, 6, !predefined(e))
COLLECTIVE(reduce_scatter, REDUCE_SCATTER, 6, !predefined(e))
COLLECTIVE(reduce_scatter_block, REDUCE_SCATTER_BLOCK, 6, !predefined(e))
COLLECTIVE(scan, SCAN, 6, !predefined(e))
COLLECTIVE(exscan, EXSCAN, 6, !predefined(e))
COLLECTIVE(neighbor_allgather, NEIGHBOR_ALLGATHER, 7, false)
COLLECTIVE(neighbor_allgatherv, NEIGHBOR_ALLGATHERV, 8, false)
COLLECTIVE(neighbor_alltoall, NEIGHBOR_ALLTOALL, 7, false)
COLLECTIVE(neighbor_alltoallv, NEIGHBOR_ALLTOALLV, 9, false)
COLLECTIVE(neighbor_alltoallw, NEIGHBOR_ALLTOALLW, 9, false)

PS_EXPORT void ompi_grequest_start_f(P5, MPI_Fint *error)
{
    mpi_wait_by_turns();
    OWN(grequest_start, T5)(A5, error);
}
SPELLINGS(grequest_start, GREQUEST_START)

#else
typedef int mpi_fortran_is_c; /* C does not allow an empty file */
#endif
