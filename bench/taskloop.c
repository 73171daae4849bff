/* What does a taskloop cost, by its grainsize? ns an iteration of a few nanoseconds, the median of SAMPLES loops.
 * taskloop [THREADS [SAMPLES]]
 * Twin: the loop itself. One thread meets the construct, the others wait for the region's end. Each iteration is
 * checked to be done once a loop. */
#include "sample.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITERATIONS = 20000, SAMPLES_MAX = 1000 };

static unsigned done[ITERATIONS];
static double value[ITERATIONS];

__attribute__((noinline)) static void body(int i)
{
    done[i]++;
    value[i] = value[i] * 1.0001 + 1;
}

static void loop(int grain)
{
#pragma omp taskloop grainsize(grain)
    for (int i = 0; i < ITERATIONS; i++)
        body(i);
}
static void twin(int grain)
{
    (void)grain;
    for (int i = 0; i < ITERATIONS; i++)
        body(i);
}

static int measure(const char *name, void (*what)(int grain), int grain, int threads, unsigned samples)
{
    static double ns[SAMPLES_MAX];
    for (unsigned s = 0; s < samples; s++) {
#pragma omp parallel num_threads(threads)
#pragma omp master
        {
            double start = sample_now();
            what(grain);
            ns[s] = (sample_now() - start) * 1e9 / ITERATIONS;
        }
    }
    for (int i = 0; i < ITERATIONS; i++) {
        if (done[i] != samples) {
            fprintf(stderr, "taskloop: iteration %d was done %u times in %u loops\n", i, done[i], samples);
            return 1;
        }
        done[i] = 0;
    }
    sample_print(name, "ns", ns, samples);
    return 0;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : omp_get_max_threads(), samples = argc > 2 ? atoi(argv[2]) : 50;
    if (threads < 1 || samples < 1 || samples > SAMPLES_MAX) {
        fprintf(stderr, "taskloop [THREADS [SAMPLES up to %d]]\n", SAMPLES_MAX);
        return 2;
    }
    static const int grains[] = {1, 2, 4, 10, 30, 100, 1000};
    int wrong = measure("the loop", twin, 0, threads, (unsigned)samples);
    for (unsigned i = 0; i < sizeof grains / sizeof *grains; i++) {
        char name[32];
        snprintf(name, sizeof name, "grainsize(%d)", grains[i]);
        wrong |= measure(name, loop, grains[i], threads, (unsigned)samples);
    }
    return wrong;
}
