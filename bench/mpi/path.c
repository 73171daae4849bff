/* Messages of a rank to itself, which are there when they are received; run.py counts the instructions of so many and
 * of some more. Argument: how many. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int level, n = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
#pragma omp parallel num_threads(1)
    for (int i = 0; i < n; i++) {
        int in;
        MPI_Request request;
        MPI_Isend(&i, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
        MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
