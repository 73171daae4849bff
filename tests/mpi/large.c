/* MPI 4's calls with large counts (MPI_Recv_c) and partitioned messages. Threads that wait in them hold no processor:
 * on one virtual processor all go on on one kernel thread. A collective call matches the same one with small counts. */
#include <string.h>
#include <unistd.h>

#include "check.h"

#define THREADS 8
#define OK(call) CHECK((call) == MPI_SUCCESS)
static int me, n, one_vp;

/* The kernel thread that the caller is on, as the kernel tells it. */
static void where(char place[64])
{
    memset(place, 0, 64);
    CHECK(readlink("/proc/thread-self", place, 63) > 0);
}

static void chain(void)
{
    static char on[THREADS][64];
#pragma omp parallel num_threads(THREADS)
    {
        int t = omp_get_thread_num(), value = THREADS - 1;
        MPI_Message m;
        if (t < THREADS / 2) {
            OK(MPI_Recv_c(&value, 1, MPI_INT, me, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else if (t < THREADS - 1) {
            OK(MPI_Mprobe(me, t, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE));
            OK(MPI_Mrecv_c(&value, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
        }
        where(on[t]);
        CHECK(value-- == t);
        if (t > 0 && t % 2)
            OK(MPI_Send_c(&value, 1, MPI_INT, me, t - 1, MPI_COMM_WORLD));
        else if (t > 0)
            OK(MPI_Ssend_c(&value, 1, MPI_INT, me, t - 1, MPI_COMM_WORLD));
    }
    for (int t = 1; one_vp && t < THREADS; t++)
        CHECK(strcmp(on[t], on[0]) == 0);
}

static void messages(MPI_Comm c)
{
    int right = (me + 1) % n, left = (me + n - 1) % n, in = -1, four[4] = {1, 2, 3, 4}, class;
    MPI_Status s;
    MPI_Count count;
    MPI_Request r;
    OK(MPI_Sendrecv_c(&me, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, c, &s));
    CHECK(in == left && s.MPI_SOURCE == left && s.MPI_TAG == 1);
    OK(MPI_Get_count_c(&s, MPI_INT, &count));
    CHECK(count == 1);
    in = me;
    OK(MPI_Sendrecv_replace_c(&in, 1, MPI_INT, right, 2, left, 2, c, &s));
    CHECK(in == left);
    OK(MPI_Irecv(&in, 1, MPI_INT, left, 3, c, &r));
    OK(MPI_Barrier(c));
    OK(MPI_Rsend_c(&me, 1, MPI_INT, right, 3, c));
    OK(MPI_Wait(&r, &s));
    CHECK(in == left);
    OK(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN));
    OK(MPI_Isend(four, 4, MPI_INT, me, 4, c, &r));
    CHECK(MPI_Error_class(MPI_Recv_c(&in, 1, MPI_INT, me, 4, c, &s), &class) == MPI_SUCCESS);
    CHECK(class == MPI_ERR_TRUNCATE);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Comm_set_errhandler(c, MPI_ERRORS_ARE_FATAL));
}

/* Some ranks by one name, some by the other. */
static void collectives(MPI_Comm c)
{
    int value = me, sum = -1, all[64];
    OK(me == 0 ? MPI_Bcast_c(&value, 1, MPI_INT, 0, c) : MPI_Bcast(&value, 1, MPI_INT, 0, c));
    CHECK(value == 0);
    OK(me % 2 ? MPI_Allreduce_c(&me, &sum, 1, MPI_INT, MPI_SUM, c) : MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, c));
    CHECK(sum == n * (n - 1) / 2);
    OK(me % 2 ? MPI_Allgather_c(&me, 1, MPI_INT, all, 1, MPI_INT, c)
              : MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, c));
    for (int i = 0; i < n; i++)
        CHECK(all[i] == i);
}

static void windows(MPI_Comm c)
{
    long memory = -1, value = me;
    MPI_Win w;
    OK(MPI_Win_create_c(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, c, &w));
    OK(MPI_Win_fence(0, w));
    OK(MPI_Put_c(&value, 1, MPI_LONG, (me + 1) % n, 0, 1, MPI_LONG, w));
    OK(MPI_Win_fence(0, w));
    CHECK(memory == (me + n - 1) % n);
    OK(MPI_Win_free(&w));
}

/* A thread waits for each part by tests; the parts are ready in the order of the threads that make them. */
static void partitioned(void)
{
    static double out[THREADS][100], in[THREADS][100];
    MPI_Request r[2];
    OK(MPI_Psend_init(out, THREADS, 100, MPI_DOUBLE, (me + 1) % n, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
    OK(MPI_Precv_init(in, THREADS, 100, MPI_DOUBLE, (me + n - 1) % n, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Startall(2, r));
#pragma omp parallel num_threads(THREADS + 1)
        {
            int t = omp_get_thread_num(), flag = 0;
            for (int i = 0; t > 0 && i < 100; i++)
                out[t - 1][i] = me + 100 * round + t;
            if (t > 0)
                OK(MPI_Pready(t - 1, r[0]));
            for (int part = 0; t == 0 && part < THREADS; part += flag)
                OK(MPI_Parrived(r[1], part, &flag));
        }
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        for (int t = 0; t < THREADS; t++)
            CHECK(in[t][99] == (me + n - 1) % n + 100 * round + t + 1);
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    me = check_rank, n = check_size;
    one_vp = argc > 1 && strcmp(argv[1], "one") == 0;
    MPI_Comm comms[3];
    for (int t = 0; t < 3; t++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
    chain();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)); /* MPICH's for requests */
#pragma omp parallel num_threads(3)
    {
        MPI_Comm c = comms[omp_get_thread_num()];
        messages(c);
        collectives(c);
#pragma omp barrier
        if (omp_get_thread_num() == 2) /* MPICH's windows are not for several threads at once */
            windows(c);
    }
    partitioned();
    for (int t = 0; t < 3; t++)
        OK(MPI_Comm_free(&comms[t]));
    return end();
}
