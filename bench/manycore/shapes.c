/* Cycles of empty regions by the shape of the one before, by the master's cycle counter: the first of its kind, the
 * same again, and two kinds in turn. Each thread checks in, in a word of its own; where one is missing the program
 * fails. Prints "WHICH WHAT THREADS CYCLES". WHICH: start, from the reset to main; first; repeated, the median of the
 * rounds; changed, a pair of regions in turn, the median of the rounds. With an argument, flat or nested: only the
 * first region, of that kind. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_in.h"

#define ROUNDS 16
#define COLD 6 /* rounds that fill instruction caches and get memory */

/* A region of `threads`; in clusters != 0, so many teams of this many threads each. */
struct kind {
    const char *name;
    unsigned clusters, threads;
};

static void region(const struct kind *k)
{
    unsigned threads = k->threads;
    if (k->clusters == 0) {
#pragma omp parallel num_threads(threads)
        check_in();
    } else {
#pragma omp parallel num_threads(k->clusters) proc_bind(spread)
#pragma omp parallel num_threads(threads) proc_bind(close)
        check_in();
    }
}

static unsigned all_of(const struct kind *k) { return k->clusters == 0 ? k->threads : k->clusters * k->threads; }

static void first(const struct kind *k)
{
    unsigned start = mc_cycles();
    region(k);
    unsigned end = mc_cycles();
    verify(all_of(k), k->name);
    printf("first %s %u %u\n", k->name, all_of(k), end - start);
}

/* b NULL: a again and again. */
static void in_turn(const struct kind *a, const struct kind *b)
{
    unsigned cycles[ROUNDS];
    char name[64];
    snprintf(name, sizeof name, b != NULL ? "%s+%s" : "%s", a->name, b != NULL ? b->name : "");
    for (int round = -COLD; round < ROUNDS; round++) {
        unsigned start = mc_cycles();
        region(a);
        if (b != NULL)
            region(b);
        unsigned end = mc_cycles();
        if (round >= 0)
            cycles[round] = end - start;
        verify(all_of(a) + (b != NULL ? all_of(b) : 0), name);
    }
    qsort(cycles, ROUNDS, sizeof *cycles, by_value);
    printf("%s %s %u %u\n", b != NULL ? "changed" : "repeated", name, all_of(a), cycles[ROUNDS / 2]);
}

int main(int argc, char **argv)
{
    unsigned start = mc_cycles(), clusters = mc_clusters(), cores = mc_cores(), all = clusters * cores;
    const struct kind flat = {"flat", 0, all}, half = {"half", 0, all / 2}, nested = {"nested", clusters, cores};
    bool by_nested = argc > 1 && strcmp(argv[1], "nested") == 0;
    first(by_nested ? &nested : &flat);
    printf("start %s %u %u\n", by_nested ? "nested" : "flat", all, start);
    if (argc > 1)
        return 0;
    in_turn(&flat, NULL);
    in_turn(&half, NULL);
    in_turn(&nested, NULL);
    in_turn(&flat, &half);
    in_turn(&flat, &nested);
    return 0;
}
