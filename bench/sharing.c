/* sharing SECONDS MEMBERS BARRIERS PARALLEL_US SEQUENTIAL_US PAUSE_US: regions with parts between them, for so long.
 * Prints regions a second, regions a second of processor time, and the median time of a region in us. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define KEPT 100000
#define STEPS_A_US 300

static volatile double sink;

static void compute(long us)
{
    double x = 1;
    for (long i = 0; i < us * STEPS_A_US; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: sharing SECONDS MEMBERS BARRIERS PARALLEL_US SEQUENTIAL_US PAUSE_US\n");
        return 2;
    }
    static double took[KEPT];
    double seconds = atof(argv[1]), begin = omp_get_wtime(), now = begin;
    int members = atoi(argv[2]), barriers = atoi(argv[3]), n = 0;
    long parallel = atol(argv[4]) / members / (barriers + 1), sequential = atol(argv[5]), pause = atol(argv[6]);
    while (now - begin < seconds && n < KEPT) {
        double opened = omp_get_wtime();
#pragma omp parallel num_threads(members)
        for (int i = 0; i <= barriers; i++) {
            compute(parallel);
            if (i < barriers) {
#pragma omp barrier
            }
        }
        took[n++] = (omp_get_wtime() - opened) * 1e6;
        compute(sequential);
        if (pause)
            nanosleep(&(struct timespec){.tv_nsec = pause * 1000}, NULL);
        now = omp_get_wtime();
    }
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                 (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    qsort(took, (size_t)n, sizeof *took, by_size);
    printf("%.2f %.2f %.1f\n", n / (now - begin), n / cpu, took[n / 2]);
}
