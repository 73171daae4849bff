/* A task that waits in MPI keeps its OpenMP thread: no other task runs there meanwhile, as OpenMP has no scheduling
 * point in a call of MPI. So what a task leaves in threadprivate variables and in its thread's place of an array is
 * there after the call, and its thread has the same number. docs/clusters.md says why that stays. */
#include <unistd.h>

#include "check.h"

#define THREADS 4
#define TASKS 24
static int own, finished;
#pragma omp threadprivate(own)

static void work(int i, int *scratch)
{
    int me = omp_get_thread_num(), in = -1;
    own = i;
    scratch[me] = i;
    MPI_Recv(&in, 1, MPI_INT, check_rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == 7 * i && omp_get_thread_num() == me && own == i && scratch[me] == i);
#pragma omp atomic
    finished++;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    int scratch[THREADS];
#pragma omp parallel num_threads(THREADS)
    {
        CHECK(omp_get_num_threads() == THREADS);
        if (omp_get_thread_num() == 0)
            for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i) shared(scratch)
                work(i, scratch);
            }
        if (omp_get_thread_num() == THREADS - 1) /* the messages come later, to tasks that wait for them */
            for (int i = 0; i < TASKS; i++) {
                int out = 7 * i;
                usleep(500);
                MPI_Send(&out, 1, MPI_INT, check_rank, i, MPI_COMM_WORLD);
            }
    }
    CHECK(finished == TASKS);
    return end();
}
