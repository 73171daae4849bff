/* What the NAS benchmarks share: the command line, the generator of random numbers, progress, and the report with its
 * verification.
 *
 * A benchmark is written from NAS-95-020 ("The NAS Parallel Benchmarks 2.0") and RNR-94-007 ("The NAS Parallel
 * Benchmarks"); classes, verification values and their tolerances are those that NASA publishes with version 3. A run
 * keeps all of its state to itself, so that several can run at the same time (--copies). "VERIFICATION SUCCESSFUL" is
 * printed only after every value has been compared with its published one; exit status 1 otherwise. */
#ifndef NAS_H
#define NAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NAS_MOST_VALUES = 24 };

struct nas_value {
    const char *name;
    unsigned number; /* behind the name; 0: none */
    bool complex;    /* real and imaginary part; else only the first */
    double found[2], published[2];
    double difference; /* relative */
};

struct nas_result {
    double seconds, operations; /* of the timed part; operations: nominal, by the published formula */
    double epsilon;
    struct nas_value value[NAS_MOST_VALUES];
    unsigned num_values;
};

struct nas_run {
    char class;
    unsigned threads;
    unsigned variant;   /* index into the program's */
    bool show_progress; /* one copy alone does */
};

struct nas_program {
    const char *name;
    const char *const *variants; /* the first is the usual one; NULL at the end; or NULL */
    /* What is solved, in words, for the report's first line. */
    void (*describe)(char class, char *text, size_t size);
    void (*solve)(const struct nas_run *run, struct nas_result *result);
};

int nas_main(const struct nas_program *program, int argc, char **argv);

/* Adds a comparison: the relative difference of found and published. */
void nas_compare(struct nas_result *result, const char *name, unsigned number, double found, double published);
/* The same of complex numbers: {real, imaginary}. */
void nas_compare_complex(struct nas_result *result, const char *name, unsigned number, const double found[2],
                         const double published[2]);

/* S, W, A, B: 0 .. 3. */
unsigned nas_class_index(char class);

/* Memory, not touched, aligned for vectors; or one line and exit status 1. */
void *nas_alloc(size_t bytes);

void nas_progress(const struct nas_run *run, unsigned done, unsigned total);

/* The generator: x' = a x mod 2^46, a = 5^13, uniform numbers x' / 2^46. */
#define NAS_SEED 314159265u
#define NAS_FACTOR 1220703125u
#define NAS_MASK (((uint64_t)1 << 46) - 1)

static inline double nas_random(uint64_t *x)
{
    *x = *x * NAS_FACTOR & NAS_MASK;
    return (double)*x * 0x1p-46;
}

/* The state `steps` further on. */
static inline uint64_t nas_jump(uint64_t x, uint64_t steps)
{
    for (uint64_t a = NAS_FACTOR; steps; steps >>= 1, a = a * a & NAS_MASK)
        if (steps & 1)
            x = x * a & NAS_MASK;
    return x;
}

#endif
