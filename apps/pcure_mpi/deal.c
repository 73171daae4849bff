/* Reads points in rank 0 and deals them: see cure_mpi.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cure_mpi.h"
#include "points.h"
#include "program.h"

enum { NUMBERS = 1 << 16 /* dealt at once, or a row for each rank */ };

/* What rank 0 says of each deal. rows 0: that was all; dim is 0 then where something was wrong. */
struct round {
    uint64_t rows, dim;
};

struct dealing {
    struct share *share;
    size_t room;    /* rows */
    double *packed; /* rank 0: the rows, one rank's after the other */
    int *many, *at; /* rank 0: numbers of each rank, and where they begin */
};

_Noreturn void no_memory(const char *what, size_t bytes)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s: rank %d: no memory for %s (%zu bytes)\n", PROGRAM_NAME, rank, what, bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* How many of the rows first .. first + rows - 1, first a multiple of ranks, are this rank's. */
static size_t part(const struct share *s, size_t rows, int rank)
{
    return (rows + (size_t)s->ranks - 1 - (size_t)rank) / (size_t)s->ranks;
}

/* All ranks: takes its part of a round's rows; x: those of rank 0. */
static void take_part(struct dealing *d, const struct round *round, const double *x)
{
    struct share *s = d->share;
    size_t mine = part(s, round->rows, s->rank);

    s->dim = round->dim;
    if (s->own + mine > d->room) {
        d->room = d->room * 2 > s->own + mine ? d->room * 2 : s->own + mine;
        s->points = realloc(s->points, d->room * s->dim * sizeof *s->points);
        if (!s->points)
            no_memory("points", d->room * s->dim * sizeof *s->points);
    }
    if (s->rank == 0) {
        size_t used = 0;
        for (int r = 0; r < s->ranks; r++) {
            d->at[r] = (int)(used * s->dim);
            d->many[r] = (int)(part(s, round->rows, r) * s->dim);
            for (size_t row = (size_t)r; row < round->rows; row += (size_t)s->ranks, used++)
                memcpy(d->packed + used * s->dim, x + row * s->dim, s->dim * sizeof *x);
        }
    }
    MPI_Scatterv(d->packed, d->many, d->at, MPI_DOUBLE, s->points + s->own * s->dim, (int)(mine * s->dim), MPI_DOUBLE,
                 0, MPI_COMM_WORLD);
    s->own += mine;
    s->n += round->rows;
}

/* Rank 0's, called by the reader. */
static bool give(void *arg, const double *x, size_t rows, size_t dim)
{
    struct dealing *d = arg;
    struct round round = {.rows = rows, .dim = dim};

    if (dim > (size_t)(INT32_MAX / d->share->ranks)) { /* counts are ints */
        fprintf(stderr, "%s: points of %zu numbers; at most %d are possible\n", PROGRAM_NAME, dim,
                INT32_MAX / d->share->ranks);
        return false;
    }
    d->packed = realloc(d->packed, rows * dim * sizeof *x);
    if (!d->packed)
        no_memory("points that are dealt", rows * dim * sizeof *x);
    MPI_Bcast(&round, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    take_part(d, &round, x);
    return true;
}

bool deal(const char *path, struct share *share)
{
    struct dealing d = {.share = share};
    struct round round = {0};
    struct points read;

    if (share->rank != 0) {
        while (MPI_Bcast(&round, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD), round.rows)
            take_part(&d, &round, NULL);
        return round.dim != 0;
    }
    d.many = malloc(2 * (size_t)share->ranks * sizeof *d.many);
    if (!d.many)
        no_memory("ranks", 2 * (size_t)share->ranks * sizeof *d.many);
    d.at = d.many + share->ranks;
    struct points_take take = {.numbers = NUMBERS, .multiple = (size_t)share->ranks, .take = give, .arg = &d};
    round.dim = points_stream(path, &take, &read) ? read.dim : 0;
    MPI_Bcast(&round, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    free(d.packed);
    free(d.many);
    return round.dim != 0;
}
