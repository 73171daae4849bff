/* FFTW on kernel threads of its own (libfftw3_threads) inside an OpenMP loop: each of the loop's members transforms
 * pictures with a plan for several threads.
 *
 * fftw_threads PLAN_THREADS [SECONDS]: prints a line of JSON as python_job.py does. FFTW makes and joins its threads in
 * each call, where no callback takes its jobs. */
#include "sample.h"

#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEMBERS = 8, PICTURES = 64, SIZE = 128, PASSES = 20, RUNS_MAX = 1000 };

static fftw_complex *in[PICTURES], *out[PICTURES];

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void make_pictures(void)
{
    for (int p = 0; p < PICTURES; p++) {
        in[p] = fftw_alloc_complex(SIZE * SIZE);
        out[p] = fftw_alloc_complex(SIZE * SIZE);
        if (!in[p] || !out[p])
            exit(2);
        for (unsigned i = 0; i < SIZE * SIZE; i++)
            in[p][i] = (double)((i + (unsigned)p) * 2654435761u % 1000) / 1000;
    }
}

static void transform_all(fftw_plan plan)
{
#pragma omp parallel for num_threads(MEMBERS) schedule(dynamic)
    for (int p = 0; p < PICTURES; p++) {
        for (int pass = 0; pass < PASSES; pass++)
            fftw_execute_dft(plan, in[p], out[p]);
    }
}

static double energy(void)
{
    double sum = 0;
    for (int p = 0; p < PICTURES; p++) {
        for (int i = 0; i < SIZE * SIZE; i++)
            sum += creal(out[p][i] * conj(out[p][i]));
    }
    return sum;
}

static bool maps_have(const char *text)
{
    char line[1024];
    bool have = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        have = have || strstr(line, text);
    if (maps)
        fclose(maps);
    return have;
}

static void print_list(const char *name, const double *values, int num)
{
    printf("\"%s\": [", name);
    for (int i = 0; i < num; i++)
        printf("%s%.6f", i ? ", " : "", values[i]);
    printf("], ");
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;
    double most = argc > 2 ? atof(argv[2]) : 0.5, seconds[RUNS_MAX], processor[RUNS_MAX];
    if (threads < 1 || !fftw_init_threads()) {
        fprintf(stderr, "usage: fftw_threads PLAN_THREADS [SECONDS]\n");
        return 2;
    }
    make_pictures();
    fftw_plan_with_nthreads(threads);
    fftw_plan plan = fftw_plan_dft_2d(SIZE, SIZE, in[0], out[0], FFTW_FORWARD, FFTW_ESTIMATE);
    transform_all(plan);
    int runs = 0;
    for (double begin = sample_now(); runs < RUNS_MAX && (!runs || sample_now() - begin < most); runs++) {
        double start = sample_now(), before = processor_seconds();
        transform_all(plan);
        seconds[runs] = sample_now() - start;
        processor[runs] = processor_seconds() - before;
    }
    printf("{\"job\": \"fftw-threads\", ");
    print_list("seconds", seconds, runs);
    print_list("processor", processor, runs);
    printf("\"result\": %.12g, \"runtime\": %s, \"pools\": %s}\n", energy(), maps_have("/dropin/") ? "true" : "false",
           maps_have("libpsthreads-pools") ? "true" : "false");
    fftw_destroy_plan(plan);
    return 0;
}
