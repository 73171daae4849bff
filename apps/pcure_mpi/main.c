/* pcure_mpi - pcure (apps/pcure) over MPI: points are dealt to the ranks, rank 0 reads the file and writes the labels.
 * The same options, the same labels. */
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arguments.h"
#include "cure_mpi.h"
#include "points.h"
#include "program.h"

static int run(struct arguments *a, struct share *share)
{
    struct cure_times times;
    int fine = 1;
    uint32_t *labels = NULL;

    if (share->rank == 0) {
        labels = malloc(share->n * sizeof *labels);
        if (!labels)
            no_memory("labels", share->n * sizeof *labels);
    }
    cure_mpi(share, &a->cure, labels, &times);
    if (share->rank == 0) {
        if (a->times)
            fprintf(stderr,
                    "{\"points\": %zu, \"dim\": %zu, \"k\": %zu, \"ranks\": %d, \"threads\": %u, \"first_s\": %.6f, "
                    "\"merge_s\": %.6f, \"update_s\": %.6f, \"searches\": %zu, \"outliers\": %zu}\n",
                    share->n, share->dim, a->cure.k, share->ranks, a->cure.outer, times.first, times.merge,
                    times.update, times.searches, times.outliers);
        fine = arguments_print_labels(labels, share->n);
    }
    MPI_Bcast(&fine, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(labels);
    return !fine;
}

static int with_arguments(int argc, char **argv, struct share *share)
{
    struct arguments a;
    int wrong = arguments_read(argc, argv, &a);

    if (wrong)
        return wrong - 1;
    if (a.cure.variant == CURE_TASKS) {
        if (share->rank == 0)
            fprintf(stderr, "%s: --variant tasks: expected lazy, nested or sequential\n", PROGRAM_NAME);
        return 1;
    }
    if (a.plot) {
        if (share->rank == 0)
            fprintf(stderr, "%s: --plot %s: no rank holds all points; pcure draws them\n", PROGRAM_NAME, a.plot);
        return 1;
    }
    if (!deal(a.path, share) || !arguments_fit(&a, share->n))
        return 1;
    if (share->n > INT_MAX - 1) { /* what MPI_MINLOC can tell apart */
        if (share->rank == 0)
            fprintf(stderr, "%s: %s: %zu points; at most %d are possible\n", PROGRAM_NAME, a.path, share->n,
                    INT_MAX - 1);
        return 1;
    }
    if (!a.cure.outer)
        a.cure.outer = (unsigned)omp_get_max_threads();
    if (a.cure.inner > 1)
        omp_set_max_active_levels(2);
    if (share->rank == 0 && isatty(STDERR_FILENO))
        a.cure.progress = arguments_progress;
    return run(&a, share);
}

int main(int argc, char **argv)
{
    struct share share = {0};
    int level;

    /* more than is needed: a rank that waits then holds no processor under psrun */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &share.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &share.ranks);
    arguments_silent = share.rank != 0;
    if (level < MPI_THREAD_FUNNELED && omp_get_max_threads() > 1) {
        if (share.rank == 0)
            fprintf(stderr, "%s: this MPI does not give MPI_THREAD_FUNNELED\n", PROGRAM_NAME);
        MPI_Finalize();
        return 1;
    }
    int status = with_arguments(argc, argv, &share);
    free(share.points);
    MPI_Finalize();
    return status;
}
