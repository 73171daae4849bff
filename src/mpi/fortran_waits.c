/* Fortran's calls that wait for existing messages and requests, and the beginning and end of MPI. For Open MPI these
 * are the calls of mpif.h and its modules, for MPICH those of mpi_f08. (MPICH's mpif.h and `use mpi` call the C
 * functions.)
 *
 * A function that waits for requests first waits for them, then calls MPI's own Fortran procedure, which no longer
 * blocks. (While threads wait by turns, see calls.c, it calls MPI's own test until that finds something.) So only MPI's
 * own procedures need to know statuses and the addresses that stand for "no status". Handles are converted to C's only
 * to ask whether they are complete. */
#include "fortran.h"

#include "TAMPI.h"

#ifdef OPEN_MPI
#define WAITS(lower, UPPER, ...)                              \
    PS_EXPORT void ompi_##lower##_f(__VA_ARGS__, MPI_Fint *); \
    SPELLINGS(lower, UPPER)                                   \
    PS_EXPORT void ompi_##lower##_f(__VA_ARGS__, MPI_Fint *wanted)
static MPI_Request handle(MPI_Fint request) { return MPI_OWN(MPI_Request_f2c)(request); }
static MPI_Comm communicator(MPI_Fint comm) { return MPI_OWN(MPI_Comm_f2c)(comm); }
#else
#define OWN(lower, ...) OWN_SYMBOL("mpi_" #lower "_f08_", __VA_ARGS__, MPI_Fint *)
#define WAITS(lower, UPPER, ...) PS_EXPORT void mpi_##lower##_f08_(__VA_ARGS__, MPI_Fint *wanted)
/* MPICH's Fortran handles are the same numbers as C's. */
_Static_assert(sizeof(MPI_Request) == sizeof(MPI_Fint) && sizeof(MPI_Comm) == sizeof(MPI_Fint), "MPICH's handles");
static MPI_Request handle(MPI_Fint request) { return request; }
static MPI_Comm communicator(MPI_Fint comm) { return comm; }
#endif

/* --- beginning and end --- */

WAITS(init_thread, INIT_THREAD, MPI_Fint *required, MPI_Fint *provided)
{
    MPI_Fint multiple = MPI_THREAD_MULTIPLE, error = MPI_SUCCESS;
    bool tasks = *required == MPI_TASK_MULTIPLE;
    OWN(init_thread, T2)(tasks ? &multiple : required, provided, &error);
    if (mpi_mode_now() == MPI_AWARE && tasks && !error)
        *provided = MPI_TASK_MULTIPLE;
    answer_error(wanted, error);
}

#ifdef OPEN_MPI
PS_EXPORT void ompi_finalize_f(MPI_Fint *error) { *error = MPI_Finalize(); }
SPELLINGS(finalize, FINALIZE)
#else
PS_EXPORT void mpi_finalize_f08_(MPI_Fint *wanted) { answer_error(wanted, MPI_Finalize()); }
#endif

/* --- probes --- */

/* Waits until a matching message is there, by C's probe. C's probe gets only numbers and a handle, so it needs none of
 * Fortran's special addresses. */
static MPI_Fint await_message(const MPI_Fint *source, const MPI_Fint *tag, const MPI_Fint *comm)
{
    MPI_Status seen;
    return MPI_Probe(*source, *tag, communicator(*comm), &seen);
}

WAITS(probe, PROBE, MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, void *status)
{
    MPI_Fint flag = 0, error = MPI_SUCCESS;
    if (!fortran_caller_can_wait())
        OWN(probe, T4)(source, tag, comm, status, &error);
    else
        /* A loop, because another thread may take the message that C's probe has seen. */
        do
            OWN(iprobe, T5)(source, tag, comm, &flag, status, &error);
        while (!flag && !error && (error = await_message(source, tag, comm)) == MPI_SUCCESS);
    answer_error(wanted, error);
}

WAITS(mprobe, MPROBE, MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, void *message, void *status)
{
    MPI_Fint flag = 0, error = MPI_SUCCESS;
    if (!fortran_caller_can_wait())
        OWN(mprobe, T5)(source, tag, comm, message, status, &error);
    else
        do
            OWN(improbe, T6)(source, tag, comm, &flag, message, status, &error);
        while (!flag && !error && (error = await_message(source, tag, comm)) == MPI_SUCCESS);
    answer_error(wanted, error);
}

/* --- requests --- */

/* Returns C's handles for Fortran's: in `few`, or in memory that the caller frees. NULL: no memory; the caller then
 * lets MPI's own call wait. */
#define FEW 32
static MPI_Request *handles(MPI_Request few[FEW], MPI_Fint n, const MPI_Fint *requests)
{
    MPI_Request *all = n <= FEW ? few : malloc((size_t)n * sizeof *all);
    for (MPI_Fint i = 0; all && i < n; i++)
        all[i] = handle(requests[i]);
    return all;
}

static void await_all(MPI_Fint n, const MPI_Fint *requests)
{
    MPI_Request few[FEW], *all = handles(few, n, requests);
    if (all)
        mpi_await_all(n, all);
    if (all != few)
        free(all);
}

WAITS(wait, WAIT, MPI_Fint *request, void *status)
{
    MPI_Fint flag = 0, error = MPI_SUCCESS;
    bool waits = fortran_caller_can_wait(), by_turns = waits && mpi_by_turns();
    while (by_turns && !flag && !error) {
        OWN(test, T3)(request, &flag, status, &error);
        if (!flag && !error)
            mpi_tested_in_vain();
    }
    if (waits && !by_turns)
        await_all(1, request);
    if (!by_turns)
        OWN(wait, T2)(request, status, &error);
    answer_error(wanted, error);
}

WAITS(waitall, WAITALL, MPI_Fint *count, MPI_Fint *requests, void *statuses)
{
    MPI_Fint flag = 0, error = MPI_SUCCESS;
    bool waits = fortran_caller_can_wait() && *count > 0, by_turns = waits && mpi_by_turns();
    while (by_turns && !flag && !error) {
        OWN(testall, T4)(count, requests, &flag, statuses, &error);
        if (!flag && !error)
            mpi_tested_in_vain();
    }
    if (waits && !by_turns)
        await_all(*count, requests);
    if (!by_turns)
        OWN(waitall, T3)(count, requests, statuses, &error);
    answer_error(wanted, error);
}

struct some {
    MPI_Fint *count, *requests, *out, *indices, error;
    void *status;
};

static bool found_any(struct some *s)
{
    MPI_Fint flag = 0;
    OWN(testany, T5)(s->count, s->requests, s->out, &flag, s->status, &s->error);
    return flag || s->error;
}
static bool found_some(struct some *s)
{
    *s->out = 0;
    OWN(testsome, T5)(s->count, s->requests, s->out, s->indices, s->status, &s->error);
    return *s->out || s->error;
}

/* Returns true if a test (found) has completed a request, or has failed: then the call is done. Otherwise waits until
 * one of the requests is complete, and returns false: the caller must still call MPI's own wait. Returns false without
 * waiting if the caller cannot wait, or there is no memory for the handles. */
static bool await_any(struct some *s, bool (*found)(struct some *))
{
    MPI_Request few[FEW], *all;
    struct mpi_any any;
    if (!fortran_caller_can_wait() || *s->count <= 0)
        return false;
    while (mpi_by_turns()) {
        if (found(s))
            return true;
        mpi_tested_in_vain();
    }
    if (found(s))
        return true;
    if (!(all = handles(few, *s->count, s->requests)))
        return false;
    mpi_any_begin(&any, *s->count, all);
    bool yes = found(s);
    if (!yes)
        mpi_any_wait(&any);
    mpi_any_end(&any);
    if (all != few)
        free(all);
    return yes;
}

WAITS(waitany, WAITANY, MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, void *status)
{
    struct some s = {count, requests, index, NULL, MPI_SUCCESS, status};
    if (!await_any(&s, found_any))
        OWN(waitany, T4)(count, requests, index, status, &s.error);
    answer_error(wanted, s.error);
}

WAITS(waitsome, WAITSOME, MPI_Fint *count, MPI_Fint *requests, MPI_Fint *out, MPI_Fint *indices, void *statuses)
{
    struct some s = {count, requests, out, indices, MPI_SUCCESS, statuses};
    if (!await_any(&s, found_some))
        OWN(waitsome, T5)(count, requests, out, indices, statuses, &s.error);
    answer_error(wanted, s.error);
}
