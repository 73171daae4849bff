/* What does a level of nesting cost? Regions of two threads inside each other, LEVELS deep; every member opens the
 * next. depth [LEVELS [SAMPLES]]: prints for each depth from 1 the time of a nest divided by the number of its regions
 * (2^levels - 1), in us. A runtime for which depth is nothing special has the same figure from some depth on.
 * Check: the members at the bottom are counted. */
#include "sample.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEVELS_MAX = 12, SAMPLES_MAX = 100 };

static unsigned long bottom;

static void nest(unsigned levels)
{
    if (levels == 0) {
        __atomic_fetch_add(&bottom, 1, __ATOMIC_RELAXED);
        return;
    }
#pragma omp parallel num_threads(2)
    nest(levels - 1);
}

int main(int argc, char **argv)
{
    unsigned levels = argc > 1 ? (unsigned)atoi(argv[1]) : 8, samples = argc > 2 ? (unsigned)atoi(argv[2]) : 9;
    if (levels < 1 || levels > LEVELS_MAX || samples < 1 || samples > SAMPLES_MAX) {
        fprintf(stderr, "depth [LEVELS from 1 to %d [SAMPLES from 1 to %d]]\n", LEVELS_MAX, SAMPLES_MAX);
        return 2;
    }
    omp_set_dynamic(0);
    omp_set_max_active_levels(LEVELS_MAX);
    for (unsigned l = 1; l <= levels; l++) {
        double us[SAMPLES_MAX];
        unsigned long reps = 1, regions = (1ul << l) - 1;
        nest(l);
        for (double took = 0; took < 2e-3; reps *= 2) { /* long enough for the clock */
            double start = sample_now();
            for (unsigned long r = 0; r < reps; r++)
                nest(l);
            took = sample_now() - start;
        }
        reps /= 2;
        for (unsigned i = 0; i < samples; i++) {
            bottom = 0;
            double start = sample_now();
            for (unsigned long r = 0; r < reps; r++)
                nest(l);
            us[i] = (sample_now() - start) / (double)(reps * regions) * 1e6;
            if (bottom != reps << l) {
                fprintf(stderr, "depth: %lu members at the bottom of %lu nests of %u levels\n", bottom, reps, l);
                return 1;
            }
        }
        char name[32];
        snprintf(name, sizeof name, "depth %u", l);
        sample_print(name, "us", us, samples);
    }
    return 0;
}
