/* How much of the processors is left to tasks of one microsecond? Efficiency in per cent: the work's sequential time
 * over the time it takes times the processors. grain [SAMPLES]
 *   taskloop  20000 iterations, one a task
 *   chains    8 chains of 2000 tasks, ordered by depend(inout)
 *   stencil   32 cells, 400 steps, each on itself and its two neighbours
 * Each result is checked: the chains and cells count in order. */
#include "sample.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 20000, CHAINS = 8, LINKS = 2000, CELLS = 32, STEPS = 400, SAMPLES_MAX = 100 };

static unsigned long turns_of_a_task = 1;

static void work(void) { sample_turns(turns_of_a_task); }

static unsigned long cell[2][CELLS + 2];
static unsigned long chain[CHAINS];
static unsigned long iterations;

static void run_taskloop(void)
{
    iterations = 0;
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < TASKS; i++) {
        work();
        __atomic_fetch_add(&iterations, 1, __ATOMIC_RELAXED);
    }
}

static void run_chains(void)
{
    for (int c = 0; c < CHAINS; c++)
        chain[c] = 0;
    for (unsigned long l = 0; l < LINKS; l++)
        for (int c = 0; c < CHAINS; c++) {
#pragma omp task depend(inout : chain[c]) firstprivate(c, l)
            {
                work();
                chain[c] = chain[c] == l ? l + 1 : 0;
            }
        }
#pragma omp taskwait
}

static void run_stencil(void)
{
    for (int c = 0; c < CELLS + 2; c++)
        cell[0][c] = cell[1][c] = 0;
    for (unsigned long t = 0; t < STEPS; t++) {
        unsigned long *from = cell[t % 2], *to = cell[(t + 1) % 2];
        for (int c = 1; c <= CELLS; c++) {
#pragma omp task depend(in : from[c - 1], from[c], from[c + 1]) depend(out : to[c]) firstprivate(c, t, from, to)
            {
                work();
                to[c] = from[c] == t && (c == 1 || from[c - 1] == t) && (c == CELLS || from[c + 1] == t) ? t + 1 : 0;
            }
        }
    }
#pragma omp taskwait
}

static void need(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "grain: %s came out wrong\n", what);
    exit(1);
}

static void check(int which)
{
    if (which == 0)
        need(iterations == TASKS, "taskloop");
    for (int c = 0; which == 1 && c < CHAINS; c++)
        need(chain[c] == LINKS, "chains");
    for (int c = 1; which == 2 && c <= CELLS; c++)
        need(cell[STEPS % 2][c] == STEPS, "stencil");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
        unsigned tasks;
    } kinds[] = {{"taskloop", run_taskloop, TASKS},
                 {"chains", run_chains, CHAINS * LINKS},
                 {"stencil", run_stencil, CELLS * STEPS}};
    unsigned samples = argc > 1 ? (unsigned)atoi(argv[1]) : 5;
    if (samples < 1 || samples > SAMPLES_MAX) {
        fprintf(stderr, "grain [SAMPLES from 1 to %d]\n", SAMPLES_MAX);
        return 2;
    }
    turns_of_a_task = sample_turns_of(1e-6);
    for (int k = 0; k < 3; k++) {
        double percent[SAMPLES_MAX];
        for (unsigned i = 0; i < samples; i++) {
            double start = sample_now();
            for (unsigned t = 0; t < kinds[k].tasks; t++)
                work();
            double serial = sample_now() - start;
            start = sample_now();
#pragma omp parallel
#pragma omp single
            kinds[k].run();
            percent[i] = 100 * serial / ((sample_now() - start) * omp_get_num_procs());
            check(k);
        }
        sample_print(kinds[k].name, "%", percent, samples);
    }
    return 0;
}
