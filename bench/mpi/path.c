/* Messages of a rank to itself, which are there when they are received; run.py counts the instructions of so many and
 * of some more, and compares the times. Argument: how many. Prints the thread's own time of one, which a busy machine
 * does not add to: the median of parts of a thousand. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PART = 1000, PARTS_MAX = 4096 };

static double thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int smaller(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double part[PARTS_MAX];
    int level, n = argc > 1 ? atoi(argv[1]) : 1, parts = 0;
    double began = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
#pragma omp parallel num_threads(1)
    for (int i = 0; i < n; i++) {
        int in;
        MPI_Request request;
        MPI_Isend(&i, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
        MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if ((i + 1) % PART == 0 && parts < PARTS_MAX) {
            double now = thread_ns();
            if (began > 0) /* not the first part, in which things come into being */
                part[parts++] = (now - began) / PART;
            began = now;
        }
    }
    qsort(part, (size_t)parts, sizeof *part, smaller);
    if (parts > 0)
        printf("path %.1f ns\n", part[parts / 2]);
    MPI_Finalize();
    return 0;
}
