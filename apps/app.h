/* What the applications share: options, time, and the check of the parallel result against the sequential twin's.
 *
 * An application solves one problem in two ways, each of which answers a number that stands for the whole result (a
 * count, a checksum, an optimum). Run without arguments it takes a size at which a task is small: the runtime is what
 * is measured. Every sample is checked; a wrong one is one line and exit status 1.
 *
 *   NAME [SIZE [SAMPLES [THREADS [GRAIN]]]]
 *
 * GRAIN: what the smallest task works on, for those that have such a limit.
 * Prints a line of JSON: median of the samples in ms, the twin's time, tasks and their mean length in sequential
 * time. */
#ifndef APP_H
#define APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct app_grain {
    unsigned *value, least, most; /* set before setup */
};

struct app {
    const char *name;
    unsigned size, size_least, size_most;
    void (*setup)(unsigned size); /* once, and again before each run where `fresh` */
    bool fresh;
    uint64_t (*serial)(void);
    uint64_t (*parallel)(void);       /* called by one thread of a region's team, inside of single */
    uint64_t (*result)(void);         /* outside of the time, in place of what those two answer; or NULL */
    uint64_t (*known)(unsigned size); /* the right answer where it is known beforehand, 0 where not; or NULL */
    uint64_t (*tasks)(void);          /* how many tasks the last parallel run made */
    const struct app_grain *grain;    /* or NULL */
};

int app_main(const struct app *app, int argc, char **argv);

/* Memory or one line and the end. */
void *app_alloc(size_t bytes);

/* A generator of one's own: 64 bits from 64 (Steele, Lea, Flood: SplitMix, 2014). */
static inline uint64_t app_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Folds a value into a checksum; the order counts. */
static inline uint64_t app_fold(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * 0x100000001b3u + 0x9e3779b97f4a7c15u;
}

#endif
