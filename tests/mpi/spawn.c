/* Processes that a program starts under psrun run under psrun: they and the others do the same collective calls.
 * Argument: with (arguments for them), multiple (MPI_Comm_spawn_multiple). */
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == MPI_SUCCESS)

/* What all do on a communicator between the two groups; low: the group that is there already. */
static void chat(MPI_Comm inter, int low)
{
    MPI_Comm all;
    int one = 1, sum = 0, size, far, level = -1;
    OK(MPI_Comm_remote_size(inter, &far));
#pragma omp parallel num_threads(3)
    {
        int t = omp_get_thread_num(), value = 10 * t;
        for (int rank = 0; rank < far; rank++) {
            MPI_Request request;
            int in = -1;
            OK(MPI_Isend(&value, 1, MPI_INT, rank, t, inter, &request));
            OK(MPI_Recv(&in, 1, MPI_INT, rank, t, inter, MPI_STATUS_IGNORE));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK(in == 10 * t);
        }
    }
    OK(MPI_Barrier(inter));
    OK(MPI_Intercomm_merge(inter, !low, &all));
    OK(MPI_Comm_size(all, &size));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK(sum == size && size == far + check_size);
    level = low ? 4 : 0;
    OK(MPI_Bcast(&level, 1, MPI_INT, 0, all));
    CHECK(level == 4);
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_disconnect(&inter));
}

int main(int argc, char **argv)
{
    MPI_Comm parent, started;
    char *arguments[] = {"with", "arguments", NULL}, *none[] = {NULL};
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        CHECK(argc == 1 || (argc == 3 && strcmp(argv[1], "with") == 0 && strcmp(argv[2], "arguments") == 0));
        chat(parent, 0);
        MPI_Finalize();
        return 0;
    }
    const char *how = argc > 1 ? argv[1] : "";
    char *commands[] = {argv[0], argv[0]}, **lists[] = {arguments, none};
    int each[] = {1, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    /* by a thread that can wait; what counts at the root alone is nothing elsewhere */
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1 && strcmp(how, "multiple") == 0)
        OK(MPI_Comm_spawn_multiple(2, commands, lists, each, infos, 0, MPI_COMM_WORLD, &started, MPI_ERRCODES_IGNORE));
    else if (omp_get_thread_num() == 1)
        OK(MPI_Comm_spawn(check_rank == 0 ? argv[0] : NULL, strcmp(how, "with") == 0 ? arguments : MPI_ARGV_NULL, 2,
                          MPI_INFO_NULL, 0, MPI_COMM_WORLD, &started, MPI_ERRCODES_IGNORE));
    chat(started, 1);
    return end();
}
