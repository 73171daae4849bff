/* The calls of the module mpi_f08 that wait or test, and go to PMPI directly, past all libraries before MPI: with MPICH
 * those without a buffer, with Open MPI those with a LOGICAL. They are answered by the names that the compiler gives to
 * the module's specific procedures. Each call waits first, and then calls the module's own procedure, which no longer
 * blocks. So statuses, and the addresses that stand for none, are the module's own affair. An error argument that the
 * program leaves out has no address. See fortran_apart.c for the calls without a nonblocking form. */
#include "fortran.h"

#include "TAMPI.h"

/* The module's own procedure; ...: the types of its arguments. */
#define OWN08(lower, ...) OWN_SYMBOL("mpi_" #lower "_f08_", __VA_ARGS__)

static void answer_error(MPI_Fint *wanted, MPI_Fint error)
{
    if (wanted)
        *wanted = error;
}

/* n: of its arguments before the error; flag: the one that says whether it has found something. */
#define TESTS(lower, n, flag)                                  \
    PS_EXPORT void mpi_##lower##_f08_(P##n, MPI_Fint *wanted); \
    PS_EXPORT void mpi_##lower##_f08_(P##n, MPI_Fint *wanted)  \
    {                                                          \
        MPI_Fint error = MPI_SUCCESS;                          \
        bool aware = mpi_aware();                              \
        OWN08(lower, T##n, MPI_Fint *)(A##n, &error);          \
        if (aware && !*(MPI_Fint *)(flag) && !error)           \
            mpi_tested_in_vain();                              \
        answer_error(wanted, error);                           \
    }

TESTS(test, 3, b)
TESTS(testall, 4, c)
TESTS(testany, 5, d)
TESTS(testsome, 5, c)
TESTS(iprobe, 5, d)
TESTS(improbe, 6, d)
TESTS(request_get_status, 3, b)
TESTS(win_test, 2, b)

#ifndef OPEN_MPI
TESTS(parrived, 3, c)

/* A handle is the number that C has. */
_Static_assert(sizeof(MPI_Request) == sizeof(MPI_Fint) && sizeof(MPI_Comm) == sizeof(MPI_Fint), "MPICH's handles");

/* --- beginning and end --- */

PS_EXPORT void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *wanted);
PS_EXPORT void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *wanted)
{
    MPI_Fint multiple = MPI_THREAD_MULTIPLE, error = MPI_SUCCESS;
    bool tasks = *required == MPI_TASK_MULTIPLE;
    OWN08(init_thread, T2, MPI_Fint *)(tasks ? &multiple : required, provided, &error);
    if (mpi_mode_now() == MPI_AWARE && tasks && !error)
        *provided = MPI_TASK_MULTIPLE;
    answer_error(wanted, error);
}

PS_EXPORT void mpi_finalize_f08_(MPI_Fint *wanted);
PS_EXPORT void mpi_finalize_f08_(MPI_Fint *wanted) { answer_error(wanted, MPI_Finalize()); }

PS_EXPORT void mpi_comm_set_errhandler_f08_(T2, MPI_Fint *wanted);
PS_EXPORT void mpi_comm_set_errhandler_f08_(P2, MPI_Fint *wanted)
{
    mpi_note_handler();
    OWN08(comm_set_errhandler, T2, MPI_Fint *)(A2, wanted);
}

PS_EXPORT void mpi_file_open_f08_(T7);
PS_EXPORT void mpi_file_open_f08_(P7)
{
    mpi_go_apart();
    mpi_wait_by_turns();
    OWN08(file_open, T7)(A7);
}

/* --- waits --- */

PS_EXPORT void mpi_barrier_f08_(const MPI_Comm *comm, MPI_Fint *wanted);
PS_EXPORT void mpi_barrier_f08_(const MPI_Comm *comm, MPI_Fint *wanted) { answer_error(wanted, MPI_Barrier(*comm)); }

PS_EXPORT void mpi_wait_f08_(MPI_Request *request, void *status, MPI_Fint *wanted);
PS_EXPORT void mpi_wait_f08_(MPI_Request *request, void *status, MPI_Fint *wanted)
{
    MPI_Fint flag = 0, error = MPI_SUCCESS;
    if (!fortran_caller_can_wait() || !mpi_by_turns()) {
        if (fortran_caller_can_wait())
            mpi_await_one(request);
        OWN08(wait, T2, MPI_Fint *)(request, status, wanted);
        return;
    }
    while (!flag && !error)
        mpi_test_f08_(request, &flag, status, &error);
    answer_error(wanted, error);
}

PS_EXPORT void mpi_waitall_f08_(MPI_Fint *count, MPI_Request *requests, void *statuses, MPI_Fint *wanted);
PS_EXPORT void mpi_waitall_f08_(MPI_Fint *count, MPI_Request *requests, void *statuses, MPI_Fint *wanted)
{
    MPI_Fint flag = 0, error = MPI_SUCCESS;
    if (!fortran_caller_can_wait() || *count <= 0 || !mpi_by_turns()) {
        if (fortran_caller_can_wait() && *count > 0)
            mpi_await_all(*count, requests);
        OWN08(waitall, T3, MPI_Fint *)(count, requests, statuses, wanted);
        return;
    }
    while (!flag && !error)
        mpi_testall_f08_(count, requests, &flag, statuses, &error);
    answer_error(wanted, error);
}

struct some08 {
    MPI_Fint *count, *out, *indices, error;
    MPI_Request *requests;
    void *status;
};

static bool found_any(struct some08 *s)
{
    MPI_Fint flag = 0;
    OWN08(testany, T5, MPI_Fint *)(s->count, s->requests, s->out, &flag, s->status, &s->error);
    return flag || s->error;
}
static bool found_some(struct some08 *s)
{
    *s->out = 0;
    OWN08(testsome, T5, MPI_Fint *)(s->count, s->requests, s->out, s->indices, s->status, &s->error);
    return *s->out || s->error;
}

/* Until a test finds something, or one of the requests is complete; whether a test has found it. */
static bool await_any08(struct some08 *s, bool (*found)(struct some08 *))
{
    struct mpi_any any;
    while (mpi_by_turns()) {
        if (found(s))
            return true;
        mpi_tested_in_vain();
    }
    if (found(s))
        return true;
    mpi_any_begin(&any, *s->count, s->requests);
    bool yes = found(s);
    if (!yes)
        mpi_any_wait(&any);
    mpi_any_end(&any);
    return yes;
}

PS_EXPORT void mpi_waitany_f08_(MPI_Fint *count, MPI_Request *requests, MPI_Fint *index, void *status,
                                MPI_Fint *wanted);
PS_EXPORT void mpi_waitany_f08_(MPI_Fint *count, MPI_Request *requests, MPI_Fint *index, void *status, MPI_Fint *wanted)
{
    struct some08 s = {count, index, NULL, MPI_SUCCESS, requests, status};
    if (fortran_caller_can_wait() && *count > 0 && await_any08(&s, found_any))
        answer_error(wanted, s.error);
    else
        OWN08(waitany, T4, MPI_Fint *)(count, requests, index, status, wanted);
}

PS_EXPORT void mpi_waitsome_f08_(MPI_Fint *count, MPI_Request *requests, MPI_Fint *out, MPI_Fint *indices,
                                 void *statuses, MPI_Fint *wanted);
PS_EXPORT void mpi_waitsome_f08_(MPI_Fint *count, MPI_Request *requests, MPI_Fint *out, MPI_Fint *indices,
                                 void *statuses, MPI_Fint *wanted)
{
    struct some08 s = {count, out, indices, MPI_SUCCESS, requests, statuses};
    if (fortran_caller_can_wait() && *count > 0 && await_any08(&s, found_some))
        answer_error(wanted, s.error);
    else
        OWN08(waitsome, T5, MPI_Fint *)(count, requests, out, indices, statuses, wanted);
}

/* --- probes --- */

/* Until there is a message: C's probe, which looks at nothing but numbers and a handle. */
static MPI_Fint await_message08(const MPI_Fint *source, const MPI_Fint *tag, const MPI_Comm *comm)
{
    MPI_Status seen;
    return MPI_Probe(*source, *tag, *comm, &seen);
}

PS_EXPORT void mpi_probe_f08_(MPI_Fint *source, MPI_Fint *tag, MPI_Comm *comm, void *status, MPI_Fint *wanted);
PS_EXPORT void mpi_probe_f08_(MPI_Fint *source, MPI_Fint *tag, MPI_Comm *comm, void *status, MPI_Fint *wanted)
{
    MPI_Fint flag = 0, error = MPI_SUCCESS;
    if (!fortran_caller_can_wait()) {
        OWN08(probe, T4, MPI_Fint *)(source, tag, comm, status, wanted);
        return;
    }
    for (;;) { /* another thread may take the message that C's probe has seen */
        OWN08(iprobe, T5, MPI_Fint *)(source, tag, comm, &flag, status, &error);
        if (flag || error || (error = await_message08(source, tag, comm)) != MPI_SUCCESS)
            break;
    }
    answer_error(wanted, error);
}

PS_EXPORT void mpi_mprobe_f08_(MPI_Fint *source, MPI_Fint *tag, MPI_Comm *comm, void *message, void *status,
                               MPI_Fint *wanted);
PS_EXPORT void mpi_mprobe_f08_(MPI_Fint *source, MPI_Fint *tag, MPI_Comm *comm, void *message, void *status,
                               MPI_Fint *wanted)
{
    MPI_Fint flag = 0, error = MPI_SUCCESS;
    if (!fortran_caller_can_wait()) {
        OWN08(mprobe, T5, MPI_Fint *)(source, tag, comm, message, status, wanted);
        return;
    }
    for (;;) {
        OWN08(improbe, T6, MPI_Fint *)(source, tag, comm, &flag, message, status, &error);
        if (flag || error || (error = await_message08(source, tag, comm)) != MPI_SUCCESS)
            break;
    }
    answer_error(wanted, error);
}
#endif
