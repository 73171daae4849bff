/* Each rank has 8 threads, on one vp where the test says so. Each thread waits in MPI_Recv for a message that the next
 * thread of the same rank sends only when it has received its own; the last one begins. So nothing goes on where a
 * thread that waits in MPI keeps the others from running. */
#include "check.h"

#define THREADS 8

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    int sum = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
    {
        int me = omp_get_thread_num(), value = check_rank;
        CHECK(omp_get_num_threads() == THREADS);
        if (me < THREADS - 1)
            MPI_Recv(&value, 1, MPI_INT, check_rank, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value++;
        if (me > 0)
            MPI_Send(&value, 1, MPI_INT, check_rank, me - 1, MPI_COMM_WORLD);
        sum += value;
    }
    CHECK(sum == THREADS * check_rank + THREADS * (THREADS + 1) / 2);
    return end();
}
