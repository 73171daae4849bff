/* A program that tool.c counts: each of 8 threads, on one virtual processor, waits for what the next one sends. Under
 * psrun none of them has held the processor: all have run on the same kernel thread. */
#include <string.h>
#include <unistd.h>

#include "check.h"

#define THREADS 8

/* The kernel thread that the caller is on, as the kernel tells it. */
static void where(char place[64])
{
    memset(place, 0, 64);
    CHECK(readlink("/proc/thread-self", place, 63) > 0);
}

int main(int argc, char **argv)
{
    static char on[THREADS][64];
    int sum = 0;
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
#pragma omp parallel num_threads(THREADS)
    {
        int me = omp_get_thread_num(), value = THREADS - 1;
        MPI_Request request = MPI_REQUEST_NULL;
        if (me < THREADS / 2) {
            MPI_Recv(&value, 1, MPI_INT, check_rank, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (me < THREADS - 1) {
            MPI_Irecv(&value, 1, MPI_INT, check_rank, me, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        where(on[me]);
        CHECK(value-- == me);
        if (me > 0)
            MPI_Send(&value, 1, MPI_INT, check_rank, me - 1, MPI_COMM_WORLD);
    }
    for (int i = 1; argc > 1 && strcmp(argv[1], "one") == 0 && i < THREADS; i++)
        CHECK(strcmp(on[i], on[0]) == 0);
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == check_size * (check_size - 1) / 2);
    return end();
}
