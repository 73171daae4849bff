/* For programs of the tests: what every rank checks, and how it ends. */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x)                                                                                 \
    do {                                                                                         \
        if (!(x)) {                                                                              \
            fprintf(stderr, "%s:%d: rank %d: not so: %s\n", __FILE__, __LINE__, check_rank, #x); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                        \
        }                                                                                        \
    } while (0)

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
