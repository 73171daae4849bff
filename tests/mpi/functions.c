/* Functions of the program's that MPI calls: of generalized requests, and reductions of nonblocking calls. The former
 * open regions, take locks and call MPI themselves. So each must be called by a thread of the program's, and once. Two
 * ranks or more. Run plainly it must pass too. */
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == MPI_SUCCESS)
#define THREADS 3
#define NUMBERS 64
static int me, n;

/* Whether a region works here, and whatever threads need. */
static int region(void)
{
    int sum = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
    {
#pragma omp critical(region)
        sum = omp_get_thread_num() + 1;
    }
    return sum > 0;
}

static int queried, freed;

/* MPICH's MPI_Testall asks twice, and threads that wait by turns call it for MPI_Waitall. */
#ifdef OPEN_MPI
#define TWICE 0
#else
#define TWICE 1
#endif

static int query(void *extra, MPI_Status *status)
{
#pragma omp atomic
    queried++;
    CHECK(region());
    OK(MPI_Status_set_elements(status, MPI_INT, *(int *)extra));
    OK(MPI_Status_set_cancelled(status, 0));
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 6;
    return MPI_SUCCESS;
}

static int free_it(void *extra)
{
    (void)extra;
#pragma omp atomic
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

static void wait_by(int how, MPI_Request r[2], MPI_Status s[2])
{
    int index = -1, some = 0, where[2];
    if (how == 0)
        OK(MPI_Wait(r, s));
    else if (how == 1)
        OK(MPI_Waitall(2, r, s));
    else if (how == 2)
        OK(MPI_Waitany(2, r, &index, s));
    else
        OK(MPI_Waitsome(2, r, &some, where, s));
    CHECK((how != 2 || index == 0) && (how != 3 || (some == 1 && where[0] == 0)));
}

/* A thread waits for what another one completes later. */
static void generalized(int how)
{
    int extra = 3 + how, count = 0;
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, same;
    MPI_Status s[2];
    queried = freed = 0;
    OK(MPI_Grequest_start(query, free_it, cancel, &extra, &r[0]));
    same = r[0];
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        wait_by(how, r, s);
    else
        for (int i = 0; i < 200; i++) { /* idle processors look meanwhile */
            int out = i, in = -1;
            if (i == 100)
                OK(MPI_Grequest_complete(same));
            OK(MPI_Sendrecv(&out, 1, MPI_INT, me, 1, &in, 1, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(in == i);
        }
    OK(MPI_Get_elements(&s[0], MPI_INT, &count));
    CHECK((queried == 1 || (how == 1 && TWICE)) && freed == 1 && count == extra && s[0].MPI_SOURCE == 5 &&
          s[0].MPI_TAG == 6);
}

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    long *x = in, *y = inout;
    (void)type;
    for (int i = 0; i < *len; i++)
        y[i] += x[i];
}

/* Beside a thread that has begun to wait before: it goes on when the message comes. */
static void reductions(MPI_Op op, MPI_Comm c, int first)
{
    long out[NUMBERS], in[NUMBERS];
    MPI_Request r;
    for (int i = 0; i < NUMBERS; i++)
        out[i] = me + i;
    for (int round = 0; round < 5; round++) {
        memset(in, 0, sizeof in);
        OK(MPI_Iallreduce(out, in, NUMBERS, MPI_LONG, op, c, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK(in[7] == n * (n - 1) / 2 + 7L * n);
        OK(MPI_Ireduce(out, in, NUMBERS, MPI_LONG, op, n - 1, c, &r));
        OK(MPI_Waitall(1, &r, MPI_STATUSES_IGNORE));
        OK(MPI_Iscan(out, in, NUMBERS, MPI_LONG, op, c, &r));
        for (int flag = 0; !flag;)
            OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
        CHECK(in[0] == me * (me + 1) / 2);
        OK(MPI_Barrier(c));
    }
    if (first)
        OK(MPI_Send(&me, 1, MPI_INT, me, 9, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    MPI_Comm comms[THREADS];
    MPI_Op op;
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    me = check_rank, n = check_size;
    omp_set_max_active_levels(3);
    for (int how = 0; how < 4; how++)
        generalized(how);
    OK(MPI_Op_create(add, 1, &op));
    for (int t = 0; t < THREADS; t++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
#pragma omp parallel num_threads(THREADS + 1)
    if (omp_get_thread_num() < THREADS) {
        reductions(op, comms[omp_get_thread_num()], omp_get_thread_num() == 0);
    } else {
        int in = -1;
        OK(MPI_Recv(&in, 1, MPI_INT, me, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(in == me);
    }
    for (int t = 0; t < THREADS; t++)
        OK(MPI_Comm_free(&comms[t]));
    OK(MPI_Op_free(&op));
    return end();
}
