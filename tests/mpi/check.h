/* For programs of the tests: what every rank checks, and how it ends. */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include <mpi.h>
#include <omp.h>

#define CHECK_END() (fprintf(stderr, "that was rank %d\n", check_rank), (void)MPI_Abort(MPI_COMM_WORLD, 1))
#include "../check.h"

static int check_rank, check_size;

static inline void begin(int *argc, char ***argv, int level)
{
    int provided;
    MPI_Init_thread(argc, argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK(provided == level);
}

static inline int end(void)
{
    MPI_Finalize();
    if (check_rank == 0)
        puts("all is well");
    return 0;
}

#endif
