/* Cycles of tasks and of chunks, by the master's cycle counter. Prints "WHAT THREADS CYCLES". first-tasks: a region in
 * which one thread makes 64 tasks, the first of the program; tasks: such regions later, the median. chunk: an iteration
 * of a dynamic loop with chunks of one, counted at a thread that takes as many chunks as the others: the median. Each
 * task and each iteration counts itself; where one is missing the program fails. */
#include <stdio.h>
#include <stdlib.h>

#include "check_in.h"

#define TASKS 64
#define ITERATIONS 1024
#define ROUNDS 5

static void one_makes(unsigned threads)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < TASKS; i++)
#pragma omp task
        check_in();
}

static void tasks(unsigned threads)
{
    unsigned cycles[ROUNDS + 1];
    for (int round = 0; round <= ROUNDS; round++) {
        unsigned start = mc_cycles();
        one_makes(threads);
        cycles[round] = mc_cycles() - start;
        verify(TASKS, "tasks");
    }
    printf("first-tasks %u %u\n", threads, cycles[0]);
    qsort(cycles + 1, ROUNDS, sizeof *cycles, by_value);
    printf("tasks %u %u\n", threads, cycles[1 + ROUNDS / 2]);
}

static void chunks(unsigned threads)
{
    unsigned cycles[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        unsigned start = 0;
#pragma omp parallel num_threads(threads) firstprivate(start)
        {
#pragma omp barrier
            start = mc_cycles();
#pragma omp for schedule(dynamic, 1)
            for (int i = 0; i < ITERATIONS; i++)
                check_in();
#pragma omp master
            cycles[round] = (mc_cycles() - start) / (ITERATIONS / threads);
        }
        verify(ITERATIONS, "chunks");
    }
    qsort(cycles, ROUNDS, sizeof *cycles, by_value);
    printf("chunk %u %u\n", threads, cycles[ROUNDS / 2]);
}

int main(void)
{
    tasks(64);
    tasks(16);
    chunks(2);
    chunks(4);
    return 0;
}
