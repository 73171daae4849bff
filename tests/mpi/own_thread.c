/* A call without a nonblocking form goes to a kernel thread of its own (src/mpi/apart.c), and does there what it is
 * for. Each call is made by a thread of a region; where it runs before and after, the kernel says. Two ranks or
 * more, under psrun. Argument: a folder for files. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define OK(call) CHECK((call) == MPI_SUCCESS)

static int me, n;

static void where(char place[64])
{
    memset(place, 0, 64);
    CHECK(readlink("/proc/thread-self", place, 63) > 0);
}

/* A thread that was on a kernel thread of its own goes there again in its next region: so each call is made by another
 * one, the last of a team that grows. */
static int made;

#define APART(call)                                                                     \
    do {                                                                                \
        made++;                                                                         \
        _Pragma("omp parallel num_threads(made + 1)") if (omp_get_thread_num() == made) \
        {                                                                               \
            char before[64], after[64];                                                 \
            where(before);                                                              \
            OK(call);                                                                   \
            where(after);                                                               \
            CHECK(strcmp(before, after) != 0);                                          \
        }                                                                               \
    } while (0)

static void communicators(void)
{
    MPI_Comm c, d, e;
    MPI_Group all;
    MPI_Info info;
    int size = 0, left = (me + n - 1) % n, right = (me + 1) % n, in = -1, one = 1, index[64], edges[64];
    int dims[2] = {n, 1}, periods[2] = {0, 0}, remain[2] = {1, 0};
    APART(MPI_Comm_dup(MPI_COMM_WORLD, &c));
    APART(MPI_Comm_dup_with_info(c, MPI_INFO_NULL, &d));
    MPI_Info_create(&info);
    APART(MPI_Comm_set_info(d, info));
    MPI_Info_free(&info);
    APART(MPI_Comm_disconnect(&d));
    MPI_Comm_group(c, &all);
    APART(MPI_Comm_create(c, all, &d));
    APART(MPI_Comm_free(&d));
    APART(MPI_Comm_create_group(c, all, 5, &d));
    MPI_Comm_free(&d);
    MPI_Group_free(&all);
    APART(MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &d));
    MPI_Comm_free(&d);
    APART(MPI_Comm_split(c, me == 0, 0, &d));
    APART(MPI_Intercomm_create(d, 0, c, me == 0 ? 1 : 0, 6, &e));
    MPI_Comm_free(&d);
    APART(MPI_Intercomm_merge(e, me == 0, &d));
    MPI_Comm_size(d, &size);
    CHECK(size == n);
    MPI_Comm_free(&d);
    MPI_Comm_free(&e);
    APART(MPI_Cart_create(c, 2, dims, periods, 0, &d));
    APART(MPI_Cart_sub(d, remain, &e));
    MPI_Comm_free(&d);
    MPI_Comm_free(&e);
    for (int i = 0; i < n; i++)
        index[i] = i + 1, edges[i] = (i + 1) % n;
    APART(MPI_Graph_create(c, n, index, edges, 0, &d));
    MPI_Comm_free(&d);
    APART(MPI_Dist_graph_create_adjacent(c, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &d));
    MPI_Comm_free(&d);
    /* each says where its own edge goes; what comes in is known by the others' */
    APART(MPI_Dist_graph_create(c, 1, &me, &one, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &d));
    OK(MPI_Neighbor_allgather(&me, 1, MPI_INT, &in, 1, MPI_INT, d));
    CHECK(in == left);
    MPI_Comm_free(&d);
    MPI_Comm_free(&c);
}

static void windows(void)
{
    int *memory, own[2] = {-1, -1}, right = (me + 1) % n, left = (me + n - 1) % n, flag = 0;
    MPI_Win w;
    MPI_Info info;
    MPI_Group all, to, from;
    APART(MPI_Win_create(own, sizeof own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
    MPI_Info_create(&info);
    APART(MPI_Win_set_info(w, info));
    MPI_Info_free(&info);
    APART(MPI_Win_fence(MPI_MODE_NOPRECEDE, w));
    OK(MPI_Put(&me, 1, MPI_INT, right, 0, 1, MPI_INT, w));
    APART(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
    CHECK(own[0] == left);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    for (int tested = 0; tested < 2; tested++) {
        OK(MPI_Win_post(from, 0, w));
        APART(MPI_Win_start(to, 0, w));
        OK(MPI_Put(&tested, 1, MPI_INT, right, 1, 1, MPI_INT, w));
        APART(MPI_Win_complete(w));
        if (!tested)
            APART(MPI_Win_wait(w));
        else /* threads that test let others run */
            for (flag = 0; !flag;)
                OK(MPI_Win_test(w, &flag));
        CHECK(own[1] == tested);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&all);
    APART(MPI_Win_free(&w));
    APART(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w));
    APART(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w));
    OK(MPI_Put(&me, 1, MPI_INT, right, 0, 1, MPI_INT, w));
    APART(MPI_Win_flush(right, w));
    APART(MPI_Win_flush_local(right, w));
    APART(MPI_Win_unlock(right, w));
    APART(MPI_Win_lock_all(0, w));
    APART(MPI_Win_flush_all(w));
    APART(MPI_Win_flush_local_all(w));
    APART(MPI_Win_unlock_all(w));
    MPI_Barrier(MPI_COMM_WORLD);
#ifdef OPEN_MPI /* Debian's MPICH 4.0.2 loses it now and then, without us too */
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w));
    CHECK(*memory == left);
    OK(MPI_Win_unlock(me, w));
#endif
    MPI_Win_free(&w);
    APART(MPI_Win_allocate_shared(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w));
    MPI_Win_free(&w);
    APART(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w));
    MPI_Win_free(&w);
}

/* The buffer is given back when its messages have gone: another thread of the rank receives them while one waits. */
static void buffers(void)
{
    enum { BYTES = 1 << 20 };
    static char out[BYTES], in[BYTES];
    int bytes = BYTES + MPI_BSEND_OVERHEAD;
    char *room = malloc((size_t)bytes), *back = NULL;
    memset(out, 7, sizeof out);
    OK(MPI_Buffer_attach(room, bytes));
    OK(MPI_Bsend(out, BYTES, MPI_CHAR, (me + 1) % n, 8, MPI_COMM_WORLD));
    made++;
#pragma omp parallel num_threads(made + 1)
    {
        char before[64], after[64];
        if (omp_get_thread_num() == made) {
            where(before);
            OK(MPI_Buffer_detach(&back, &bytes));
            where(after);
            CHECK(strcmp(before, after) != 0);
        } else if (omp_get_thread_num() == 0) {
            OK(MPI_Recv(in, BYTES, MPI_CHAR, (me + n - 1) % n, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
    }
    CHECK(back == room && bytes == BYTES + MPI_BSEND_OVERHEAD && in[BYTES - 1] == 7);
    free(room);
}

static void files(const char *folder)
{
    char name[400];
    MPI_File f;
    MPI_Status s;
    MPI_Info info;
    MPI_Offset size = 0, at = 2 * me * (MPI_Offset)sizeof(int);
    int out[2] = {10 * me, 10 * me + 1}, in[2] = {0}, count = -1;
    snprintf(name, sizeof name, "%s/parts", folder);
    APART(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    APART(MPI_File_set_size(f, 0));
    APART(MPI_File_preallocate(f, 4096));
    OK(MPI_File_get_size(f, &size));
    CHECK(size == 4096);
    MPI_Info_create(&info);
    APART(MPI_File_set_info(f, info));
    MPI_Info_free(&info);
    APART(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    at /= (MPI_Offset)sizeof(int);
    APART(MPI_File_write_at_all(f, at, out, 2, MPI_INT, &s));
    APART(MPI_File_sync(f));
    APART(MPI_File_read_at_all(f, at, in, 2, MPI_INT, &s));
    CHECK(in[0] == out[0] && in[1] == out[1]);
    /* in two parts */
    out[0]++;
    APART(MPI_File_write_at_all_begin(f, at, out, 2, MPI_INT));
    APART(MPI_File_write_at_all_end(f, out, &s));
    APART(MPI_File_sync(f));
    APART(MPI_File_read_at_all_begin(f, at, in, 2, MPI_INT));
    APART(MPI_File_read_at_all_end(f, in, &s));
    OK(MPI_Get_count(&s, MPI_INT, &count));
    CHECK(count == 2 && in[0] == out[0]);
    OK(MPI_File_seek(f, at, MPI_SEEK_SET));
    out[0]++;
    APART(MPI_File_write_all_begin(f, out, 2, MPI_INT));
    APART(MPI_File_write_all_end(f, out, &s));
    APART(MPI_File_sync(f));
    OK(MPI_File_seek(f, at, MPI_SEEK_SET));
    APART(MPI_File_read_all_begin(f, in, 2, MPI_INT));
    APART(MPI_File_read_all_end(f, in, &s));
    CHECK(in[0] == out[0] && in[1] == out[1]);
    OK(MPI_File_seek(f, at, MPI_SEEK_SET));
    APART(MPI_File_write_all(f, out, 2, MPI_INT, &s));
    OK(MPI_File_seek(f, at, MPI_SEEK_SET));
    APART(MPI_File_read_all(f, in, 2, MPI_INT, &s));
    /* by the shared pointer, in the order of the ranks */
    APART(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    APART(MPI_File_write_ordered(f, &me, 1, MPI_INT, &s));
    APART(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    APART(MPI_File_read_ordered(f, in, 1, MPI_INT, &s));
    CHECK(in[0] == me);
    out[1] = 50 + me;
    APART(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    APART(MPI_File_write_ordered_begin(f, &out[1], 1, MPI_INT));
    APART(MPI_File_write_ordered_end(f, &out[1], &s));
    APART(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    APART(MPI_File_read_ordered_begin(f, in, 1, MPI_INT));
    APART(MPI_File_read_ordered_end(f, in, &s));
    CHECK(in[0] == 50 + me);
#ifdef OPEN_MPI /* MPICH's are as they are: docs/clusters.md */
    APART(MPI_File_read_at(f, me, in, 1, MPI_INT, &s));
    CHECK(in[0] == 50 + me);
    OK(MPI_File_seek(f, me, MPI_SEEK_SET));
    APART(MPI_File_read(f, in, 1, MPI_INT, &s));
    CHECK(in[0] == 50 + me);
    APART(MPI_File_read_shared(f, in, 1, MPI_INT, &s));
#endif
    APART(MPI_File_set_atomicity(f, 0));
    APART(MPI_File_close(&f));
}

/* A thread that asks again and again whether a request is complete lets the one run that completes it: on one virtual
 * processor both are on one kernel thread, at least once in some tries. A vp that is held has its others taken away by
 * a spare kernel thread. */
static void asked(void)
{
    bool on_one = false;
    for (int i = 0; i < 50 && !on_one; i++) {
        char asks[64] = "", sends[64] = "";
        _Atomic bool begun = false, before = false;
#pragma omp parallel num_threads(3)
        {
            int in = 0, flag = 0, out = 5;
            MPI_Request r;
            if (omp_get_thread_num() == 1) {
                where(asks);
                begun = true;
                OK(MPI_Irecv(&in, 1, MPI_INT, me, 70, MPI_COMM_WORLD, &r));
                while (!flag)
                    OK(MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE));
                OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
                CHECK(in == 5);
            } else if (omp_get_thread_num() == 2) {
                before = begun;
                where(sends);
                OK(MPI_Send(&out, 1, MPI_INT, me, 70, MPI_COMM_WORLD));
            }
        }
        on_one = before && strcmp(asks, sends) == 0;
    }
    CHECK(on_one);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    me = check_rank, n = check_size;
    CHECK(n <= 64 && argc > 1);
    asked();
    communicators();
    windows();
    buffers();
    files(argv[1]);
    return end();
}
