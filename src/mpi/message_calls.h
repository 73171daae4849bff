/* The calls that send or receive one message. calls.c includes this file once for each type of counts. COUNT is that
 * type. CALL(name) is the name of the function that takes such counts. */

#ifndef OPEN_MPI
/* Receives a message of `bytes`, which is too long for the program's buffer, and throws it away. Then calls the
 * communicator's error handler. */
static int CALL(too_long)(MPI_Message *message, COUNT bytes, MPI_Comm comm)
{
    MPI_Request request;
    void *room = malloc((size_t)bytes);
    if (room && MPI_OWN(CALL(MPI_Imrecv))(room, bytes, MPI_BYTE, message, &request) == MPI_SUCCESS)
        mpi_finish(&request, MPI_STATUS_IGNORE);
    free(room);
    MPI_OWN(MPI_Comm_call_errhandler)(comm, MPI_ERR_TRUNCATE);
    return MPI_ERR_TRUNCATE;
}

static int CALL(receive_matched)(void *buf, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                 MPI_Status *status)
{
    MPI_Message message;
    MPI_Status seen = {0};
    MPI_Request request;
    MPI_Count size = 0;
    COUNT bytes = 0;
    /* First the same receive from MPI_PROC_NULL: MPI checks the arguments of the buffer in it, and no message is
     * matched. */
    int error = MPI_OWN(CALL(MPI_Irecv))(buf, count, type, MPI_PROC_NULL, tag, comm, &request);
    if (error)
        return error;
    MPI_OWN(MPI_Wait)(&request, MPI_STATUS_IGNORE);
    error = MPI_Mprobe(source, tag, comm, &message, &seen);
    if (error)
        return error;
    MPI_OWN(MPI_Type_size_x)(type, &size);
    MPI_OWN(CALL(MPI_Get_count))(&seen, MPI_BYTE, &bytes);
    if (size * count >= bytes) {
        error = MPI_OWN(CALL(MPI_Imrecv))(buf, count, type, &message, &request);
        return error ? error : mpi_finish(&request, status);
    }
    if (status != MPI_STATUS_IGNORE) {
        seen.MPI_ERROR = status->MPI_ERROR;
        *status = seen;
    }
    return CALL(too_long)(&message, bytes, comm);
}
#endif

static int CALL(receive)(void *buf, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Status *status)
{
#ifndef OPEN_MPI
    if (PS_UNLIKELY(source == MPI_PROC_NULL))
        return MPI_OWN(CALL(MPI_Recv))(buf, count, type, source, tag, comm, status);
    if (matches_first(source))
        return CALL(receive_matched)(buf, count, type, source, tag, comm, status);
#endif
    FINISH(MPI_OWN(CALL(MPI_Irecv))(buf, count, type, source, tag, comm, &request), status);
}

PS_EXPORT int CALL(MPI_Recv)(void *buf, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                             MPI_Status *status)
{
    return caller_can_wait() ? CALL(receive)(buf, count, type, source, tag, comm, status)
                             : MPI_OWN(CALL(MPI_Recv))(buf, count, type, source, tag, comm, status);
}

#define SENDS(name, nonblocking)                                                                                \
    PS_EXPORT int CALL(name)(const void *buf, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) \
    {                                                                                                           \
        if (!caller_can_wait())                                                                                 \
            return MPI_OWN(CALL(name))(buf, count, type, dest, tag, comm);                                      \
        FINISH(MPI_OWN(CALL(nonblocking))(buf, count, type, dest, tag, comm, &request), MPI_STATUS_IGNORE);     \
    }
SENDS(MPI_Send, MPI_Isend)
SENDS(MPI_Ssend, MPI_Issend)
SENDS(MPI_Rsend, MPI_Irsend)
#undef SENDS

PS_EXPORT int CALL(MPI_Mrecv)(void *buf, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    if (!caller_can_wait())
        return MPI_OWN(CALL(MPI_Mrecv))(buf, count, type, message, status);
    FINISH(MPI_OWN(CALL(MPI_Imrecv))(buf, count, type, message, &request), status);
}

static int CALL(receive_and_finish)(MPI_Request *send, void *buf, COUNT count, MPI_Datatype type, int source, int tag,
                                    MPI_Comm comm, MPI_Status *status)
{
    int received = CALL(receive)(buf, count, type, source, tag, comm, status);
    int sent = mpi_finish(send, MPI_STATUS_IGNORE);
    return received ? received : sent;
}

PS_EXPORT int CALL(MPI_Sendrecv)(const void *out, COUNT outcount, MPI_Datatype outtype, int dest, int outtag, void *in,
                                 COUNT incount, MPI_Datatype intype, int source, int intag, MPI_Comm comm,
                                 MPI_Status *status)
{
    if (!caller_can_wait())
        return MPI_OWN(CALL(MPI_Sendrecv))(out, outcount, outtype, dest, outtag, in, incount, intype, source, intag,
                                           comm, status);
    MPI_Request to_come, send;
    if (matches_first(source)) {
        int not_sent = MPI_OWN(CALL(MPI_Isend))(out, outcount, outtype, dest, outtag, comm, &send);
        return not_sent ? not_sent : CALL(receive_and_finish)(&send, in, incount, intype, source, intag, comm, status);
    }
    int error = MPI_OWN(CALL(MPI_Irecv))(in, incount, intype, source, intag, comm, &to_come);
    if (error)
        return error;
    int not_sent = MPI_OWN(CALL(MPI_Isend))(out, outcount, outtype, dest, outtag, comm, &send);
    /* If the send fails, no thread waits for the receive, as in MPI's own call. */
    return not_sent ? not_sent : finish_both(&to_come, &send, status);
}

PS_EXPORT int CALL(MPI_Sendrecv_replace)(void *buf, COUNT count, MPI_Datatype type, int dest, int outtag, int source,
                                         int intag, MPI_Comm comm, MPI_Status *status)
{
    COUNT bytes = 0, used = 0;
    if (!caller_can_wait() || MPI_OWN(CALL(MPI_Pack_size))(count, type, comm, &bytes))
        return MPI_OWN(CALL(MPI_Sendrecv_replace))(buf, count, type, dest, outtag, source, intag, comm, status);
    void *copy = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (!copy || MPI_OWN(CALL(MPI_Pack))(buf, count, type, copy, bytes, &used, comm)) {
        free(copy);
        return MPI_OWN(CALL(MPI_Sendrecv_replace))(buf, count, type, dest, outtag, source, intag, comm, status);
    }
    MPI_Request send;
    int error = MPI_OWN(CALL(MPI_Isend))(copy, used, mpi_packed(), dest, outtag, comm, &send);
    if (!error)
        error = CALL(receive_and_finish)(&send, buf, count, type, source, intag, comm, status);
    free(copy);
    return error;
}
