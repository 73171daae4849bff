/* What messages cost between two ranks: latency (there and back, half), with the message there already, bandwidth, by
 * several threads at once, how many small messages a second go through, and how much of a transfer hides behind
 * computing. The calls are made in a parallel region of one thread, or of several (threads, overlap). One line for
 * each: name, number, unit. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* Windows of messages that are all under way at once: messages a second. */
static double message_rate(int rounds)
{
    enum { WINDOW = 64 };
    MPI_Request request[WINDOW];
    char buf[WINDOW][8] = {{0}};
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < WINDOW; k++)
            if (rank == 0)
                MPI_Isend(buf[k], 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &request[k]);
            else
                MPI_Irecv(buf[k], 8, MPI_CHAR, 0, 5, MPI_COMM_WORLD, &request[k]);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return 1e-3 * WINDOW * rounds / (MPI_Wtime() - began);
}

static double exchange(int bytes, int rounds, char *out, char *in)
{
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        MPI_Sendrecv(out, bytes, MPI_CHAR, 1 - rank, 6, in, bytes, MPI_CHAR, 1 - rank, 6, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    return MPI_Wtime() - began;
}

static double compute(long turns)
{
    volatile double x = 1;
    double began = MPI_Wtime();
    for (long i = 0; i < turns; i++)
        x = x * 0.999999 + 1e-6;
    return MPI_Wtime() - began;
}

static int smaller(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, smaller);
    return times[n / 2];
}

/* A thread waits for messages that come a millisecond late, another one computes: the part of the waiting that the
 * computing hides, in percent. Medians of rounds. Rank 0 sends
 * late; rank 1's number is the result. */
static double overlap(int rounds)
{
    static char message[8];
    double *times = malloc((size_t)rounds * sizeof *times), result[2], late = 1e-3;
    long turns = 100000;
    while (compute(turns) < late) /* as long as the message is late */
        turns += turns / 4;
    for (int i = 0; i < rounds; i++)
        times[i] = compute(turns);
    double computing = median(times, rounds);
    for (int together = 0; together < 2; together++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < rounds; i++) {
            double began = MPI_Wtime();
#pragma omp parallel num_threads(2)
            if (rank == 0 && omp_get_thread_num() == 0) {
                struct timespec pause = {0, (long)(1e9 * late)};
                nanosleep(&pause, NULL);
                MPI_Send(message, 8, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
                MPI_Recv(message, 8, MPI_CHAR, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else if (rank == 1 && omp_get_thread_num() == 0) {
                MPI_Recv(message, 8, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(message, 8, MPI_CHAR, 0, 8, MPI_COMM_WORLD);
            } else if (rank == 1 && together) {
                compute(turns);
            }
            times[i] = MPI_Wtime() - began;
        }
        result[together] = median(times, rounds);
    }
    free(times);
    double alone = result[0], both = result[1];
    double hidden = 100 * (alone + computing - both) / (alone < computing ? alone : computing);
    hidden = hidden < 0 ? 0 : hidden > 100 ? 100 : hidden;
    MPI_Bcast(&hidden, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    return hidden;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double there, eight, wide, rate, both_ways;
#pragma omp parallel num_threads(1)
    {
        char *room = calloc(2, 1 << 20);
        latency(8, 100, 1);
        there = there_already(20000);
        eight = latency(8, 500, 1);
        wide = bandwidth(1 << 20, 100);
        rate = message_rate(200);
        both_ways = 2e-6 * (1 << 20) * 50 / exchange(1 << 20, 50, room, room + (1 << 20));
        free(room);
    }
    double two = threads(2, 100), four = threads(4, 100), many = threads(8, 50), hidden = overlap(50);
    if (rank == 0)
        printf("there %.1f ns\nlatency %.1f ns\nbandwidth %.1f MB/s\nboth ways %.1f MB/s\nrate %.1f thousand/s\n"
               "2 threads %.1f ns\n4 threads %.1f ns\n8 threads %.1f ns\noverlap %.1f %%\n",
               there, eight, wide, both_ways, rate, two, four, many, hidden);
    MPI_Finalize();
    return 0;
}
