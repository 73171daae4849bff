/* The deadlock program, timed: each rank has 8 OpenMP threads, on one processor where the caller says so; each waits in
 * MPI_Recv for a message that the next thread of the rank sends only when it has received its own. Kernel threads
 * finish because the system runs all of them; user-level threads do where one that waits in MPI holds no processor,
 * and else only because a watchdog lends others. Prints milliseconds for a chain. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

enum { THREADS = 8, ROUNDS = 10 };

int main(int argc, char **argv)
{
    int level, rank, wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double began = MPI_Wtime();
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
        {
            int me = omp_get_thread_num(), value = THREADS - 1;
            if (me < THREADS - 1)
                MPI_Recv(&value, 1, MPI_INT, rank, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong += value != me;
            value--;
            if (me > 0)
                MPI_Send(&value, 1, MPI_INT, rank, me - 1, MPI_COMM_WORLD);
        }
    }
    double took = MPI_Wtime() - began;
    if (wrong)
        fprintf(stderr, "chain: rank %d: %d values are wrong\n", rank, wrong);
    else if (rank == 0)
        printf("chain %.3f ms\n", 1e3 * took / ROUNDS);
    MPI_Finalize();
    return wrong != 0;
}
