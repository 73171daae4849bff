/* Each rank makes 16 pairs of tasks, run by two threads: a synchronous send to itself, and the receive that it waits
 * for. Right where the first task made is not the last one run. */
#include "check.h"

#define PAIRS 16

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    int got[PAIRS] = {0}, mine[PAIRS];
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < PAIRS; i++) {
        mine[i] = 100 * check_rank + i;
#pragma omp task firstprivate(i) shared(mine)
        MPI_Ssend(&mine[i], 1, MPI_INT, check_rank, i, MPI_COMM_WORLD);
#pragma omp task firstprivate(i) shared(got)
        MPI_Recv(&got[i], 1, MPI_INT, check_rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < PAIRS; i++)
        CHECK(got[i] == 100 * check_rank + i);
    return end();
}
