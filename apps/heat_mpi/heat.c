/* heat_mpi: heat flow on a plate, by finite differences on blocks; MPI between ranks, tasks with dependences inside.
 *
 * The plate is dealt to the ranks in strips of rows; a rank's strip is cut into blocks. A step computes each block in
 * a task from the last step's values (Jacobi) when the blocks around it have been computed. The first and the last
 * row of a strip are sent to the neighbouring ranks and received from them in tasks as well (--comm tasks): so blocks
 * inside a strip are computed while messages travel. Or before each step, all at once, by the thread that makes the
 * tasks (--comm master). Receives are made one after the other: a task that waits in MPI keeps its OpenMP thread, and
 * were each thread to wait in a receive, nobody would compute what the other rank waits for. So two threads are
 * enough. Where a rank has one thread, --comm master is the default: mpirun binds each of two ranks to one core. Needs
 * MPI_THREAD_MULTIPLE.
 *
 * Checked: the same plate computed by one rank in plain loops (--check; each point is computed by the same
 * operations, so the result is equal bit by bit), and the sum over all points, which is printed. Output: one line
 * "heat_mpi: ... ms a step ... Mpoints/s". */
#include "picture.h"
#include "program.h"

#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static long rows = 1024, columns = 1024, block = 128;
static int steps = 50;
static bool check, by_tasks, comm_given;
static const char *picture;

static void fail(const char *what)
{
    if (rank == 0)
        fprintf(stderr, "%s: %s\n", PROGRAM_NAME, what);
    MPI_Finalize();
    exit(1);
}

/* The strip's row r (from 0, -1 and n are the neighbours') of a grid with a border. */
static long width(void) { return columns + 2; }
static double *row(double *grid, long r) { return grid + (r + 1) * width(); }

/* How warm the plate is at the start and, at its border, always: 1 along the upper edge, a hill inside. */
static double start_at(long r, long c)
{
    if (r < 0)
        return 1.0;
    if (r >= rows || c < 0 || c >= columns)
        return 0.0;
    double y = (double)(r - rows / 3) / (double)rows, x = (double)(c - columns / 2) / (double)columns;
    return exp(-40.0 * (x * x + y * y));
}

static double *new_grid(long first, long n)
{
    double *grid = malloc((size_t)((n + 2) * width()) * sizeof *grid);
    if (!grid) {
        fprintf(stderr, "%s: no memory for %ld x %ld points\n", PROGRAM_NAME, n, columns);
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    for (long r = -1; r <= n; r++)
        for (long c = -1; c <= columns; c++)
            row(grid, r)[c + 1] = start_at(first + r, c);
    return grid;
}

static void relax(double *to, double *from, long r0, long r1, long c0, long c1)
{
    for (long r = r0; r < r1; r++) {
        const double *up = row(from, r - 1) + 1, *here = row(from, r) + 1, *down = row(from, r + 1) + 1;
        double *out = row(to, r) + 1;
        for (long c = c0; c < c1; c++)
            out[c] = here[c] + 0.2 * (up[c] + down[c] + here[c - 1] + here[c + 1] - 4.0 * here[c]);
    }
}

static long least(long a, long b) { return a < b ? a : b; }

/* Messages of block column j in step s; tags are used again after some steps, since messages between a pair keep
 * their order. */
static int tag(int s, long j, bool downwards) { return (int)(((s % 2) * 2 + downwards) * 4096 + j); }

static void send_row(double *grid, long r, long c0, long c1, int to, int t)
{
    MPI_Send(row(grid, r) + 1 + c0, (int)(c1 - c0), MPI_DOUBLE, to, t, MPI_COMM_WORLD);
}
static void receive_row(double *grid, long r, long c0, long c1, int from, int t)
{
    MPI_Recv(row(grid, r) + 1 + c0, (int)(c1 - c0), MPI_DOUBLE, from, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* All of it: grid[s % 2] is the plate before step s. Dependences are on a byte for each block of each grid, with one
 * line of them above and below for the neighbours' rows. */
static void run(double *grid[2], long n)
{
    long high = (n + block - 1) / block, wide = (columns + block - 1) / block;
    char *marks = calloc((size_t)(2 * (high + 2) * (wide + 2)), 1);
    if (!marks)
        MPI_Abort(MPI_COMM_WORLD, 1);
#define MARK(s, i, j) marks[(((s) % 2) * (high + 2) + (i) + 1) * (wide + 2) + (j) + 1]
#pragma omp parallel
#pragma omp single
    for (int s = 0; s < steps; s++) {
        double *from = grid[s % 2], *to = grid[(s + 1) % 2];
        if (!by_tasks) {
#pragma omp taskwait
            MPI_Sendrecv(row(from, 0) + 1, (int)columns, MPI_DOUBLE, rank > 0 ? rank - 1 : MPI_PROC_NULL, 1,
                         row(from, n) + 1, (int)columns, MPI_DOUBLE, rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Sendrecv(row(from, n - 1) + 1, (int)columns, MPI_DOUBLE, rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL, 2,
                         row(from, -1) + 1, (int)columns, MPI_DOUBLE, rank > 0 ? rank - 1 : MPI_PROC_NULL, 2,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (long j = 0; by_tasks && j < wide; j++) {
            long c0 = j * block, c1 = least(c0 + block, columns);
            if (rank > 0) {
#pragma omp task depend(in : MARK(s, 0, j)) firstprivate(from, s, j, c0, c1)
                send_row(from, 0, c0, c1, rank - 1, tag(s, j, false));
#pragma omp task depend(out : MARK(s, -1, j)) depend(inout : marks[0]) firstprivate(from, s, j, c0, c1)
                receive_row(from, -1, c0, c1, rank - 1, tag(s, j, true));
            }
            if (rank < ranks - 1) {
#pragma omp task depend(in : MARK(s, high - 1, j)) firstprivate(from, s, j, c0, c1)
                send_row(from, n - 1, c0, c1, rank + 1, tag(s, j, true));
#pragma omp task depend(out : MARK(s, high, j)) depend(inout : marks[0]) firstprivate(from, s, j, c0, c1)
                receive_row(from, n, c0, c1, rank + 1, tag(s, j, false));
            }
        }
        for (long i = 0; i < high; i++)
            for (long j = 0; j < wide; j++) {
#pragma omp task depend(in                                                                                           \
                        : MARK(s, i, j), MARK(s, i - 1, j), MARK(s, i + 1, j), MARK(s, i, j - 1), MARK(s, i, j + 1)) \
    depend(out                                                                                                       \
           : MARK(s + 1, i, j)) firstprivate(from, to, i, j)
                relax(to, from, i * block, least((i + 1) * block, n), j * block, least((j + 1) * block, columns));
            }
    }
    free(marks);
}

/* Rank r's first row. */
static long first_row(int r) { return rows * r / ranks; }

static void compare(double *result, long first, long n)
{
    double *all[2] = {new_grid(0, rows), new_grid(0, rows)};
    for (int s = 0; s < steps; s++)
        relax(all[(s + 1) % 2], all[s % 2], 0, rows, 0, columns);
    int wrong = 0, any;
    for (long r = 0; r < n; r++)
        wrong |= memcmp(row(result, r) + 1, row(all[steps % 2], first + r) + 1, (size_t)columns * sizeof(double)) != 0;
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    free(all[0]);
    free(all[1]);
    if (any)
        fail("the result differs from that of plain loops");
    if (rank == 0)
        printf("heat_mpi: equal to plain loops\n");
}

enum { PLOT_SIDE = 1024 }; /* pixels at most */

static unsigned char shade(double value) { return (unsigned char)(255 * (value < 0 ? 0 : value > 1 ? 1 : value)); }

/* The plate as rank 0's picture, a point of each square of points: black is cold, then red, yellow, white. */
static void plot(double *grid, long first, long n)
{
    long square = ((rows > columns ? rows : columns) + PLOT_SIDE - 1) / PLOT_SIDE;
    long wide = (columns + square - 1) / square, high = (rows + square - 1) / square;
    long from = (first + square - 1) / square, to = (first + n + square - 1) / square; /* this rank's rows of it */
    unsigned char *mine = malloc((size_t)((to - from) * wide * 3 + 1)), *all = malloc((size_t)(high * wide * 3));
    int *many = calloc((size_t)ranks * 2, sizeof *many), *at = many + ranks, bytes = (int)((to - from) * wide * 3);
    int written = 1;
    if (!mine || !all || !many)
        MPI_Abort(MPI_COMM_WORLD, 1);
    unsigned char *pixel = mine;
    for (long y = from; y < to; y++)
        for (long x = 0; x < wide; x++) {
            double heat = row(grid, y * square - first)[x * square + 1];
            for (int c = 0; c < 3; c++)
                *pixel++ = shade(3 * heat - c);
        }
    MPI_Gather(&bytes, 1, MPI_INT, many, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        at[r] = r ? at[r - 1] + many[r - 1] : 0;
    MPI_Gatherv(mine, bytes, MPI_BYTE, all, many, at, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        written = picture_write(picture, all, (unsigned)wide, (unsigned)high);
    MPI_Bcast(&written, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(mine);
    free(all);
    free(many);
    if (!written) {
        MPI_Finalize();
        exit(1);
    }
}

static long number(const char *text, const char *what, long most)
{
    char *end, line[200];
    long n = strtol(text, &end, 10);
    if (*end || end == text || n < 1 || n > most) {
        snprintf(line, sizeof line, "%s %s: wanted a number from 1 to %ld", what, text, most);
        fail(line);
    }
    return n;
}

static const char usage[] =
    "Usage: mpirun -n RANKS %s [options]\n"
    "Heat spreads over a plate, which is dealt to the ranks by rows.\n"
    "  --rows N, --columns N   points of the plate (1024, 1024)\n"
    "  --block N               points a side of a task (128)\n"
    "  --steps N               steps of time (50)\n"
    "  --comm tasks|master     who sends and receives: tasks, or one thread between the steps\n"
    "                          (tasks; master where a rank has one thread, which mpirun has bound to a core)\n"
    "  --check                 compares the result with that of plain loops\n"
    "  --plot OUT.png          the plate at the end as a picture\n"
    "  --version               the version\n";

static void read_arguments(int argc, char **argv)
{
    opterr = rank == 0; /* one line, not one of each rank */
    static const struct option options[] = {
        {"rows", required_argument, NULL, 'r'},  {"columns", required_argument, NULL, 'c'},
        {"block", required_argument, NULL, 'b'}, {"steps", required_argument, NULL, 's'},
        {"comm", required_argument, NULL, 'm'},  {"check", no_argument, NULL, 'k'},
        {"plot", required_argument, NULL, 'p'},  {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},     {0}};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
        case 'r':
            rows = number(optarg, "--rows", 1 << 20);
            break;
        case 'c':
            columns = number(optarg, "--columns", 1 << 20);
            break;
        case 'b':
            block = number(optarg, "--block", 1 << 20);
            break;
        case 's':
            steps = (int)number(optarg, "--steps", 1 << 24);
            break;
        case 'k':
            check = true;
            break;
        case 'p':
            picture = optarg;
            break;
        case 'm':
            by_tasks = strcmp(optarg, "tasks") == 0;
            comm_given = true;
            if (!by_tasks && strcmp(optarg, "master") != 0)
                fail("--comm: wanted tasks or master");
            break;
        case 'h':
        case 'V':
            if (rank == 0 && o == 'h')
                printf(usage, PROGRAM_NAME);
            else if (rank == 0)
                program_print_version();
            MPI_Finalize();
            exit(0);
        default:
            fail("--help lists the options");
        }
    }
    if (optind < argc)
        fail("only options are expected; --help lists them");
    if (picture && picture_refusal(picture)) {
        char line[200];
        snprintf(line, sizeof line, "--plot %.80s: %s", picture, picture_refusal(picture));
        fail(line);
    }
    if (rows / ranks < 1)
        fail("--rows: wanted a row for each rank at least");
    if ((columns + block - 1) / block > 4096)
        fail("--block: wanted 4096 blocks in a row at most");
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    read_arguments(argc, argv);
    if (level < MPI_THREAD_MULTIPLE)
        fail("this MPI does not give MPI_THREAD_MULTIPLE");
    int threads = omp_get_max_threads(), fewest;
    MPI_Allreduce(&threads, &fewest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!comm_given)
        by_tasks = fewest >= 2;
    if (by_tasks && fewest < 2)
        fail("--comm tasks: wanted two threads at least (OMP_NUM_THREADS)");
    long first = first_row(rank), n = first_row(rank + 1) - first;
    double *grid[2] = {new_grid(first, n), new_grid(first, n)}, sum = 0, all;
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    run(grid, n);
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    for (long r = 0; r < n; r++)
        for (long c = 0; c < columns; c++)
            sum += row(grid[steps % 2], r)[c + 1];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (check)
        compare(grid[steps % 2], first, n);
    if (rank == 0)
        printf("heat_mpi: %d ranks of %d threads, %ld x %ld, %d steps: %.4f ms a step, %.1f Mpoints/s, sum %.12g\n",
               ranks, omp_get_max_threads(), rows, columns, steps, 1e3 * took / steps,
               1e-6 * (double)(rows * columns) * steps / took, all);
    if (picture)
        plot(grid[steps % 2], first, n);
    free(grid[0]);
    free(grid[1]);
    MPI_Finalize();
    return 0;
}
