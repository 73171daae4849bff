/* Cycles of fork and join of an empty region, by the master's cycle counter: flat, nested, and the barrier. Each thread
 * checks in, in a word of its own; where one is missing the program fails. Prints "NAME THREADS CYCLES", CYCLES the
 * median of the rounds, each of some regions one after the other; the first rounds, which fill instruction caches
 * and map the team, do not count. */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_in.h"

#define ROUNDS 5
static int warm = 2, rounds = ROUNDS, regions = 8;

/* board.h's, heap.c */
size_t board_block_bytes(unsigned cluster, size_t *most);
extern char __local_end[], __runtime_start[], __runtime_end[]; /* manycore.ld */

static unsigned long outer_cycles[64];

static void tell(const char *name, unsigned threads, unsigned *cycles)
{
    qsort(cycles, (size_t)rounds, sizeof *cycles, by_value);
    printf("%s %u %u\n", name, threads, cycles[rounds / 2]);
}

static void flat(unsigned threads)
{
    unsigned cycles[ROUNDS];
    for (int round = -warm; round < rounds; round++) {
        unsigned start = mc_cycles();
        for (int i = 0; i < regions; i++)
#pragma omp parallel num_threads(threads)
            check_in();
        if (round >= 0)
            cycles[round] = (mc_cycles() - start) / (unsigned)regions;
        verify(threads * (unsigned)regions, "flat");
    }
    tell("flat", threads, cycles);
}

static void nested(unsigned outer, unsigned inner)
{
    unsigned cycles[ROUNDS];
    for (int round = -warm; round < rounds; round++) {
        unsigned start = mc_cycles();
        for (int i = 0; i < regions; i++)
#pragma omp parallel num_threads(outer) proc_bind(spread)
#pragma omp parallel num_threads(inner) proc_bind(close)
            check_in();
        if (round >= 0)
            cycles[round] = (mc_cycles() - start) / (unsigned)regions;
        verify(outer * inner * (unsigned)regions, "nested");
    }
    tell("nested", outer * inner, cycles);
}

/* The inner region alone, in one cluster, while the others do the same. */
static void inner_alone(unsigned outer, unsigned inner)
{
    unsigned cycles[ROUNDS];
    for (int round = -warm; round < rounds; round++) {
#pragma omp parallel num_threads(outer) proc_bind(spread)
        {
            unsigned start = mc_cycles();
            for (int i = 0; i < regions; i++)
#pragma omp parallel num_threads(inner) proc_bind(close)
                check_in();
            outer_cycles[omp_get_thread_num()] = (mc_cycles() - start) / (unsigned)regions;
        }
        if (round >= 0)
            cycles[round] = (unsigned)outer_cycles[0];
        verify(outer * inner * (unsigned)regions, "inner");
    }
    tell("inner", inner, cycles);
}

static void barrier(unsigned threads)
{
    unsigned cycles[ROUNDS];
#pragma omp parallel num_threads(threads) proc_bind(close)
    for (int round = -warm; round < rounds; round++) {
#pragma omp barrier
        unsigned start = mc_cycles();
#pragma omp barrier
        unsigned end = mc_cycles();
        if (omp_get_thread_num() == 0 && round >= 0)
            cycles[round] = end - start;
    }
    tell("barrier", threads, cycles);
}

/* As many outer threads as clusters: each has one place, in which its inner team is. */
static void cluster_barrier(void)
{
    unsigned cycles[ROUNDS];
#pragma omp parallel num_threads(mc_clusters()) proc_bind(spread)
#pragma omp parallel num_threads(mc_cores()) proc_bind(close)
    for (int round = -warm; round < rounds; round++) {
#pragma omp barrier
        unsigned start = mc_cycles();
#pragma omp barrier
        unsigned end = mc_cycles();
        if (omp_get_thread_num() == 0 && mc_cluster() == 0 && round >= 0)
            cycles[round] = end - start;
    }
    tell("cluster-barrier", mc_cores(), cycles);
}

int main(int argc, char **argv)
{
    unsigned clusters = mc_clusters(), cores = mc_cores(), all = clusters * cores;
    bool whole = argc > 1 && strcmp(argv[1], "whole") == 0; /* all cores alone */
    if (whole)
        warm = rounds = 1, regions = 2;
    for (unsigned n = 2; n < all && !whole; n *= 2)
        flat(n);
    flat(all);
    if (clusters > 1)
        for (unsigned i = whole ? cores : 1; i <= cores; i *= 2)
            nested(clusters, i);
    if (clusters > 1)
        inner_alone(clusters, cores);
    barrier(all);
    if (clusters > 1)
        cluster_barrier();
    for (unsigned c = 0; c < 2 && c < clusters; c++) { /* the runtime's memory there, and what every cluster has */
        size_t most;
        board_block_bytes(c, &most);
        printf("%s %u %u\n", c == 0 ? "memory-first" : "memory-other", all,
               (unsigned)(most + ((uintptr_t)__local_end - MC_OWN) - sizeof seen));
    }
    printf("memory-variables %u %u\n", all, (unsigned)(__runtime_end - __runtime_start)); /* in cluster 0 */
    return 0;
}
