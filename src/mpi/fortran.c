/* Open MPI's Fortran calls that block: mpif.h and `use mpi` (mpi_recv_ and its spellings) and `use mpi_f08` (which
 * calls ompi_recv_f). MPICH's Fortran calls the C functions, and calls.c answers.
 *
 * Each starts Open MPI's own Fortran form of the nonblocking call, waits, and completes the request by the Fortran
 * form of test or wait. So addresses that mean something (MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE) are never
 * looked at here; handles become C's only to be asked whether they are complete. fortran_apart.c has the calls that
 * have no nonblocking form. */
#include "fortran.h"

#ifdef OPEN_MPI

#include <string.h>

#include "TAMPI.h"

/* What is defined below, for the calls that wait. */
PS_EXPORT void ompi_test_f(MPI_Fint *request, MPI_Fint *flag, void *status, MPI_Fint *error);
PS_EXPORT void ompi_testall_f(P4, MPI_Fint *error);

static MPI_Request handle(MPI_Fint request) { return MPI_OWN(MPI_Request_f2c)(request); }
static bool predefined(const void *op) { return mpi_op_predefined(MPI_OWN(MPI_Op_f2c)(*(const MPI_Fint *)op)); }
static MPI_Comm communicator(const void *comm) { return MPI_OWN(MPI_Comm_f2c)(*(const MPI_Fint *)comm); }
static MPI_Fint packed(void) { return MPI_OWN(MPI_Type_c2f)(mpi_packed()); }

static void finish(MPI_Fint *request, void *status, MPI_Fint *error)
{
    MPI_Fint flag = 0;
    *error = MPI_SUCCESS;
    OWN(test, T3)(request, &flag, status, error);
    if (flag || *error)
        return;
    MPI_Request r = handle(*request);
    mpi_await_one(&r);
    OWN(wait, T2)(request, status, error);
}

static void finish_ignored(MPI_Fint *request, MPI_Fint *error)
{
    MPI_Fint status[sizeof(MPI_Status) / sizeof(MPI_Fint) + 1];
    finish(request, status, error);
}

/* --- messages --- */

#define SENDS(lower, UPPER, nonblocking)                  \
    PS_EXPORT void ompi_##lower##_f(P6, MPI_Fint *error); \
    PS_EXPORT void ompi_##lower##_f(P6, MPI_Fint *error)  \
    {                                                     \
        MPI_Fint request;                                 \
        if (!fortran_caller_can_wait()) {                 \
            OWN(lower, T6)(A6, error);                    \
            return;                                       \
        }                                                 \
        OWN(nonblocking, T7)(A6, &request, error);        \
        if (!*error)                                      \
            finish_ignored(&request, error);              \
    }                                                     \
    SPELLINGS(lower, UPPER)

SENDS(send, SEND, isend)
SENDS(ssend, SSEND, issend)
SENDS(rsend, RSEND, irsend)

PS_EXPORT void ompi_recv_f(P6, void *status, MPI_Fint *error);
PS_EXPORT void ompi_recv_f(P6, void *status, MPI_Fint *error)
{
    MPI_Fint request;
    if (!fortran_caller_can_wait()) {
        OWN(recv, T7)(A6, status, error);
        return;
    }
    OWN(irecv, T7)(A6, &request, error);
    if (!*error)
        finish(&request, status, error);
}
SPELLINGS(recv, RECV)

PS_EXPORT void ompi_sendrecv_f(P11, void *status, MPI_Fint *error);
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

/* Until there is a message: C's probe, which looks at nothing but numbers and a handle. */
static MPI_Fint await_message(const void *source, const void *tag, const void *comm)
{
    MPI_Status seen;
    return MPI_Probe(*(const MPI_Fint *)source, *(const MPI_Fint *)tag, communicator(comm), &seen);
}

PS_EXPORT void ompi_probe_f(P3, void *status, MPI_Fint *error);
PS_EXPORT void ompi_probe_f(P3, void *status, MPI_Fint *error)
{
    MPI_Fint flag = 0;
    if (!fortran_caller_can_wait()) {
        OWN(probe, T4)(A3, status, error);
        return;
    }
    for (;
         ;) { /* a message that is there stays there: C's probe waits, Fortran's finds it and knows the status's form */
        OWN(iprobe, T5)(A3, &flag, status, error);
        if (flag || *error)
            return;
        *error = await_message(A3);
        if (*error)
            return;
    }
}
SPELLINGS(probe, PROBE)

PS_EXPORT void ompi_mprobe_f(P3, void *message, void *status, MPI_Fint *error);
PS_EXPORT void ompi_mprobe_f(P3, void *message, void *status, MPI_Fint *error)
{
    MPI_Fint flag = 0;
    if (!fortran_caller_can_wait()) {
        OWN(mprobe, T5)(A3, message, status, error);
        return;
    }
    for (;;) { /* another thread may take the message that the probe has seen */
        OWN(improbe, T6)(A3, &flag, message, status, error);
        if (flag || *error || (*error = await_message(A3)) != MPI_SUCCESS)
            return;
    }
}
SPELLINGS(mprobe, MPROBE)

PS_EXPORT void ompi_mrecv_f(P4, void *status, MPI_Fint *error);
PS_EXPORT void ompi_mrecv_f(P4, void *status, MPI_Fint *error)
{
    MPI_Fint request;
    if (!fortran_caller_can_wait()) {
        OWN(mrecv, T5)(A4, status, error);
        return;
    }
    OWN(imrecv, T5)(A4, &request, error);
    if (!*error)
        finish(&request, status, error);
}
SPELLINGS(mrecv, MRECV)

/* A copy is sent. buf, count, type, dest, sendtag, source, recvtag, comm. */
PS_EXPORT void ompi_sendrecv_replace_f(P8, void *status, MPI_Fint *error);
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
    if (!copy || *error) { /* what is wrong MPI says by its own call */
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

/* --- requests --- */

/* C's handles of Fortran's; NULL: no memory, then MPI waits itself. */
static MPI_Request *handles(MPI_Request *few, int enough, const void *count, const MPI_Fint *requests)
{
    MPI_Fint n = *(const MPI_Fint *)count;
    MPI_Request *all = n <= enough ? few : malloc((size_t)n * sizeof *all);
    for (MPI_Fint i = 0; all && i < n; i++)
        all[i] = handle(requests[i]);
    return all;
}
#define FEW 32

PS_EXPORT void ompi_wait_f(MPI_Fint *request, void *status, MPI_Fint *error);
PS_EXPORT void ompi_wait_f(MPI_Fint *request, void *status, MPI_Fint *error)
{
    MPI_Fint flag = 0;
    *error = MPI_SUCCESS;
    if (!fortran_caller_can_wait())
        OWN(wait, T2)(request, status, error);
    else if (!mpi_by_turns())
        finish(request, status, error);
    else
        while (!flag && !*error)
            ompi_test_f(request, &flag, status, error);
}
SPELLINGS(wait, WAIT)

PS_EXPORT void ompi_waitall_f(MPI_Fint *count, MPI_Fint *requests, void *statuses, MPI_Fint *error);
PS_EXPORT void ompi_waitall_f(MPI_Fint *count, MPI_Fint *requests, void *statuses, MPI_Fint *error)
{
    MPI_Fint flag = 0;
    if (fortran_caller_can_wait() && *count > 0 && mpi_by_turns()) {
        for (*error = MPI_SUCCESS; !flag && !*error;)
            ompi_testall_f(count, requests, &flag, statuses, error);
        return;
    }
    if (fortran_caller_can_wait() && *count > 0) {
        MPI_Request few[FEW], *all = handles(few, FEW, count, requests);
        if (all)
            mpi_await_all(*count, all);
        if (all != few)
            free(all);
    }
    OWN(waitall, T3)(count, requests, statuses, error);
}
SPELLINGS(waitall, WAITALL)

/* Waits until one of them is complete; not where a test finds one. test: whether a test has found any, an error among
 * them. */
static void await_any(MPI_Fint *count, MPI_Fint *requests, bool (*test)(void *), void *arg, bool *found)
{
    MPI_Request few[FEW], *all;
    struct mpi_any any;
    while (mpi_by_turns() && !(*found = test(arg)))
        mpi_tested_in_vain();
    if (*found || (*found = test(arg)) || !(all = handles(few, FEW, count, requests)))
        return;
    mpi_any_begin(&any, *count, all);
    if (!(*found = test(arg)))
        mpi_any_wait(&any);
    mpi_any_end(&any);
    if (all != few)
        free(all);
}

struct some {
    MPI_Fint *count, *requests, *out, *indices, *error;
    void *status;
};

static bool test_any(void *arg)
{
    struct some *s = arg;
    MPI_Fint flag = 0;
    OWN(testany, T5)(s->count, s->requests, s->out, &flag, s->status, s->error);
    return flag || *s->error;
}
static bool test_some(void *arg)
{
    struct some *s = arg;
    OWN(testsome, T5)(s->count, s->requests, s->out, s->indices, s->status, s->error);
    return *s->out || *s->error;
}

PS_EXPORT void ompi_waitany_f(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, void *status, MPI_Fint *error);
PS_EXPORT void ompi_waitany_f(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, void *status, MPI_Fint *error)
{
    bool found = false;
    struct some s = {count, requests, index, NULL, error, status};
    if (fortran_caller_can_wait() && *count > 0)
        await_any(count, requests, test_any, &s, &found);
    if (!found)
        OWN(waitany, T4)(count, requests, index, status, error);
}
SPELLINGS(waitany, WAITANY)

PS_EXPORT void ompi_waitsome_f(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *out, MPI_Fint *indices, void *statuses,
                               MPI_Fint *error);
PS_EXPORT void ompi_waitsome_f(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *out, MPI_Fint *indices, void *statuses,
                               MPI_Fint *error)
{
    bool found = false;
    struct some s = {count, requests, out, indices, error, statuses};
    if (fortran_caller_can_wait() && *count > 0)
        await_any(count, requests, test_some, &s, &found);
    if (!found)
        OWN(waitsome, T5)(count, requests, out, indices, statuses, error);
}
SPELLINGS(waitsome, WAITSOME)

PS_EXPORT void ompi_test_f(MPI_Fint *request, MPI_Fint *flag, void *status, MPI_Fint *error)
{
    bool aware = mpi_aware();
    OWN(test, T3)(request, flag, status, error);
    if (aware && !*flag && !*error)
        mpi_tested_in_vain();
}
SPELLINGS(test, TEST)

/* n: of its arguments before the error; flag: the one that says whether it has found something. */
#define TESTS(lower, UPPER, n, flag)                        \
    PS_EXPORT void ompi_##lower##_f(P##n, MPI_Fint *error); \
    PS_EXPORT void ompi_##lower##_f(P##n, MPI_Fint *error)  \
    {                                                       \
        bool aware = mpi_aware();                           \
        OWN(lower, T##n)(A##n, error);                      \
        if (aware && !*(MPI_Fint *)(flag) && !*error)       \
            mpi_tested_in_vain();                           \
    }                                                       \
    SPELLINGS(lower, UPPER)

TESTS(testall, TESTALL, 4, c)
TESTS(testany, TESTANY, 5, d)
TESTS(testsome, TESTSOME, 5, c)
TESTS(iprobe, IPROBE, 5, d)
TESTS(improbe, IMPROBE, 6, d)
TESTS(request_get_status, REQUEST_GET_STATUS, 3, b)
TESTS(win_test, WIN_TEST, 2, b)

/* --- writing to files that is not collective --- */

/* n: of its arguments before the status. */
#define FILE_ACCESS(lower, UPPER, nonblocking, n)                         \
    PS_EXPORT void ompi_##lower##_f(P##n, void *status, MPI_Fint *error); \
    PS_EXPORT void ompi_##lower##_f(P##n, void *status, MPI_Fint *error)  \
    {                                                                     \
        MPI_Fint request;                                                 \
        if (!fortran_caller_can_wait()) {                                 \
            OWN(lower, T##n, void *)(A##n, status, error);                \
            return;                                                       \
        }                                                                 \
        OWN(nonblocking, T##n, void *)(A##n, &request, error);            \
        if (!*error)                                                      \
            finish(&request, status, error);                              \
    }                                                                     \
    SPELLINGS(lower, UPPER)

FILE_ACCESS(file_write, FILE_WRITE, file_iwrite, 4)
FILE_ACCESS(file_write_at, FILE_WRITE_AT, file_iwrite_at, 5)
FILE_ACCESS(file_write_shared, FILE_WRITE_SHARED, file_iwrite_shared, 4)

/* --- collective calls: the same form as C's, in all ranks --- */

#define COLLECTIVE(lower, UPPER, n, own)                    \
    PS_EXPORT void ompi_##lower##_f(P##n, MPI_Fint *error); \
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

/* Only to know of functions of the program's. n: of its arguments before the error. */
#define REDUCTION(lower, UPPER, n, op)                      \
    PS_EXPORT void ompi_##lower##_f(P##n, MPI_Fint *error); \
    PS_EXPORT void ompi_##lower##_f(P##n, MPI_Fint *error)  \
    {                                                       \
        if (mpi_aware() && !predefined(op))                 \
            mpi_note_function();                            \
        OWN(lower, T##n)(A##n, error);                      \
    }                                                       \
    SPELLINGS(lower, UPPER)

REDUCTION(ireduce, IREDUCE, 8, e)
REDUCTION(iallreduce, IALLREDUCE, 7, e)
REDUCTION(ireduce_scatter, IREDUCE_SCATTER, 7, e)
REDUCTION(ireduce_scatter_block, IREDUCE_SCATTER_BLOCK, 7, e)
REDUCTION(iscan, ISCAN, 7, e)
REDUCTION(iexscan, IEXSCAN, 7, e)

PS_EXPORT void ompi_grequest_start_f(P5, MPI_Fint *error);
PS_EXPORT void ompi_grequest_start_f(P5, MPI_Fint *error)
{
    mpi_wait_by_turns();
    OWN(grequest_start, T5)(A5, error);
}
SPELLINGS(grequest_start, GREQUEST_START)

/* --- beginning and end --- */

PS_EXPORT void ompi_init_thread_f(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error);
PS_EXPORT void ompi_init_thread_f(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error)
{
    MPI_Fint multiple = MPI_THREAD_MULTIPLE;
    bool tasks = *required == MPI_TASK_MULTIPLE;
    OWN(init_thread, T2)(tasks ? &multiple : required, provided, error);
    if (mpi_mode_now() == MPI_AWARE && tasks && !*error)
        *provided = MPI_TASK_MULTIPLE;
}
SPELLINGS(init_thread, INIT_THREAD)

PS_EXPORT void ompi_finalize_f(MPI_Fint *error);
PS_EXPORT void ompi_finalize_f(MPI_Fint *error) { *error = MPI_Finalize(); }
SPELLINGS(finalize, FINALIZE)

#else
typedef int mpi_fortran_is_c; /* an empty file is no C */
#endif
