/* What the MPI standard says at the edges of calls that wait: messages that are too long, nothing at all, any source
 * and any tag, MPI_IN_PLACE, derived types, errors in collective calls, intercommunicators, tests that find something.
 * By several threads at once, each on a communicator of its own. Two ranks or more. Run plainly it must pass too. */
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == MPI_SUCCESS)
#define THREADS 4
static int me, n;

static int class_of(int error)
{
    int class = -1;
    return MPI_Error_class(error, &class) == MPI_SUCCESS ? class : -1;
}
/* Whether a request reports a message that was too long when it came later than the request: Open MPI 4.1 does not
 * where the message comes from the rank itself. */
#ifdef OPEN_MPI
#define REPORTED 0
#else
#define REPORTED 1
#endif
#define FAILS(call, class) CHECK(class_of(call) == (class))

/* Each way to receive, and a message of four numbers where one is expected; what follows is received as ever. */
static void truncated(MPI_Comm c)
{
    int four[4] = {1, 2, 3, 4}, in[2] = {0, 77}, next = 9, flag;
    MPI_Request r[2];
    MPI_Status s[2];
    OK(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN));
    for (int coming = 0; coming <= REPORTED; coming++) { /* there already; coming while the receiver waits */
        MPI_Request send;
        if (!coming) {
            OK(MPI_Isend(four, 4, MPI_INT, me, 1, c, &send));
            OK(MPI_Irecv(in, 1, MPI_INT, me, 1, c, &r[0]));
        } else {
            OK(MPI_Irecv(in, 1, MPI_INT, me, 1, c, &r[0]));
            OK(MPI_Isend(four, 4, MPI_INT, me, 1, c, &send));
        }
        FAILS(MPI_Wait(&r[0], &s[0]), MPI_ERR_TRUNCATE);
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        /* of several requests: in the status of the one */
        OK(MPI_Irecv(in, 1, MPI_INT, me, 2, c, &r[0]));
        OK(MPI_Irecv(&next, 1, MPI_INT, me, 3, c, &r[1]));
        OK(MPI_Isend(four, 4, MPI_INT, me, 2, c, &send));
        OK(MPI_Send(&four[2], 1, MPI_INT, me, 3, c));
        int error = MPI_Waitall(2, r, s);
#ifdef OPEN_MPI /* 4.1 says of the whole that all is well, and nothing in the statuses */
        CHECK(error == MPI_SUCCESS || class_of(error) == MPI_ERR_IN_STATUS);
#else
        CHECK(class_of(error) == MPI_ERR_IN_STATUS && class_of(s[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
#endif
        if (r[1] != MPI_REQUEST_NULL)
            OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
        CHECK(next == 3);
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    CHECK(in[1] == 77);
    MPI_Request send;
    OK(MPI_Isend(four, 4, MPI_INT, me, 4, c, &send));
    FAILS(MPI_Sendrecv(four, 1, MPI_INT, MPI_PROC_NULL, 4, in, 1, MPI_INT, me, 4, c, &s[0]), MPI_ERR_TRUNCATE);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    MPI_Message m;
    OK(MPI_Isend(four, 4, MPI_INT, me, 5, c, &send));
    OK(MPI_Mprobe(me, 5, c, &m, &s[0]));
    FAILS(MPI_Mrecv(in, 1, MPI_INT, &m, &s[0]), MPI_ERR_TRUNCATE);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Iprobe(me, MPI_ANY_TAG, c, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag && in[1] == 77); /* none is left */
    OK(MPI_Comm_set_errhandler(c, MPI_ERRORS_ARE_FATAL));
}

static void wrong_arguments(MPI_Comm c)
{
    int one = 1, in = 0;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    MPI_Message m;
    OK(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN));
    FAILS(MPI_Recv(&in, 1, MPI_INT, n, 0, c, &s), MPI_ERR_RANK);
    FAILS(MPI_Recv(&in, -1, MPI_INT, 0, 0, c, &s), MPI_ERR_COUNT);
    FAILS(MPI_Recv(&in, 1, MPI_DATATYPE_NULL, 0, 0, c, &s), MPI_ERR_TYPE);
    FAILS(MPI_Send(&one, 1, MPI_INT, -99, 0, c), MPI_ERR_RANK);
    FAILS(MPI_Ssend(&one, 1, MPI_INT, 0, -5, c), MPI_ERR_TAG);
    FAILS(MPI_Rsend(&one, 1, MPI_INT, n, 0, c), MPI_ERR_RANK);
    FAILS(MPI_Probe(n + 1, 0, c, &s), MPI_ERR_RANK);
    FAILS(MPI_Mprobe(n + 1, 0, c, &m, &s), MPI_ERR_RANK);
    FAILS(MPI_Sendrecv(&one, 1, MPI_INT, n + 1, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0, c, &s), MPI_ERR_RANK);
    FAILS(MPI_Sendrecv_replace(&one, 1, MPI_INT, n + 1, 0, MPI_PROC_NULL, 0, c, &s), MPI_ERR_RANK);
    FAILS(MPI_Reduce(&one, &in, 1, MPI_INT, MPI_SUM, n, c), MPI_ERR_ROOT);
    FAILS(MPI_Gather(&one, 1, MPI_INT, &in, 1, MPI_INT, -9, c), MPI_ERR_ROOT);
    FAILS(MPI_Scatter(&one, 1, MPI_INT, &in, 1, MPI_INT, n + 3, c), MPI_ERR_ROOT);
    FAILS(MPI_Allreduce(&one, &in, 1, MPI_INT, MPI_OP_NULL, c), MPI_ERR_OP);
    CHECK(MPI_Wait(NULL, &s) != MPI_SUCCESS && MPI_Waitall(1, NULL, &s) != MPI_SUCCESS);
    OK(MPI_Wait(&r, &s)); /* none: at once, and empty */
    CHECK(s.MPI_SOURCE == MPI_ANY_SOURCE && s.MPI_TAG == MPI_ANY_TAG);
    OK(MPI_Comm_set_errhandler(c, MPI_ERRORS_ARE_FATAL));
}

/* From any source with any tag, by each way to receive: all come, each source's in order, with a true status. */
static void wildcards(MPI_Comm c)
{
    int last[64] = {0}, in, count;
    MPI_Status s;
    MPI_Message m;
    MPI_Request r;
    for (int i = 1; me != 0 && i <= 12; i++) {
        int out = 100 * me + i;
        OK(MPI_Send(&out, 1, MPI_INT, 0, i, c));
    }
    for (int i = 0; me == 0 && i < 12 * (n - 1); i++) {
        switch (i % 4) {
        case 0:
            OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &s));
            break;
        case 1:
            OK(MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &s));
            break;
        case 2:
            OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c, &m, &s));
            OK(MPI_Mrecv(&in, 1, MPI_INT, &m, &s));
            break;
        default:
            OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &r));
            OK(MPI_Wait(&r, &s));
        }
        OK(MPI_Get_count(&s, MPI_INT, &count));
        CHECK(count == 1 && s.MPI_SOURCE > 0 && s.MPI_SOURCE < n);
        CHECK(s.MPI_TAG == ++last[s.MPI_SOURCE] && in == 100 * s.MPI_SOURCE + s.MPI_TAG);
    }
    OK(MPI_Barrier(c));
}

/* Nothing is sent, and it arrives. */
static void nothing(MPI_Comm c)
{
    int count = -1, right = (me + 1) % n, left = (me + n - 1) % n, none[64] = {0};
    MPI_Status s;
    MPI_Request r;
    MPI_Message m;
    OK(MPI_Irecv(NULL, 0, MPI_INT, left, 1, c, &r));
    OK(MPI_Ssend(NULL, 0, MPI_INT, right, 1, c));
    OK(MPI_Wait(&r, &s));
    OK(MPI_Get_count(&s, MPI_INT, &count));
    CHECK(count == 0 && s.MPI_SOURCE == left && s.MPI_TAG == 1);
    OK(MPI_Isend(NULL, 0, MPI_BYTE, right, 2, c, &r));
    OK(MPI_Probe(left, 2, c, &s));
    OK(MPI_Mprobe(left, 2, c, &m, &s));
    OK(MPI_Mrecv(NULL, 0, MPI_BYTE, &m, &s));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv_replace(NULL, 0, MPI_INT, right, 3, left, 3, c, &s));
    OK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, c));
    OK(MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, c));
    OK(MPI_Scatter(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, c));
    OK(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, c));
    OK(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, c));
    OK(MPI_Allgatherv(NULL, 0, MPI_INT, NULL, none, none, MPI_INT, c));
    OK(MPI_Alltoallv(&right, none, none, MPI_INT, &left, none, none, MPI_INT, c));
    /* matched with no process */
    OK(MPI_Mprobe(MPI_PROC_NULL, 0, c, &m, &s));
    CHECK(m == MPI_MESSAGE_NO_PROC && s.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Mrecv(NULL, 0, MPI_INT, &m, &s));
    CHECK(m == MPI_MESSAGE_NULL && s.MPI_SOURCE == MPI_PROC_NULL);
}

/* MPI_IN_PLACE wherever it may stand, and of a type with holes. */
static void in_place(MPI_Comm c)
{
    int all[64], mine = 3 * me + 1, got = -1, counts[64], at[64];
    for (int i = 0; i < n; i++)
        counts[i] = 1, at[i] = i, all[i] = -1;
    all[me] = mine;
    OK(me == 0 ? MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, 0, c)
               : MPI_Gather(&mine, 1, MPI_INT, NULL, 0, MPI_INT, 0, c));
    CHECK(me != 0 || all[n - 1] == 3 * n - 2);
    OK(me == 0 ? MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INT, all, counts, at, MPI_INT, 0, c)
               : MPI_Gatherv(&mine, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, 0, c));
    OK(me == 0 ? MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, 0, c)
               : MPI_Scatter(NULL, 0, MPI_INT, &got, 1, MPI_INT, 0, c));
    CHECK(me == 0 || got == mine);
    OK(me == 0 ? MPI_Scatterv(all, counts, at, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, 0, c)
               : MPI_Scatterv(NULL, NULL, NULL, MPI_INT, &got, 1, MPI_INT, 0, c));
    all[me] = mine;
    OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, all, counts, at, MPI_INT, c));
    CHECK(all[0] == 1 && all[n - 1] == 3 * n - 2);
    for (int i = 0; i < n; i++)
        all[i] = 10 * me + i;
    OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, c));
    CHECK(all[0] == me && all[n - 1] == 10 * (n - 1) + me);
    for (int i = 0; i < n; i++)
        all[i] = i;
    OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, c));
    CHECK(all[0] == n * me);
    for (int i = 0; i < n; i++)
        all[i] = i;
    OK(MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_SUM, c));
    CHECK(all[0] == n * me);
    got = 1;
    OK(MPI_Scan(MPI_IN_PLACE, &got, 1, MPI_INT, MPI_SUM, c));
    CHECK(got == me + 1);
    got = 1;
    OK(MPI_Exscan(MPI_IN_PLACE, &got, 1, MPI_INT, MPI_SUM, c));
    CHECK(me == 0 || got == me);
    struct {
        double x;
        int i;
    } best = {me == n - 1 ? -1.0 : 5.0, 40 + me};
    OK(MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, c));
    CHECK(best.x == -1.0 && best.i == 40 + n - 1);
    /* every second number */
    MPI_Datatype second, resized;
    int holes[8] = {me, -1, me + 1, -1, me + 2, -1, me + 3, -1};
    OK(MPI_Type_vector(4, 1, 2, MPI_INT, &second));
    OK(MPI_Type_create_resized(second, 0, sizeof holes, &resized));
    OK(MPI_Type_commit(&resized));
    OK(MPI_Bcast(holes, 1, resized, n - 1, c));
    CHECK(holes[0] == n - 1 && holes[6] == n + 2 && holes[1] == -1 && holes[7] == -1);
    int wide[8 * 64];
    memset(wide, 0, sizeof wide);
    OK(MPI_Allgather(&mine, 0, MPI_INT, wide, 0, resized, c));
    holes[2] = me;
    OK(MPI_Allgather(holes, 1, resized, wide, 1, resized, c));
    CHECK(wide[8 * (n - 1) + 2] == n - 1 && wide[8 * (n - 1) + 1] == 0);
    OK(MPI_Type_free(&resized));
    OK(MPI_Type_free(&second));
}

/* Tests that find something, and those that do not until it has come. */
static void tests(MPI_Comm c)
{
    int in[3] = {0}, out[3] = {7, 8, 9}, flag = 0, index = -1, some = 0, where[3];
    MPI_Request r[3], send[3];
    MPI_Status s[3];
    MPI_Message m;
    for (int i = 0; i < 3; i++)
        OK(MPI_Irecv(&in[i], 1, MPI_INT, me, i, c, &r[i]));
    OK(MPI_Testany(3, r, &index, &flag, s));
    CHECK(!flag && index == MPI_UNDEFINED);
    OK(MPI_Testsome(3, r, &some, where, s));
    CHECK(some == 0);
    OK(MPI_Testall(3, r, &flag, s));
    CHECK(!flag);
    OK(MPI_Isend(&out[1], 1, MPI_INT, me, 1, c, &send[1]));
    while (!flag)
        OK(MPI_Testany(3, r, &index, &flag, s));
    CHECK(index == 1 && in[1] == 8 && s[0].MPI_TAG == 1 && r[1] == MPI_REQUEST_NULL);
    OK(MPI_Isend(&out[2], 1, MPI_INT, me, 2, c, &send[2]));
    while (some == 0)
        OK(MPI_Testsome(3, r, &some, where, s));
    CHECK(some == 1 && where[0] == 2 && in[2] == 9);
    OK(MPI_Isend(&out[0], 1, MPI_INT, me, 0, c, &send[0]));
    for (flag = 0; !flag;)
        OK(MPI_Testall(3, r, &flag, s));
    CHECK(in[0] == 7);
    OK(MPI_Testany(3, r, &index, &flag, s)); /* none is active */
    CHECK(flag && index == MPI_UNDEFINED);
    OK(MPI_Testsome(3, r, &some, where, s));
    CHECK(some == MPI_UNDEFINED);
    OK(MPI_Waitall(3, send, MPI_STATUSES_IGNORE));
    OK(MPI_Improbe(me, 5, c, &flag, &m, s));
    CHECK(!flag);
    OK(MPI_Isend(out, 3, MPI_INT, me, 5, c, &send[0]));
    for (flag = 0; !flag;)
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 5, c, &flag, s));
    for (flag = 0; !flag;)
        OK(MPI_Improbe(MPI_ANY_SOURCE, 5, c, &flag, &m, s));
    CHECK(s[0].MPI_SOURCE == me && s[0].MPI_TAG == 5);
    OK(MPI_Mrecv(in, 3, MPI_INT, &m, s));
    CHECK(in[2] == 9);
    OK(MPI_Wait(&send[0], MPI_STATUS_IGNORE));
}

/* Two groups: rank 0 alone, and all others. */
static void intercommunicator(MPI_Comm c, int t)
{
    MPI_Comm half, inter;
    int low = me == 0, far, rank, value, in[64], out[64], sum, one = 1, class;
    MPI_Status s;
    OK(MPI_Comm_split(c, low, me, &half));
    OK(MPI_Intercomm_create(half, 0, c, low ? 1 : 0, 60 + t, &inter));
    OK(MPI_Comm_remote_size(inter, &far));
    OK(MPI_Comm_rank(inter, &rank));
    CHECK(far == (low ? n - 1 : 1));
    value = 10 + me;
    if (low)
        for (int i = 0; i < far; i++) { /* sources are ranks of the other group */
            OK(MPI_Recv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, &s));
            CHECK(in[0] == 10 + s.MPI_SOURCE + 1);
        }
    else
        OK(MPI_Ssend(&value, 1, MPI_INT, 0, 1, inter));
    OK(MPI_Allgather(&value, 1, MPI_INT, in, 1, MPI_INT, inter));
    CHECK(low ? in[far - 1] == 10 + n - 1 : in[0] == 10);
    for (int i = 0; i < far; i++)
        out[i] = 100 * me + i;
    OK(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, inter));
    CHECK(low ? in[far - 1] == 100 * (n - 1) : in[0] == rank);
    sum = -1; /* the far group's numbers are what the root gets */
    OK(MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, low ? MPI_ROOT : 0, inter));
    CHECK(!low || sum == n - 1);
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    int error = MPI_Send(&one, 1, MPI_INT, far, 1, inter);
    CHECK(error && MPI_Error_class(error, &class) == MPI_SUCCESS && class == MPI_ERR_RANK);
    OK(MPI_Barrier(inter));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    MPI_Comm comms[THREADS];
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    me = check_rank, n = check_size;
    CHECK(n <= 16);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    /* MPICH takes this one's handler for what goes wrong with a request, whatever the communicator's is */
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    in_place(MPI_COMM_WORLD); /* outside of every region */
#pragma omp parallel num_threads(THREADS)
    {
        int t = omp_get_thread_num();
        truncated(comms[t]);
        wrong_arguments(comms[t]);
        wildcards(comms[t]);
        nothing(comms[t]);
        in_place(comms[t]);
        tests(comms[t]);
        intercommunicator(comms[t], t);
        CHECK(omp_get_thread_num() == t && omp_get_num_threads() == THREADS);
    }
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&comms[t]);
    return end();
}
