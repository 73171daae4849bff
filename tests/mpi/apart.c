/* The calls without a nonblocking form (src/mpi/apart.c): communicators, windows, collective access to files. Two
 * threads make them at once, each on communicators of its own, while two others compute beside them and pass
 * messages; two ranks or more. Argument: a folder for files; without it there are none. Run plainly, by MPI alone, it
 * must pass too. */
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == MPI_SUCCESS)
static int me, n;

static void communicators(MPI_Comm c)
{
    MPI_Comm d, e;
    MPI_Group all, some;
    int size, rank, first = 0, range[1][3] = {{0, n - 1, 1}}, same, sum, one = 1;
    OK(MPI_Comm_dup_with_info(c, MPI_INFO_NULL, &d));
    OK(MPI_Comm_compare(c, d, &same));
    CHECK(same == MPI_CONGRUENT);
    OK(MPI_Comm_group(d, &all));
    OK(MPI_Group_range_incl(all, 1, range, &some));
    OK(MPI_Comm_create(d, some, &e));
    OK(MPI_Comm_size(e, &size));
    CHECK(size == n);
    OK(MPI_Comm_free(&e));
    CHECK(e == MPI_COMM_NULL);
    MPI_Group_free(&some);
    /* of one rank alone: the others do not call */
    OK(MPI_Group_incl(all, 1, &first, &some));
    if (me == 0) {
        OK(MPI_Comm_create_group(d, some, 3, &e));
        OK(MPI_Comm_size(e, &size));
        CHECK(size == 1);
        OK(MPI_Comm_free(&e));
    }
    OK(MPI_Comm_create(d, some, &e)); /* all call, and those that are not in it get none */
    CHECK((e == MPI_COMM_NULL) == (me != 0));
    if (me == 0)
        OK(MPI_Comm_free(&e));
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    OK(MPI_Comm_split_type(d, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &e));
    OK(MPI_Comm_size(e, &size));
    CHECK(size == n); /* the ranks of a test share a machine */
    OK(MPI_Comm_free(&e));
    OK(MPI_Comm_split(d, me == 0 ? MPI_UNDEFINED : 1, -me, &e));
    CHECK((e == MPI_COMM_NULL) == (me == 0));
    if (me != 0) {
        OK(MPI_Comm_rank(e, &rank));
        CHECK(rank == n - 1 - me); /* by key: backwards */
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, e));
        CHECK(sum == n - 1);
        OK(MPI_Comm_free(&e));
    }
    OK(MPI_Comm_disconnect(&d));
    CHECK(d == MPI_COMM_NULL);
}

static void topologies(MPI_Comm c)
{
    MPI_Comm half, inter, both, grid, row, graph;
    int low = me == 0, rank, size, dims[2] = {n, 1}, periods[2] = {0, 0}, remain[2] = {1, 0}, index[64], edges[64];
    int left = (me + n - 1) % n, right = (me + 1) % n, in[1] = {-1};
    OK(MPI_Comm_split(c, low, me, &half));
    OK(MPI_Intercomm_create(half, 0, c, low ? 1 : 0, 9, &inter));
    OK(MPI_Intercomm_merge(inter, low, &both)); /* rank 0's group comes last */
    OK(MPI_Comm_rank(both, &rank));
    CHECK(rank == (low ? n - 1 : me - 1));
    OK(MPI_Comm_free(&both));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
    OK(MPI_Cart_create(c, 2, dims, periods, 0, &grid));
    OK(MPI_Cart_sub(grid, remain, &row));
    OK(MPI_Comm_size(row, &size));
    CHECK(size == n);
    OK(MPI_Comm_free(&row));
    OK(MPI_Comm_free(&grid));
    for (int i = 0; i < n; i++) /* a ring, each with the next one */
        index[i] = i + 1, edges[i] = (i + 1) % n;
    OK(MPI_Graph_create(c, n, index, edges, 0, &graph));
    OK(MPI_Comm_free(&graph));
    OK(MPI_Dist_graph_create_adjacent(c, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                      &graph));
    OK(MPI_Neighbor_allgather(&me, 1, MPI_INT, in, 1, MPI_INT, graph));
    CHECK(in[0] == left);
    OK(MPI_Comm_free(&graph));
}

/* Every way to end an epoch; the number put is there afterwards. */
static void windows(MPI_Comm c, int t)
{
    int *memory, own[64], right = (me + 1) % n, left = (me + n - 1) % n, value, got, model, *model_at;
    MPI_Win w;
    MPI_Group all, to, from;
    for (int i = 0; i < 64; i++)
        own[i] = -1;
    OK(MPI_Win_create(own, sizeof own, sizeof *own, MPI_INFO_NULL, c, &w));
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w));
    value = 100 * me + t;
    OK(MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, w));
    OK(MPI_Win_fence(0, w));
    CHECK(own[0] == 100 * left + t);
    got = -1;
    OK(MPI_Get(&got, 1, MPI_INT, left, 0, 1, MPI_INT, w));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
    CHECK(got == 100 * ((left + n - 1) % n) + t);
    /* start, post, complete, wait */
    MPI_Comm_group(c, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    OK(MPI_Win_post(from, 0, w));
    OK(MPI_Win_start(to, 0, w));
    OK(MPI_Put(&value, 1, MPI_INT, right, 1, 1, MPI_INT, w));
    OK(MPI_Win_complete(w));
    OK(MPI_Win_wait(w));
    CHECK(own[1] == 100 * left + t);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&all);
    OK(MPI_Win_free(&w));
    CHECK(w == MPI_WIN_NULL);
    /* locks and flushes */
    OK(MPI_Win_allocate(4 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, c, &memory, &w));
    OK(MPI_Win_get_attr(w, MPI_WIN_MODEL, &model_at, &model));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, w));
    memory[0] = memory[1] = 0;
    OK(MPI_Win_unlock(me, w));
    OK(MPI_Barrier(c));
    OK(MPI_Win_lock_all(0, w));
    int one = 1, before = -1;
    OK(MPI_Fetch_and_op(&one, &before, MPI_INT, right, 0, MPI_SUM, w));
    OK(MPI_Win_flush(right, w));
    CHECK(before == 0);
    OK(MPI_Accumulate(&one, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, w));
    OK(MPI_Win_flush_local(right, w));
    OK(MPI_Accumulate(&one, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, w));
    OK(MPI_Win_flush_local_all(w));
    OK(MPI_Win_flush_all(w));
    OK(MPI_Win_unlock_all(w));
    OK(MPI_Barrier(c));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w));
    CHECK(memory[0] == 1 && memory[1] == 2);
    OK(MPI_Win_unlock(me, w));
    OK(MPI_Win_free(&w));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, c, &w));
    OK(MPI_Win_free(&w));
    OK(MPI_Win_allocate_shared(sizeof *memory, sizeof *memory, MPI_INFO_NULL, c, &memory, &w));
    OK(MPI_Win_free(&w));
}

/* An error in a call without a nonblocking form is the caller's, too. */
static void errors(MPI_Comm c)
{
    MPI_Comm d, none;
    int dims[1] = {n + 1}, periods[1] = {0}, class;
    OK(MPI_Comm_dup(c, &d));
    OK(MPI_Comm_set_errhandler(d, MPI_ERRORS_RETURN));
    int error = MPI_Cart_create(d, 1, dims, periods, 0, &none);
    CHECK(error != MPI_SUCCESS && MPI_Error_class(error, &class) == MPI_SUCCESS);
    CHECK(class == MPI_ERR_ARG || class == MPI_ERR_DIMS || class == MPI_ERR_TOPOLOGY);
    OK(MPI_Comm_free(&d));
}

static void count_is(MPI_Status *s, int expected)
{
    int count = -1;
    MPI_Get_count(s, MPI_INT, &count);
    CHECK(count == expected);
}

static void files(MPI_Comm c, const char *folder)
{
    char name[400];
    MPI_File f;
    MPI_Status s;
    MPI_Offset size;
    int out[2] = {10 * me, 10 * me + 1}, in[2], ordered[64], place = me * (int)sizeof out;
    snprintf(name, sizeof name, "%s/all", folder);
    OK(MPI_File_open(c, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_set_size(f, 0));
    OK(MPI_File_write_at_all(f, place, out, 2, MPI_INT, &s));
    count_is(&s, 2);
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at_all(f, place, in, 2, MPI_INT, &s));
    CHECK(in[0] == out[0] && in[1] == out[1]);
    OK(MPI_File_set_view(f, place, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_read_all(f, in, 2, MPI_INT, &s));
    count_is(&s, 2);
    CHECK(in[0] == out[0] && in[1] == out[1]);
    OK(MPI_File_seek(f, 0, MPI_SEEK_SET));
    out[1] += 5;
    OK(MPI_File_write_all(f, out, 2, MPI_INT, &s));
    OK(MPI_File_sync(f)); /* another rank may have written it for all */
    OK(MPI_Barrier(c));
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at(f, 1, in, 1, MPI_INT, &s));
    CHECK(in[0] == out[1]);
    OK(MPI_File_read_at(f, 1000, in, 1, MPI_INT, &s)); /* behind the end: nothing is read */
    count_is(&s, 0);
    OK(MPI_File_write_at(f, 0, NULL, 0, MPI_INT, &s));
    count_is(&s, 0);
    /* the shared pointer: in the order of the ranks, and each number once */
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    OK(MPI_File_write_ordered(f, &me, 1, MPI_INT, &s));
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    OK(MPI_File_read_ordered(f, in, 1, MPI_INT, &s));
    CHECK(in[0] == me);
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    OK(MPI_File_write_shared(f, &me, 1, MPI_INT, &s));
    OK(MPI_File_sync(f));
    OK(MPI_Barrier(c));
    OK(MPI_File_read_at(f, 0, ordered, n, MPI_INT, &s));
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += ordered[i];
    CHECK(sum == n * (n - 1) / 2);
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    OK(MPI_File_read_shared(f, in, 1, MPI_INT, &s));
    count_is(&s, 1);
    OK(MPI_File_get_size(f, &size));
    OK(MPI_File_close(&f));
    CHECK(f == MPI_FILE_NULL);
    /* files' errors return as a rule */
    int class = -1, error = MPI_File_open(c, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    CHECK(error != MPI_SUCCESS && MPI_Error_class(error, &class) == MPI_SUCCESS);
    CHECK(class == MPI_ERR_NO_SUCH_FILE || class == MPI_ERR_FILE || class == MPI_ERR_IO || class == MPI_ERR_OTHER);
}

int main(int argc, char **argv)
{
    MPI_Comm c[4];
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    me = check_rank, n = check_size;
    for (int t = 0; t < 4; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &c[t]);
    topologies(c[0]); /* the first one makes what Open MPI 4.1 makes without a lock */
    int passed = 0, right = (me + 1) % n, left = (me + n - 1) % n;
#pragma omp parallel num_threads(4) reduction(+ : passed)
    {
        int t = omp_get_thread_num();
        if (t < 2) {
            communicators(c[t]);
            topologies(c[t]);
            errors(c[t]);
            CHECK(omp_get_thread_num() == t);
        } else {
            for (int i = 0, in = -1; i < 100; i++) {
                OK(MPI_Sendrecv(&i, 1, MPI_INT, right, t, &in, 1, MPI_INT, left, t, c[t], MPI_STATUS_IGNORE));
                CHECK(in == i);
                passed++;
            }
        }
    }
    CHECK(passed == 200);
    /* windows: Open MPI 4.1 makes and frees them without a lock, so one thread at a time, beside messages */
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        windows(c[0], 1);
    else
        for (int i = 0, in = -1; i < 100; i++)
            OK(MPI_Sendrecv(&i, 1, MPI_INT, right, 7, &in, 1, MPI_INT, left, 7, c[3], MPI_STATUS_IGNORE));
    if (argc > 1) {
#pragma omp parallel num_threads(2)
#pragma omp single
        files(c[0], argv[1]);
    }
    for (int t = 0; t < 4; t++)
        MPI_Comm_free(&c[t]);
    return end();
}
