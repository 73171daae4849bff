/* See sample.h. */
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

double sample_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Student's t for 95%, two-sided. */
static double student_t(unsigned freedom)
{
    static const double t[] = {0,     12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                               2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
    unsigned num = sizeof t / sizeof t[0];
    return freedom < num ? t[freedom] : 1.96 + 2.5 / freedom;
}

struct sample_summary sample_summarize(double *values, unsigned num)
{
    struct sample_summary s = {0};
    if (num == 0)
        return s;
    qsort(values, num, sizeof *values, compare_doubles);
    s.least = values[0];
    s.median = num % 2 ? values[num / 2] : (values[num / 2 - 1] + values[num / 2]) / 2;
    for (unsigned i = 0; i < num; i++)
        s.mean += values[i] / num;
    for (unsigned i = 0; i < num; i++)
        s.sd += (values[i] - s.mean) * (values[i] - s.mean);
    s.sd = num > 1 ? sqrt(s.sd / (num - 1)) : 0;
    s.ci95 = num > 1 ? student_t(num - 1) * s.sd / sqrt(num) : 0;
    return s;
}

size_t sample_resident_bytes(void)
{
    unsigned long total = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%lu %lu", &total, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

void sample_print(const char *bench, const char *unit, double *values, unsigned num)
{
    struct sample_summary s = sample_summarize(values, num);
    printf("{\"bench\": \"%s\", \"unit\": \"%s\", \"median\": %.3f, \"mean\": %.3f, \"ci95\": %.3f, \"least\": %.3f, "
           "\"samples\": %u}\n",
           bench, unit, s.median, s.mean, s.ci95, s.least, num);
    fflush(stdout);
}

__attribute__((noinline)) void sample_turns(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        __asm__ volatile("" ::: "memory");
}

unsigned long sample_turns_of(double seconds)
{
    const unsigned long n = 4 * 1000 * 1000;
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        double start = sample_now();
        sample_turns(n);
        double took = sample_now() - start;
        best = took < best ? took : best;
    }
    return (unsigned long)(seconds / (best / (double)n));
}
