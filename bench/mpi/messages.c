/* What messages cost between two ranks: latency (there and back, half), with the message there already, bandwidth, by
 * several threads at once, how many small messages a second go through, and how much of a transfer hides behind
 * computing. The calls are made in a parallel region of one thread, or of several (threads, overlap). One line for
 * each: name, number, unit. With --check: whether the overlap is right where it is known. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank;

static double latency(int bytes, int rounds, int tag)
{
    char *buf = calloc((size_t)bytes + 1, 1);
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        if (rank == 0) {
            MPI_Send(buf, bytes, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
            MPI_Recv(buf, bytes, MPI_CHAR, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buf, bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buf, bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
        }
    double took = MPI_Wtime() - began;
    free(buf);
    return 1e9 * took / rounds / 2;
}

/* To oneself: each message is there when it is received. */
static double there_already(int rounds)
{
    int out = 1, in;
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        MPI_Send(&out, 1, MPI_INT, rank, 3, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return 1e9 * (MPI_Wtime() - began) / rounds / 2;
}

static double bandwidth(int bytes, int rounds)
{
    char *buf = calloc((size_t)bytes, 1);
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        if (rank == 0)
            MPI_Send(buf, bytes, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
        else
            MPI_Recv(buf, bytes, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    free(buf);
    return 1e-6 * bytes * rounds / took;
}

static double threads(int n, int rounds)
{
    double began = MPI_Wtime();
#pragma omp parallel num_threads(n)
    latency(8, rounds, 100 + omp_get_thread_num());
    return 1e9 * (MPI_Wtime() - began) / rounds / 2 / n;
}

/* Windows of messages that are all under way at once: messages a second. */
static double message_rate(int rounds)
{
    enum { WINDOW = 64 };
    MPI_Request request[WINDOW];
    char buf[WINDOW][8] = {{0}};
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < WINDOW; k++)
            if (rank == 0)
                MPI_Isend(buf[k], 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &request[k]);
            else
                MPI_Irecv(buf[k], 8, MPI_CHAR, 0, 5, MPI_COMM_WORLD, &request[k]);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return 1e-3 * WINDOW * rounds / (MPI_Wtime() - began);
}

static double exchange(int bytes, int rounds, char *out, char *in)
{
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        MPI_Sendrecv(out, bytes, MPI_CHAR, 1 - rank, 6, in, bytes, MPI_CHAR, 1 - rank, 6, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    return MPI_Wtime() - began;
}

static double compute(long turns)
{
    volatile double x = 1;
    double began = MPI_Wtime();
    for (long i = 0; i < turns; i++)
        x = x * 0.999999 + 1e-6;
    return MPI_Wtime() - began;
}

static int smaller(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, smaller);
    return times[n / 2];
}

/* --- how much of the waiting hides behind computing --- */

/* Rounds in which rank 0's message comes late: rank 1 waits for it and, if it is wanted, computes. Rank 1 answers at a
 * round's end, so both ranks begin the next one together. */
struct overlap {
    double late_s;
    void (*compute)(const struct overlap *o);                     /* about as long as the message is late */
    void (*receive)(const struct overlap *o, int with_computing); /* and computes */
    long turns;
    double part;
};

static char message[8];

static void receive_message(void) { MPI_Recv(message, 8, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void sleep_s(double s)
{
    struct timespec pause = {(time_t)s, (long)(1e9 * (s - (double)(time_t)s))};
    nanosleep(&pause, NULL);
}

/* Seconds of a round. */
static double round_of(const struct overlap *o, int with_computing)
{
    double began = MPI_Wtime(), took = 0;
    if (rank == 0) {
        sleep_s(o->late_s);
        MPI_Send(message, 8, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        MPI_Recv(message, 8, MPI_CHAR, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        o->receive(o, with_computing);
        took = MPI_Wtime() - began;
        MPI_Send(message, 8, MPI_CHAR, 0, 8, MPI_COMM_WORLD);
    }
    return took;
}

/* The part of the waiting that computing hides, in percent: what is saved, of the shorter one. Medians of rounds; rank
 * 1's number is the result. */
static double overlap(const struct overlap *o, int rounds)
{
    double *times = malloc((size_t)rounds * sizeof *times), result[2], computing;
    for (int i = 0; i < rounds; i++) {
        double began = MPI_Wtime();
        o->compute(o);
        times[i] = MPI_Wtime() - began;
    }
    computing = median(times, rounds);
    for (int together = 0; together < 2; together++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < rounds; i++)
            times[i] = round_of(o, together);
        result[together] = median(times, rounds);
    }
    free(times);
    double alone = result[0], both = result[1];
    double hidden = 100 * (alone + computing - both) / (alone < computing ? alone : computing);
    hidden = hidden < 0 ? 0 : hidden > 100 ? 100 : hidden;
    MPI_Bcast(&hidden, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    return hidden;
}

static void compute_turns(const struct overlap *o) { compute(o->turns); }

/* A thread waits for the message, another one computes. */
static void receive_by_a_thread(const struct overlap *o, int with_computing)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        receive_message();
    else if (with_computing)
        o->compute(o);
}

static double overlap_of_threads(int rounds)
{
    struct overlap o = {.late_s = 1e-3, .compute = compute_turns, .receive = receive_by_a_thread, .turns = 100000};
    while (compute(o.turns) < o.late_s)
        o.turns += o.turns / 4;
    return overlap(&o, rounds);
}

/* --- whether that number is right: by one thread, in cases whose number is known --- */

/* Takes its time, and no processor: so a busy machine hardly makes it longer. */
static void compute_asleep(const struct overlap *o) { sleep_s(o->late_s); }

/* Computes for o->part of the time that the message takes while it comes, and for the rest when it is there. */
static void receive_in_between(const struct overlap *o, int with_computing)
{
    struct overlap before = *o, after = *o;
    before.late_s *= o->part;
    after.late_s *= 1 - o->part;
    if (with_computing && o->part > 0)
        o->compute(&before);
    receive_message();
    if (with_computing && o->part < 1)
        o->compute(&after);
}

/* 0: all numbers are as they have to be. */
static int check_overlap(void)
{
    static const double parts[] = {0, 0.5, 1};
    int wrong = 0;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct overlap o = {.late_s = 0.5, .compute = compute_asleep, .receive = receive_in_between, .part = parts[i]};
        double hidden = overlap(&o, 3), off = hidden - 100 * parts[i];
        wrong += off < -10 || off > 10;
        if (rank == 0)
            printf("computes %.0f %% of a message's time before it waits: overlap %.1f %%\n", 100 * parts[i], hidden);
    }
    if (rank == 0)
        puts(wrong ? "the overlap is not what it has to be" : "the overlap is what it has to be");
    return wrong;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && strcmp(argv[1], "--check") == 0) {
        int wrong = check_overlap();
        MPI_Finalize();
        return wrong != 0;
    }
    double there, eight, wide, rate, both_ways;
#pragma omp parallel num_threads(1)
    {
        char *room = calloc(2, 1 << 20);
        latency(8, 100, 1);
        there = there_already(20000);
        eight = latency(8, 500, 1);
        wide = bandwidth(1 << 20, 100);
        rate = message_rate(200);
        both_ways = 2e-6 * (1 << 20) * 50 / exchange(1 << 20, 50, room, room + (1 << 20));
        free(room);
    }
    double two = threads(2, 100), four = threads(4, 100), many = threads(8, 50), hidden = overlap_of_threads(50);
    if (rank == 0)
        printf("there %.1f ns\nlatency %.1f ns\nbandwidth %.1f MB/s\nboth ways %.1f MB/s\nrate %.1f thousand/s\n"
               "2 threads %.1f ns\n4 threads %.1f ns\n8 threads %.1f ns\noverlap %.1f %%\n",
               there, eight, wide, both_ways, rate, two, four, many, hidden);
    MPI_Finalize();
    return 0;
}
