/* One to five levels of parallel regions of 64 threads in all around a work of some cycles, as EPCC's benchmarks nest
 * them (figure 14 of the paper). Prints lines "level LEVELS WORK CYCLES"; CYCLES is what the regions add to the work,
 * the median of the rounds. WORK is in cycles, as one core needs for it alone. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include <manycore.h>

#define WARM 2
#define ROUNDS 3
#define LEVELS 5

static const unsigned shapes[LEVELS][LEVELS] = {{64}, {4, 16}, {4, 4, 4}, {4, 4, 2, 2}, {4, 2, 2, 2, 2}};
static MC_LOCAL volatile unsigned seen[16];

static void __attribute__((noinline)) work(unsigned turns)
{
    for (unsigned i = 0; i < turns; i++)
        __asm__ volatile("" ::: "memory");
}

static void nest(const unsigned *shape, unsigned levels, unsigned turns)
{
    if (levels == 0) {
        seen[mc_core()]++;
        work(turns);
        return;
    }
#pragma omp parallel num_threads(shape[0]) proc_bind(close)
    nest(shape + 1, levels - 1, turns);
}

static void outermost(const unsigned *shape, unsigned levels, unsigned turns)
{
    if (levels == 1) {
        nest(shape, 1, turns);
        return;
    }
#pragma omp parallel num_threads(shape[0]) proc_bind(spread)
    nest(shape + 1, levels - 1, turns);
}

static unsigned checked_in(void)
{
    unsigned sum = 0;
    for (unsigned c = 0; c < mc_clusters(); c++)
        for (unsigned i = 0; i < mc_cores(); i++) {
            volatile unsigned *word = (volatile unsigned *)mc_global((void *)&seen[i], c);
            sum += *word;
            *word = 0;
        }
    return sum;
}

static int by_value(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    unsigned most = argc > 1 ? (unsigned)atoi(argv[1]) : 1000000;
    for (unsigned levels = 1; levels <= LEVELS; levels++)
        for (unsigned cycles = 10; cycles <= most; cycles *= 10) {
            unsigned turns = cycles / 4, took[ROUNDS], alone = 0;
            for (int round = -WARM; round < ROUNDS; round++) {
                unsigned start = mc_cycles();
                work(turns);
                alone = mc_cycles() - start;
                start = mc_cycles();
                outermost(shapes[levels - 1], levels, turns);
                if (round >= 0)
                    took[round] = mc_cycles() - start - alone;
                unsigned threads = checked_in();
                if (threads != 64) {
                    fprintf(stderr, "levels: %u levels: %u threads checked in, 64 expected\n", levels, threads);
                    return 1;
                }
            }
            qsort(took, ROUNDS, sizeof *took, by_value);
            printf("level %u %u %u\n", levels, cycles, took[ROUNDS / 2]);
        }
    return 0;
}
