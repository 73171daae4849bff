/* The clock, the statistics and the memory reading that the benchmarks share. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include <stddef.h>

/* Seconds of the system's monotonic clock. */
double sample_now(void);

/* A loop of n turns that does nothing, and how many turns take so many seconds: the least time of five tries. */
void sample_turns(unsigned long n);
unsigned long sample_turns_of(double seconds);

struct sample_summary {
    double mean, sd, ci95, median, least;
};
/* ci95: half the width of the 95% confidence interval of the mean (Student's t). Sorts the values. */
struct sample_summary sample_summarize(double *values, unsigned num);

/* Bytes of this process that are in memory now. */
size_t sample_resident_bytes(void);

/* Prints a line of JSON: {"bench": ..., "unit": ..., median, mean, ci95, least, samples}. Sorts the values. */
void sample_print(const char *bench, const char *unit, double *values, unsigned num);

#endif
