/* cg_mpi: conjugate gradients on a sparse symmetric matrix; MPI between ranks, worksharing loops inside.
 *
 * The matrix is that of a plate of n x n points with five-point stencils, dealt to the ranks by rows of points. A
 * product with it wants the neighbours' rows at the strip's edges. These travel while the inner rows are computed: one
 * thread of the region sends and receives, the others begin with the rows inside (schedule(dynamic)), and the edges
 * come last. Dot products are summed over threads, then over ranks (MPI_Allreduce).
 *
 * Checked: the right-hand side is made from a known solution, and the result must be that one within the tolerance.
 * Output: one line. */
#include "program.h"

#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;
static long n = 256, first, high; /* points a side; this rank's first row, and how many it has */
static int most = 2000;
static double tolerance = 1e-10;

static void fail(const char *what)
{
    if (rank == 0)
        fprintf(stderr, "%s: %s\n", PROGRAM_NAME, what);
    MPI_Finalize();
    exit(1);
}

/* A vector with the neighbours' rows above and below. */
static double *vector(void)
{
    double *v = calloc((size_t)((high + 2) * n), sizeof *v);
    if (!v) {
        fprintf(stderr, "%s: no memory for %ld x %ld points\n", PROGRAM_NAME, high, n);
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    return v + n;
}

static void product_row(double *to, const double *v, long r)
{
    const double *here = v + r * n, *up = here - n, *down = here + n;
    for (long c = 0; c < n; c++)
        to[r * n + c] = 4.5 * here[c] - up[c] - down[c] - (c > 0 ? here[c - 1] : 0.0) - (c < n - 1 ? here[c + 1] : 0.0);
}

/* to = A v, by all threads of the region. */
static void product(double *to, double *v)
{
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
#pragma omp master
    {
        MPI_Request r[4];
        MPI_Irecv(v - n, (int)n, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(v + high * n, (int)n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(v, (int)n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(v + (high - 1) * n, (int)n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }
#pragma omp for schedule(dynamic, 8)
    for (long r = 1; r < high - 1; r++)
        product_row(to, v, r);
        /* the barrier at the loop's end is behind the messages, too */
#pragma omp single
    {
        product_row(to, v, 0);
        if (high > 1)
            product_row(to, v, high - 1);
    }
}

static double partial;
static double dot(const double *a, const double *b)
{
    static double all;
#pragma omp single
    partial = 0;
#pragma omp for reduction(+ : partial) schedule(static)
    for (long i = 0; i < high * n; i++)
        partial += a[i] * b[i];
#pragma omp single
    MPI_Allreduce(&partial, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double result = all;
#pragma omp barrier
    return result;
}

static double known(long i) { return 1.0 + 0.5 * sin(0.001 * (double)(first * n + i)); }

static long number(const char *text, const char *what, long up_to)
{
    char *end, line[200];
    long value = strtol(text, &end, 10);
    if (*end || end == text || value < 1 || value > up_to) {
        snprintf(line, sizeof line, "%s %s: wanted a number from 1 to %ld", what, text, up_to);
        fail(line);
    }
    return value;
}

static const char usage[] = "Usage: mpirun -n RANKS %s [options]\n"
                            "Solves a linear system of a plate's points by conjugate gradients; rows are dealt to the "
                            "ranks.\n"
                            "  --n N            points a side of the plate (256)\n"
                            "  --iterations N   iterations at most (2000)\n"
                            "  --version        the version\n";

static void read_arguments(int argc, char **argv)
{
    static const struct option options[] = {{"n", required_argument, NULL, 'n'},
                                            {"iterations", required_argument, NULL, 'i'},
                                            {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'V'},
                                            {0}};
    opterr = rank == 0; /* one line, not one of each rank */
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (o == 'n')
            n = number(optarg, "--n", 1 << 15);
        else if (o == 'i')
            most = (int)number(optarg, "--iterations", 1 << 30);
        else if (o == 'h' || o == 'V') {
            if (rank == 0 && o == 'h')
                printf(usage, PROGRAM_NAME);
            else if (rank == 0)
                program_print_version();
            MPI_Finalize();
            exit(0);
        } else
            fail("--help lists the options");
    if (optind < argc)
        fail("only options are expected; --help lists them");
    if (n < ranks)
        fail("--n: wanted a row for each rank at least");
}

int main(int argc, char **argv)
{
    int level, done = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (level < MPI_THREAD_SERIALIZED)
        fail("this MPI does not give MPI_THREAD_SERIALIZED");
    read_arguments(argc, argv);
    first = n * rank / ranks;
    high = n * (rank + 1) / ranks - first;
    double *x = vector(), *r = vector(), *p = vector(), *q = vector(), worst = 0, all_worst, first_square = 0,
           square = 0;
    double began = MPI_Wtime();
#pragma omp parallel
    {
#pragma omp for
        for (long i = 0; i < high * n; i++)
            p[i] = known(i);
        product(r, p); /* the right-hand side: then x = 0, r = b, p = r */
#pragma omp for
        for (long i = 0; i < high * n; i++)
            p[i] = r[i];
        double rr = dot(r, r), start = rr;
        int k;
        for (k = 0; k < most && rr > tolerance * tolerance * start; k++) {
            product(q, p);
            double alpha = rr / dot(p, q);
#pragma omp for
            for (long i = 0; i < high * n; i++) {
                x[i] += alpha * p[i];
                r[i] -= alpha * q[i];
            }
            double next = dot(r, r), beta = next / rr;
            rr = next;
#pragma omp for
            for (long i = 0; i < high * n; i++)
                p[i] = r[i] + beta * p[i];
        }
#pragma omp master
        done = k, first_square = start, square = rr;
    }
    double took = MPI_Wtime() - began;
    for (long i = 0; i < high * n; i++)
        worst = fmax(worst, fabs(x[i] - known(i)));
    MPI_Allreduce(&worst, &all_worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (square > tolerance * tolerance * first_square || all_worst > 1e-6)
        fail("the result is not the known solution");
    if (rank == 0)
        printf("cg_mpi: %d ranks of %d threads, %ld x %ld points: %d iterations, %.4f ms each, error %.2g\n", ranks,
               omp_get_max_threads(), n, n, done, 1e3 * took / done, all_worst);
    free(x - n), free(r - n), free(p - n), free(q - n);
    MPI_Finalize();
    return 0;
}
