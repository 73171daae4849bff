/* What forkjoin.c and shapes.c share: threads check in, each in a word of its own; a median. */
#include <stdio.h>
#include <stdlib.h>

#include <manycore.h>

static MC_LOCAL volatile unsigned seen[16];

static inline void check_in(void) { seen[mc_core()]++; }

/* Ends the program unless as many have checked in since the last call. */
static inline void verify(unsigned threads, const char *name)
{
    unsigned sum = 0;
    for (unsigned c = 0; c < mc_clusters(); c++)
        for (unsigned i = 0; i < mc_cores(); i++) {
            volatile unsigned *word = (volatile unsigned *)mc_global((void *)&seen[i], c);
            sum += *word;
            *word = 0;
        }
    if (sum != threads) {
        fprintf(stderr, "%s: %u threads checked in, %u expected\n", name, sum, threads);
        exit(1);
    }
}

static inline int by_value(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}
