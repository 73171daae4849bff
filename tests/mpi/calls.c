/* Every call that libpsthreads-mpi answers, made by several threads at once, in its ordinary use and at its edges:
 * what the MPI standard says of statuses, errors, wildcards, requests. Two ranks or more. Run plainly, by MPI alone,
 * it must pass too. */
#include <string.h>

#include "check.h"

#define THREADS 4
static int me, n, other;

/* Each thread has a communicator of its own: collective calls of threads must not meet. */
static MPI_Comm comms[THREADS];

static void messages(MPI_Comm c, int t)
{
    int out = 10 * me + t, in = -1, count;
    MPI_Status s = {0};
    s.MPI_ERROR = 4711;
    int (*const sends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Ssend};
    for (int k = 0; k < 2; k++) {
        if (me == 0) {
            CHECK(sends[k](&out, 1, MPI_INT, 1, k, c) == MPI_SUCCESS);
            CHECK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &s) == MPI_SUCCESS);
        } else if (me == 1) {
            CHECK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &s) == MPI_SUCCESS);
            CHECK(sends[k](&out, 1, MPI_INT, 0, k, c) == MPI_SUCCESS);
        }
        if (me < 2) {
            CHECK(in == 10 * (1 - me) + t && s.MPI_SOURCE == 1 - me && s.MPI_TAG == k);
            CHECK(MPI_Get_count(&s, MPI_INT, &count) == MPI_SUCCESS && count == 1);
        }
    }
    MPI_Barrier(c); /* or a third rank's next message would be received from any source */
    /* to oneself: ready send, nothing at all, no process */
    MPI_Request r;
    MPI_Irecv(&in, 1, MPI_INT, me, 5, c, &r);
    CHECK(MPI_Rsend(&out, 1, MPI_INT, me, 5, c) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS && r == MPI_REQUEST_NULL && in == out && s.MPI_TAG == 5);
    CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS && s.MPI_SOURCE == MPI_ANY_SOURCE && s.MPI_TAG == MPI_ANY_TAG);
    CHECK(MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, c) == MPI_SUCCESS);
    CHECK(MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, c, &s) == MPI_SUCCESS && s.MPI_SOURCE == MPI_PROC_NULL);
    CHECK(MPI_Get_count(&s, MPI_INT, &count) == MPI_SUCCESS && count == 0);
    /* around the ring */
    int right = (me + 1) % n, left = (me + n - 1) % n;
    CHECK(MPI_Sendrecv(&out, 1, MPI_INT, right, 7, &in, 1, MPI_INT, left, 7, c, &s) == MPI_SUCCESS);
    CHECK(in == 10 * left + t && s.MPI_SOURCE == left);
    CHECK(MPI_Sendrecv(NULL, 0, MPI_INT, right, 8, NULL, 0, MPI_INT, left, 8, c, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    in = out;
    CHECK(MPI_Sendrecv_replace(&in, 1, MPI_INT, right, 9, left, 9, c, &s) == MPI_SUCCESS);
    CHECK(in == 10 * left + t && s.MPI_TAG == 9);
    /* a large message (rendezvous), and a derived type: every second number */
    int *large = calloc(200000, sizeof *large), *back = calloc(200000, sizeof *back);
    MPI_Datatype second;
    for (int i = 0; i < 200000; i++)
        large[i] = i + me;
    MPI_Type_vector(100000, 1, 2, MPI_INT, &second);
    MPI_Type_commit(&second);
    CHECK(MPI_Sendrecv(large, 1, second, right, 10, back, 100000, MPI_INT, left, 10, c, &s) == MPI_SUCCESS);
    CHECK(back[0] == left && back[99999] == 199998 + left);
    CHECK(MPI_Sendrecv_replace(large, 1, second, right, 10, left, 10, c, &s) == MPI_SUCCESS);
    CHECK(large[199998] == 199998 + left && large[199999] == 199999 + me);
    MPI_Type_free(&second);
    free(large);
    free(back);
}

/* Messages between a pair are not overtaken, whatever they are received by. */
static void order(MPI_Comm c)
{
    int in;
    for (int i = 0; me == 0 && i < 50; i++)
        MPI_Send(&i, 1, MPI_INT, 1, 3, c);
    for (int i = 0; me == 1 && i < 50; i++) {
        MPI_Recv(&in, 1, MPI_INT, 0, i % 2 ? MPI_ANY_TAG : 3, c, MPI_STATUS_IGNORE);
        CHECK(in == i);
    }
}

static void probes(MPI_Comm c)
{
    MPI_Status s;
    MPI_Message m;
    int in[4], count, four[4] = {1, 2, 3, 4};
    if (me == 0) {
        MPI_Ssend(four, 3, MPI_INT, 1, 11, c);
        MPI_Send(four, 4, MPI_INT, 1, 12, c);
    } else if (me == 1) {
        CHECK(MPI_Probe(MPI_ANY_SOURCE, 11, c, &s) == MPI_SUCCESS && s.MPI_SOURCE == 0 && s.MPI_TAG == 11);
        MPI_Get_count(&s, MPI_INT, &count);
        CHECK(count == 3);
        MPI_Recv(in, 3, MPI_INT, 0, 11, c, MPI_STATUS_IGNORE);
        CHECK(MPI_Mprobe(0, MPI_ANY_TAG, c, &m, &s) == MPI_SUCCESS && s.MPI_TAG == 12);
        CHECK(MPI_Mrecv(in, 4, MPI_INT, &m, &s) == MPI_SUCCESS && in[3] == 4 && m == MPI_MESSAGE_NULL);
        CHECK(MPI_Probe(MPI_PROC_NULL, 1, c, &s) == MPI_SUCCESS && s.MPI_SOURCE == MPI_PROC_NULL);
    }
}

static void requests(MPI_Comm c)
{
    int in[4] = {0}, out = 5, index, some, where[4], flag;
    MPI_Request r[4];
    MPI_Status s[4];
    /* all, with a null one between */
    for (int i = 0; i < 4; i++)
        r[i] = MPI_REQUEST_NULL;
    CHECK(MPI_Waitall(4, r, s) == MPI_SUCCESS && MPI_Waitall(0, NULL, NULL) == MPI_SUCCESS);
    CHECK(MPI_Waitany(4, r, &index, s) == MPI_SUCCESS && index == MPI_UNDEFINED);
    CHECK(MPI_Waitsome(4, r, &some, where, s) == MPI_SUCCESS && some == MPI_UNDEFINED);
    MPI_Irecv(&in[0], 1, MPI_INT, me, 20, c, &r[0]);
    MPI_Irecv(&in[2], 1, MPI_INT, me, 22, c, &r[2]);
    MPI_Isend(&out, 1, MPI_INT, me, 22, c, &r[3]);
    CHECK(MPI_Send(&out, 1, MPI_INT, me, 20, c) == MPI_SUCCESS);
    CHECK(MPI_Waitall(4, r, s) == MPI_SUCCESS && in[0] == 5 && in[2] == 5 && s[2].MPI_TAG == 22);
    /* any and some, beside one that is persistent and inactive */
    int never = 0;
    MPI_Request p[3];
    MPI_Recv_init(&never, 1, MPI_INT, me, 30, c, &p[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, me, 31, c, &p[1]);
    MPI_Irecv(&in[2], 1, MPI_INT, me, 32, c, &p[2]);
    MPI_Request later;
    MPI_Isend(&out, 1, MPI_INT, me, 32, c, &later);
    CHECK(MPI_Waitany(3, p, &index, s) == MPI_SUCCESS && index == 2 && s[0].MPI_TAG == 32);
    MPI_Wait(&later, MPI_STATUS_IGNORE);
    MPI_Isend(&out, 1, MPI_INT, me, 31, c, &later);
    CHECK(MPI_Waitsome(3, p, &some, where, s) == MPI_SUCCESS && some == 1 && where[0] == 1);
    MPI_Wait(&later, MPI_STATUS_IGNORE);
    /* the persistent one, twice */
    for (int i = 0; i < 2; i++) {
        out = 60 + i;
        MPI_Start(&p[0]);
        MPI_Send(&out, 1, MPI_INT, me, 30, c);
        CHECK(MPI_Wait(&p[0], s) == MPI_SUCCESS && never == 60 + i && p[0] != MPI_REQUEST_NULL);
    }
    CHECK(MPI_Wait(&p[0], s) == MPI_SUCCESS); /* inactive: at once */
    MPI_Request_free(&p[0]);
    /* cancelled */
    MPI_Irecv(&never, 1, MPI_INT, me, 33, c, &r[0]);
    MPI_Cancel(&r[0]);
    CHECK(MPI_Wait(&r[0], s) == MPI_SUCCESS);
    MPI_Test_cancelled(s, &flag);
    CHECK(flag);
    /* tests */
    MPI_Irecv(&in[0], 1, MPI_INT, me, 34, c, &r[0]);
    CHECK(MPI_Test(&r[0], &flag, s) == MPI_SUCCESS && !flag);
    CHECK(MPI_Iprobe(me, 34, c, &flag, s) == MPI_SUCCESS && !flag);
    MPI_Isend(&out, 1, MPI_INT, me, 34, c, &r[1]);
    do
        CHECK(MPI_Testall(2, r, &flag, s) == MPI_SUCCESS);
    while (!flag);
    CHECK(in[0] == out);
}

static int query(void *extra, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = 0;
    return MPI_SUCCESS;
}
static int free_nothing(void *extra) { return (void)extra, MPI_SUCCESS; }
static int cancel_nothing(void *extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

/* A request of the program's own, completed by one thread while another waits for it. */
static void generalized(void)
{
    int elements = 3, count = 0;
    MPI_Request r;
    MPI_Status s;
    MPI_Grequest_start(query, free_nothing, cancel_nothing, &elements, &r);
    MPI_Request copy = r;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS);
    else
        MPI_Grequest_complete(copy);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK(count == 3 && r == MPI_REQUEST_NULL);
}

/* Errors go to the communicator's own handler, on the thread that called. */
static int handled;
#pragma omp threadprivate(handled)
static void handler(MPI_Comm *c, int *error, ...)
{
    int class;
    (void)c;
    MPI_Error_class(*error, &class);
    handled = class;
}

static int class_of(int error)
{
    int class = -1;
    return MPI_Error_class(error, &class) == MPI_SUCCESS ? class : -1;
}

static void errors(MPI_Comm c)
{
    int four[4] = {0}, in = 0;
    MPI_Status s;
    MPI_Request r;
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    /* truncated: there already, and coming while one waits */
    MPI_Isend(four, 4, MPI_INT, me, 40, c, &r);
    CHECK(class_of(MPI_Recv(&in, 1, MPI_INT, me, 40, c, &s)) == MPI_ERR_TRUNCATE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (me == 0)
        MPI_Send(four, 4, MPI_INT, 1, 41, c);
    if (me == 1)
        CHECK(class_of(MPI_Recv(&in, 1, MPI_INT, 0, 41, c, &s)) == MPI_ERR_TRUNCATE);
    CHECK(class_of(MPI_Send(&in, 1, MPI_INT, n + 5, 0, c)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Recv(&in, 1, MPI_INT, 0, -77, c, &s)) == MPI_ERR_TAG);
    CHECK(class_of(MPI_Bcast(&in, 1, MPI_INT, n + 5, c)) == MPI_ERR_ROOT);
    int out[4] = {1, 2, 3, 4};
    /* a handler of the program's */
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(c, own);
    MPI_Errhandler_free(&own);
    handled = MPI_SUCCESS;
    if (me == 0)
        MPI_Send(out, 4, MPI_INT, 1, 44, c);
    if (me == 1) {
        CHECK(class_of(MPI_Recv(&in, 1, MPI_INT, 0, 44, c, &s)) == MPI_ERR_TRUNCATE);
        CHECK(handled == MPI_ERR_TRUNCATE);
    }
    MPI_Comm_set_errhandler(c, MPI_ERRORS_ARE_FATAL);
}

static void twice(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] = 2 * ((int *)in)[i] + ((int *)inout)[i];
}

static void collectives(MPI_Comm c, int t)
{
    int all[64], mine = 10 * me + t, sum = 0, counts[64], at[64], back = -1;
    CHECK(n <= 16);
    CHECK(MPI_Barrier(c) == MPI_SUCCESS);
    back = me == n - 1 ? 77 + t : 0;
    CHECK(MPI_Bcast(&back, 1, MPI_INT, n - 1, c) == MPI_SUCCESS && back == 77 + t);
    CHECK(MPI_Bcast(NULL, 0, MPI_INT, 0, c) == MPI_SUCCESS);
    CHECK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, c) == MPI_SUCCESS && sum == 5 * n * (n - 1) + n * t);
    sum = mine;
    CHECK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, c) == MPI_SUCCESS && sum == 10 * (n - 1) + t);
    sum = mine;
    CHECK(MPI_Reduce(me == 0 ? MPI_IN_PLACE : &sum, me == 0 ? &sum : NULL, 1, MPI_INT, MPI_SUM, 0, c) == MPI_SUCCESS);
    CHECK(me != 0 || sum == 5 * n * (n - 1) + n * t);
    MPI_Op op;
    MPI_Op_create(twice, 1, &op);
    sum = 1;
    CHECK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, op, c) == MPI_SUCCESS && (n != 2 || sum == 3));
    MPI_Op_free(&op);
    for (int i = 0; i < n; i++)
        counts[i] = 1, at[i] = i;
    CHECK(MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, c) == MPI_SUCCESS &&
          (me || all[n - 1] == 10 * (n - 1) + t));
    CHECK(MPI_Gatherv(&mine, 1, MPI_INT, all, counts, at, MPI_INT, 0, c) == MPI_SUCCESS);
    CHECK(MPI_Scatter(all, 1, MPI_INT, &back, 1, MPI_INT, 0, c) == MPI_SUCCESS && back == mine);
    back = -1;
    CHECK(MPI_Scatterv(all, counts, at, MPI_INT, &back, 1, MPI_INT, 0, c) == MPI_SUCCESS && back == mine);
    memset(all, 0, sizeof all);
    CHECK(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, c) == MPI_SUCCESS && all[n - 1] == 10 * (n - 1) + t);
    all[me] = mine + 1;
    CHECK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, c) == MPI_SUCCESS &&
          all[n - 1] == 10 * (n - 1) + t + 1);
    CHECK(MPI_Allgatherv(&mine, 1, MPI_INT, all, counts, at, MPI_INT, c) == MPI_SUCCESS && all[0] == t);
    int to[64], from[64];
    MPI_Datatype types[64];
    for (int i = 0; i < n; i++)
        to[i] = 100 * me + i, types[i] = MPI_INT;
    CHECK(MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, c) == MPI_SUCCESS && from[n - 1] == 100 * (n - 1) + me);
    memset(from, 0, sizeof from);
    CHECK(MPI_Alltoallv(to, counts, at, MPI_INT, from, counts, at, MPI_INT, c) == MPI_SUCCESS &&
          from[n - 1] == 100 * (n - 1) + me);
    memset(from, 0, sizeof from);
    for (int i = 0; i < n; i++)
        at[i] = i * (int)sizeof(int);
    CHECK(MPI_Alltoallw(to, counts, at, types, from, counts, at, types, c) == MPI_SUCCESS &&
          from[n - 1] == 100 * (n - 1) + me);
    CHECK(MPI_Reduce_scatter(to, &back, counts, MPI_INT, MPI_SUM, c) == MPI_SUCCESS &&
          back == 50 * n * (n - 1) + n * me);
    CHECK(MPI_Reduce_scatter_block(to, &back, 1, MPI_INT, MPI_SUM, c) == MPI_SUCCESS &&
          back == 50 * n * (n - 1) + n * me);
    int one = 1;
    CHECK(MPI_Scan(&one, &back, 1, MPI_INT, MPI_SUM, c) == MPI_SUCCESS && back == me + 1);
    CHECK(MPI_Exscan(&one, &back, 1, MPI_INT, MPI_SUM, c) == MPI_SUCCESS && (me == 0 || back == me));
}

static void neighbours(MPI_Comm c, int t)
{
    MPI_Comm ring;
    int periods = 1, dims = n, mine = 10 * me + t, in[2], out[2] = {mine, mine};
    int counts[2] = {1, 1}, at[2] = {0, 1}, left = (me + n - 1) % n, right = (me + 1) % n;
    MPI_Aint far[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Cart_create(c, 1, &dims, &periods, 0, &ring);
#define NEIGHBOURS(call)          \
    in[0] = in[1] = -1;           \
    CHECK((call) == MPI_SUCCESS); \
    CHECK(in[0] == 10 * left + t && in[1] == 10 * right + t)
    NEIGHBOURS(MPI_Neighbor_allgather(&mine, 1, MPI_INT, in, 1, MPI_INT, ring));
    NEIGHBOURS(MPI_Neighbor_allgatherv(&mine, 1, MPI_INT, in, counts, at, MPI_INT, ring));
    NEIGHBOURS(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring));
    NEIGHBOURS(MPI_Neighbor_alltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_INT, ring));
    NEIGHBOURS(MPI_Neighbor_alltoallw(out, counts, far, types, in, counts, far, types, ring));
    MPI_Comm_free(&ring);
}

static void between_groups(MPI_Comm c, int t)
{
    MPI_Comm half, inter;
    int in = -1, out = 10 * me + t, low = me < n / 2, partner, sum = 0, one = 1, far;
    MPI_Comm_split(c, low, me, &half);
    MPI_Intercomm_create(half, 0, c, low ? n / 2 : 0, 50, &inter);
    MPI_Comm_rank(half, &partner);
    MPI_Comm_remote_size(inter, &far);
    if (partner < far && partner < n / 2) {
        CHECK(MPI_Sendrecv(&out, 1, MPI_INT, partner, 1, &in, 1, MPI_INT, partner, 1, inter, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
        CHECK(in == 10 * (low ? me + n / 2 : me - n / 2) + t);
    }
    CHECK(MPI_Barrier(inter) == MPI_SUCCESS);
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter) == MPI_SUCCESS && sum == far);
    in = low && partner == 0 ? 99 : 0;
    CHECK(MPI_Bcast(&in, 1, MPI_INT, low ? (partner == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter) == MPI_SUCCESS);
    CHECK(low || in == 99);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void files(MPI_Comm c, int t, const char *folder)
{
    char name[400];
    MPI_File f;
    MPI_Status s;
    int out = 10 * me + t, in = -1, count;
    snprintf(name, sizeof name, "%s/file-%d", folder, t);
    CHECK(MPI_File_open(c, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f) == MPI_SUCCESS);
    CHECK(MPI_File_write_at(f, me * (MPI_Offset)sizeof out, &out, 1, MPI_INT, &s) == MPI_SUCCESS);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK(count == 1);
    CHECK(MPI_File_read_at(f, me * (MPI_Offset)sizeof out, &in, 1, MPI_INT, &s) == MPI_SUCCESS && in == out);
    MPI_File_seek(f, me * (MPI_Offset)sizeof out, MPI_SEEK_SET);
    out += 1000;
    CHECK(MPI_File_write(f, &out, 1, MPI_INT, &s) == MPI_SUCCESS);
    MPI_File_seek(f, me * (MPI_Offset)sizeof out, MPI_SEEK_SET);
    CHECK(MPI_File_read(f, &in, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS && in == out);
    CHECK(MPI_File_close(&f) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    me = check_rank, n = check_size, other = 1 - me;
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    collectives(MPI_COMM_WORLD, 0); /* outside of every region */
    messages(MPI_COMM_WORLD, 0);
    neighbours(MPI_COMM_WORLD, 0); /* the first one makes what Open MPI 4.1 makes without a lock */
#pragma omp parallel num_threads(THREADS)
    {
        int t = omp_get_thread_num();
        MPI_Comm c = comms[t];
        CHECK(omp_get_num_threads() == THREADS);
        messages(c, t);
        order(c);
        probes(c);
        requests(c);
        errors(c);
        collectives(c, t);
        neighbours(c, t);
        between_groups(c, t);
        CHECK(omp_get_thread_num() == t);
    }
    generalized();
    /* files and tasks; of files one thread at a time opens, since MPI's own opening is not what is tested */
    for (int t = 0; argc > 1 && t < 2; t++)
#pragma omp parallel num_threads(2)
#pragma omp single
        files(comms[t], t, argv[1]);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&comms[t]);
    return end();
}
