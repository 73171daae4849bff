/* PCURE (apps/pcure/cure.h) over MPI: entry i is rank i % ranks's, with its point, later its cluster, and its nearest
 * neighbour. No rank holds another's share. */
#ifndef PCURE_CURE_MPI_H
#define PCURE_CURE_MPI_H

#include <mpi.h>

#include <stdbool.h>

#include "cure.h"

struct share {
    int rank, ranks;
    size_t n, dim;  /* of the whole */
    size_t own;     /* entries of this rank's: rank, rank + ranks, ... */
    double *points; /* own rows of dim */
};

/* Rank 0 reads the file and deals its points; nobody holds more than its share and some rows. False, in all ranks:
 * rank 0 has said why not. Out of memory: MPI_Abort, with a line. */
bool deal(const char *path, struct share *share);

/* The labels of all points in rank 0 (labels is its alone): to the bit those of cure(). Variants: all but CURE_TASKS.
 * A rank without memory ends the job with a line. */
void cure_mpi(const struct share *share, const struct cure_options *options, uint32_t *labels,
              struct cure_times *times);

/* A line, and the job's end. */
_Noreturn void no_memory(const char *what, size_t bytes);

#endif
