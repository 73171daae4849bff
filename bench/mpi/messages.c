/* What messages cost between two ranks: latency (there and back, half), with the message there already, bandwidth, by
 * several threads at once, and how much computing hides behind a transfer. The calls are made in a parallel region of
 * one thread, or of several (threads). One line for each: name, number, unit. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

static double latency(int bytes, int rounds, int tag)
{
    char *buf = calloc((size_t)bytes + 1, 1);
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        if (rank == 0) {
            MPI_Send(buf, bytes, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
            MPI_Recv(buf, bytes, MPI_CHAR, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buf, bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buf, bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
        }
    double took = MPI_Wtime() - began;
    free(buf);
    return 1e9 * took / rounds / 2;
}

/* To oneself: each message is there when it is received. */
static double there_already(int rounds)
{
    int out = 1, in;
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        MPI_Send(&out, 1, MPI_INT, rank, 3, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return 1e9 * (MPI_Wtime() - began) / rounds / 2;
}

static double bandwidth(int bytes, int rounds)
{
    char *buf = calloc((size_t)bytes, 1);
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        if (rank == 0)
            MPI_Send(buf, bytes, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
        else
            MPI_Recv(buf, bytes, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    free(buf);
    return 1e-6 * bytes * rounds / took;
}

static double threads(int n, int rounds)
{
    double began = MPI_Wtime();
#pragma omp parallel num_threads(n)
    latency(8, rounds, 100 + omp_get_thread_num());
    return 1e9 * (MPI_Wtime() - began) / rounds / 2 / n;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double result[4];
#pragma omp parallel num_threads(1)
    {
        latency(8, 100, 1);
        result[0] = there_already(20000);
        result[1] = latency(8, 500, 1);
        result[2] = bandwidth(1 << 20, 100);
    }
    result[3] = threads(4, 100);
    if (rank == 0)
        printf("there %.1f ns\nlatency %.1f ns\nbandwidth %.1f MB/s\nthreads %.1f ns\n", result[0], result[1],
               result[2], result[3]);
    MPI_Finalize();
    return 0;
}
