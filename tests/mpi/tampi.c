/* TAMPI's interface: a task that has bound requests ends at once, and is complete (its dependences, taskwait, the
 * region's end) when they are. */
#include <unistd.h>

#include "TAMPI.h"
#include "check.h"

#define ROUNDS 20
#define MESSAGES 8

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_TASK_MULTIPLE);
    int in[MESSAGES], out[MESSAGES], sum = 0, other = check_rank ^ 1;
    MPI_Status status[MESSAGES];
    CHECK(check_size == 2);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < MESSAGES; i++) {
            /* more receives than threads, each before its send */
#pragma omp task depend(out : in[i]) firstprivate(i) shared(in, status)
            {
                MPI_Request r;
                MPI_Irecv(&in[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &r);
                CHECK(TAMPI_Iwait(&r, &status[i]) == MPI_SUCCESS && r == MPI_REQUEST_NULL);
            }
#pragma omp task depend(in : in[i]) firstprivate(i, round) shared(in, sum, status)
            {
                CHECK(in[i] == round * 100 + i && status[i].MPI_TAG == i && status[i].MPI_SOURCE == other);
#pragma omp atomic
                sum++;
            }
        }
        for (int i = 0; i < MESSAGES; i++)
            out[i] = round * 100 + i;
#pragma omp task shared(out)
        {
            MPI_Request r[MESSAGES];
            for (int i = 0; i < MESSAGES; i++)
                MPI_Issend(&out[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &r[i]);
            CHECK(TAMPI_Iwaitall(MESSAGES, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS && r[0] == MPI_REQUEST_NULL);
        }
#pragma omp taskwait
        CHECK(sum == (round + 1) * MESSAGES);
    }
    /* outside of a task, and in one that its creator waits for, it waits */
    int mine = check_rank, theirs = -1;
    MPI_Request r;
    MPI_Isend(&mine, 1, MPI_INT, other, 50, MPI_COMM_WORLD, &r);
    CHECK(TAMPI_Iwait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Irecv(&theirs, 1, MPI_INT, other, 50, MPI_COMM_WORLD, &r);
    CHECK(TAMPI_Iwait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS && theirs == other);
    theirs = -1;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task if (0) shared(theirs, mine)
        {
            MPI_Request both[2];
            MPI_Irecv(&theirs, 1, MPI_INT, other, 51, MPI_COMM_WORLD, &both[0]);
            MPI_Isend(&mine, 1, MPI_INT, other, 51, MPI_COMM_WORLD, &both[1]);
            CHECK(TAMPI_Iwaitall(2, both, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        }
        CHECK(theirs == other);
    }
    return end();
}
