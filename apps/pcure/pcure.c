/* pcure - groups the points of a file (cure.h says how). The labels go to standard output once all are known, one
 * integer a line. */
#include "arguments.h"
#include "picture.h"
#include "plot.h"
#include "points.h"
#include "program.h"

#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run(struct arguments *a, const struct points *points)
{
    struct cure_times times;
    uint32_t *labels = malloc(points->num * sizeof *labels);

    int error = labels ? cure(points->x, points->num, points->dim, &a->cure, labels, &times) : ENOMEM;
    if (error) {
        fprintf(stderr, "%s: %s: %zu points: %s\n", PROGRAM_NAME, a->path, points->num, strerror(error));
        free(labels);
        return 1;
    }
    if (a->times)
        fprintf(stderr,
                "{\"points\": %zu, \"dim\": %zu, \"k\": %zu, \"first_s\": %.6f, \"merge_s\": %.6f, \"update_s\": %.6f, "
                "\"searches\": %zu, \"outliers\": %zu}\n",
                points->num, points->dim, a->cure.k, times.first, times.merge, times.update, times.searches,
                times.outliers);
    int status = !arguments_print_labels(labels, points->num) || (a->plot && !plot_clusters(a->plot, points, labels));
    free(labels);
    return status;
}

int main(int argc, char **argv)
{
    struct arguments a;
    struct points points;

    int wrong = arguments_read(argc, argv, &a);
    if (wrong)
        return wrong - 1;
    if (a.plot && picture_refusal(a.plot)) {
        fprintf(stderr, "%s: --plot %s: %s\n", PROGRAM_NAME, a.plot, picture_refusal(a.plot));
        return 1;
    }
    if (!points_read(a.path, &points))
        return 1;
    if (!arguments_fit(&a, points.num)) {
        free(points.x);
        return 1;
    }
    if (!a.cure.outer)
        a.cure.outer = (unsigned)omp_get_max_threads();
    if (a.cure.inner > 1)
        omp_set_max_active_levels(2);
    if (isatty(STDERR_FILENO))
        a.cure.progress = arguments_progress;
    int status = run(&a, &points);
    free(points.x);
    return status;
}
