/* C's blocking calls between two processes, and the calls that wait and test: see mpi_layer.h.
 *
 * If the mode is not MPI_AWARE, or the caller is no thread of psthreads, the call goes to MPI unchanged. Otherwise it
 * becomes calls that do not block, and a wait of the thread between them. */
#include "mpi_layer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "TAMPI.h"

/* --- beginning and end --- */

/* When MPI_Init ended, by CLOCK_MONOTONIC. 0: it has not ended, or was called by a Fortran interface that does not call
 * the C function. src/trace reads this time and aligns the recordings of all ranks by it, because MPI_Init ends at
 * about the same instant in all of them. */
PS_EXPORT uint64_t psthreads_mpi_init_ns;

static void init_has_ended(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    psthreads_mpi_init_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

PS_EXPORT int MPI_Init(int *argc, char ***argv)
{
    mpi_mode_now(); /* finds MPI's own functions, which the next line calls */
    int error = MPI_OWN(MPI_Init)(argc, argv);
    init_has_ended();
    mpi_mode_now();
    return error;
}

PS_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    mpi_mode_now();
    bool tasks = required == MPI_TASK_MULTIPLE;
    int error = MPI_OWN(MPI_Init_thread)(argc, argv, tasks ? MPI_THREAD_MULTIPLE : required, provided);
    init_has_ended();
    if (mpi_mode_now() == MPI_AWARE && tasks && !error)
        *provided = MPI_TASK_MULTIPLE;
    return error;
}

PS_EXPORT int MPI_Finalize(void)
{
    mpi_mode_now();
    if (mpi_aware()) {
        unsigned n = mpi_waiting();
        if (n)
            fprintf(stderr, "psthreads: MPI_Finalize is called while %u threads wait in MPI: they wait for ever\n", n);
        mpi_mode_over();
        mpi_stop_polling();
    }
    return MPI_OWN(MPI_Finalize)();
}

/* --- one message --- */

/* Returns whether the caller is a thread that can wait without a vp. */
static inline bool caller_can_wait(void)
{
    void *thread;
    return mpi_aware() && mpi_threads(&thread) != NULL;
}

/* The end of a blocking call. Makes `call`, a nonblocking call that starts `request`, and waits for the request.
 * Returns from the enclosing function, with the error of either. */
#define FINISH(call, status)                 \
    do {                                     \
        MPI_Request request;                 \
        int error = (call);                  \
        if (PS_UNLIKELY(error))              \
            return error;                    \
        return mpi_finish(&request, status); \
    } while (0)

/* If a request fails, MPICH calls the error handler of MPI_COMM_WORLD, not that of the request's communicator. So once
 * the program has set any handler, a receive first matches its message, then looks at its length. If the message is too
 * long, the receive itself calls the communicator's handler. */
#ifndef OPEN_MPI
static _Atomic bool handlers_set;

void mpi_note_handler(void) { ps_store_relaxed(&handlers_set, true); }

PS_EXPORT int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    mpi_aware();
    mpi_note_handler();
    return MPI_OWN(MPI_Comm_set_errhandler)(comm, handler);
}
#endif

/* Returns whether a receive from `source` must not be made by MPI_Irecv alone. From MPI_PROC_NULL the receive then goes
 * to MPI unchanged. From other sources it matches its message first (receive_matched). */
static inline bool matches_first(int source)
{
#ifdef OPEN_MPI
    (void)source;
    return false;
#else
    /* With MPICH the request of a receive from MPI_PROC_NULL has a wrong status. */
    return PS_UNLIKELY(ps_load_relaxed(&handlers_set)) || source == MPI_PROC_NULL;
#endif
}

/* Completes both requests. Returns the receive's error if there is one, else the send's. */
static int finish_both(MPI_Request *receive, MPI_Request *send, MPI_Status *status)
{
    int sent = mpi_finish(send, MPI_STATUS_IGNORE);
    int received = mpi_finish(receive, status);
    return received ? received : sent;
}

#define CALL(name) name
#define COUNT int
#include "message_calls.h"
#undef CALL
#undef COUNT

#if MPI_VERSION >= 4
#define CALL(name) name##_c
#define COUNT MPI_Count
#include "message_calls.h"
#endif

/* --- probes --- */

static bool look_probe(struct mpi_wait *wait)
{
    if (!wait->flag)
        wait->error = MPI_OWN(MPI_Iprobe)(wait->source, wait->tag, wait->comm, &wait->flag, &wait->status);
    return wait->flag || wait->error;
}

static bool look_mprobe(struct mpi_wait *wait)
{
    if (!wait->flag)
        wait->error =
            MPI_OWN(MPI_Improbe)(wait->source, wait->tag, wait->comm, &wait->flag, &wait->message, &wait->status);
    return wait->flag || wait->error;
}

static int probe_once(struct mpi_wait *wait, MPI_Status *status)
{
    /* The caller itself looks first, so that MPI reports a wrong argument on the caller's thread. */
    if (!wait->look(wait))
        mpi_await(wait);
    if (!wait->error && status != MPI_STATUS_IGNORE) {
        int error = status->MPI_ERROR; /* only calls with several statuses set MPI_ERROR */
        *status = wait->status;
        status->MPI_ERROR = error;
    }
    return wait->error;
}

PS_EXPORT int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct mpi_wait wait = {.look = look_probe, .source = source, .tag = tag, .comm = comm};
    return mpi_aware() && mpi_can_wait(&wait) ? probe_once(&wait, status)
                                              : MPI_OWN(MPI_Probe)(source, tag, comm, status);
}

PS_EXPORT int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    struct mpi_wait wait = {.look = look_mprobe, .source = source, .tag = tag, .comm = comm};
    if (!mpi_aware() || !mpi_can_wait(&wait))
        return MPI_OWN(MPI_Mprobe)(source, tag, comm, message, status);
    int error = probe_once(&wait, status);
    if (!error)
        *message = wait.message;
    return error;
}

/* --- requests --- */

/* Threads that wait for the program's requests normally block, and the polling thread looks at the requests. After
 * either of two events they no longer block, but test the requests themselves, by turns with their vp's other threads.
 *   The first file is opened, with MPICH. MPICH completes a file's requests in MPI_Test and MPI_Wait alone;
 *   MPI_Request_get_status never says that they are complete.
 *   The first generalized request is started. A look of the polling thread would call the program's query function
 *   once more. */
static _Atomic bool in_turns;

void mpi_wait_by_turns(void) { ps_store_relaxed(&in_turns, true); }

static inline bool by_turns(void) { return PS_UNLIKELY(ps_load_relaxed(&in_turns)); }
bool mpi_by_turns(void) { return by_turns(); }

PS_EXPORT int MPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free_it,
                                 MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request)
{
    mpi_aware();
    mpi_wait_by_turns();
    return MPI_OWN(MPI_Grequest_start)(query, free_it, cancel, extra, request);
}

PS_EXPORT int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
    mpi_go_apart(); /* opening is collective, and has no nonblocking form */
#ifndef OPEN_MPI
    mpi_wait_by_turns();
#endif
    return MPI_OWN(MPI_File_open)(comm, name, mode, info, file);
}

PS_EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int flag = 0, error = MPI_SUCCESS;
    if (!caller_can_wait() || !request)
        return MPI_OWN(MPI_Wait)(request, status);
    if (!by_turns())
        return mpi_finish(request, status);
    while (!flag && !error)
        error = MPI_Test(request, &flag, status);
    return error;
}

PS_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int flag = 0, error = MPI_SUCCESS;
    if (!caller_can_wait() || count <= 0 || !requests)
        return MPI_OWN(MPI_Waitall)(count, requests, statuses);
    if (!by_turns()) {
        mpi_await_all(count, requests);
        return MPI_OWN(MPI_Waitall)(count, requests, statuses);
    }
    while (!flag && !error)
        error = MPI_Testall(count, requests, &flag, statuses);
    return error;
}

PS_EXPORT int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    int flag = 0, error = MPI_SUCCESS;
    if (!caller_can_wait() || count <= 0 || !requests)
        return MPI_OWN(MPI_Waitany)(count, requests, index, status);
    while (by_turns() && !flag && !error)
        error = MPI_Testany(count, requests, index, &flag, status);
    if (error || flag)
        return error;
    error = MPI_OWN(MPI_Testany)(count, requests, index, &flag, status);
    if (error || flag)
        return error;
    struct mpi_any any;
    mpi_any_begin(&any, count, requests);
    error = MPI_OWN(MPI_Testany)(count, requests, index, &flag, status);
    if (!error && !flag) {
        mpi_any_wait(&any);
        error = MPI_OWN(MPI_Waitany)(count, requests, index, status);
    }
    mpi_any_end(&any);
    return error;
}

PS_EXPORT int MPI_Waitsome(int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    int error = MPI_SUCCESS;
    if (!caller_can_wait() || count <= 0 || !requests)
        return MPI_OWN(MPI_Waitsome)(count, requests, outcount, indices, statuses);
    *outcount = 0;
    while (by_turns() && !*outcount && !error)
        error = MPI_Testsome(count, requests, outcount, indices, statuses);
    if (error || *outcount)
        return error;
    error = MPI_OWN(MPI_Testsome)(count, requests, outcount, indices, statuses);
    if (error || *outcount) /* MPI_UNDEFINED, which is not 0, says that no request is active */
        return error;
    struct mpi_any any;
    mpi_any_begin(&any, count, requests);
    error = MPI_OWN(MPI_Testsome)(count, requests, outcount, indices, statuses);
    if (!error && !*outcount) {
        mpi_any_wait(&any);
        error = MPI_OWN(MPI_Waitsome)(count, requests, outcount, indices, statuses);
    }
    mpi_any_end(&any);
    return error;
}

/* --- tests --- */

/* The tests for C. A thread whose test finds nothing lets another thread run. found: an expression that is true if the
 * test has found something. */
#define TEST(name, found, parameters, ...)            \
    PS_EXPORT int MPI_##name parameters               \
    {                                                 \
        bool aware = mpi_aware();                     \
        int error = MPI_OWN(MPI_##name)(__VA_ARGS__); \
        if (aware && !error && !(found))              \
            mpi_tested_in_vain();                     \
        return error;                                 \
    }

TEST(Iprobe, *flag, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status), source, tag, comm, flag,
     status)
TEST(Improbe, *flag, (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status), source,
     tag, comm, flag, message, status)
TEST(Test, *flag, (MPI_Request * request, int *flag, MPI_Status *status), request, flag, status)
TEST(Testall, *flag, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]), count, requests, flag,
     statuses)
TEST(Testany, *flag, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status), count, requests,
     index, flag, status)
TEST(Testsome, *outcount != 0, (int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]),
     count, requests, outcount, indices, statuses)
TEST(Request_get_status, *flag, (MPI_Request request, int *flag, MPI_Status *status), request, flag, status)
TEST(Win_test, *flag, (MPI_Win win, int *flag), win, flag)
#if MPI_VERSION >= 4
TEST(Parrived, *flag, (MPI_Request request, int partition, int *flag), request, partition, flag)
#endif
