/* See epcc.h. */
#include "epcc.h"
#include "sample.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define REPS_MAX (1ul << 24)

static unsigned long delay_turns = 1;

__attribute__((noinline)) static void turns(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        __asm__ volatile("" ::: "memory");
}

void epcc_delay(void) { turns(delay_turns); }

void epcc_calibrate(double delay_ns)
{
    const unsigned long n = 20 * 1000 * 1000;
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        double start = sample_now();
        turns(n);
        best = fmin(best, sample_now() - start);
    }
    delay_turns = (unsigned long)(delay_ns * 1e-9 / (best / (double)n));
    delay_turns = delay_turns ? delay_turns : 1;
}

struct measurement {
    const struct epcc_construct *construct;
    unsigned inner;
    const struct epcc_options *options;
    unsigned long reps;
    double slowest[EPCC_MEASURERS_MAX]; /* of a trial; each measurer writes its own, all read after a barrier */
    double *seconds;                    /* [measurer][sample] for one repetition */
    double begin, end;                  /* of the sampling, all measurers together; measurer 0 writes */
};

static double one_sample(struct measurement *m, unsigned id, unsigned long reps)
{
    double start = sample_now();
    m->construct->body(reps, m->inner, id);
    return sample_now() - start;
}

/* Doubles reps until the slowest measurer's trial is long enough. Called by all measurers. */
static void find_reps(struct measurement *m, unsigned id, unsigned num)
{
    one_sample(m, id, 1); /* teams come into being here */
    for (unsigned long reps = m->construct->least_reps;; reps *= 2) {
#pragma omp barrier
        m->slowest[id] = one_sample(m, id, reps);
#pragma omp barrier
        double slowest = 0;
        for (unsigned i = 0; i < num; i++)
            slowest = fmax(slowest, m->slowest[i]);
        if (slowest >= m->options->sample_seconds || reps >= REPS_MAX) {
            if (id == 0)
                m->reps = reps;
            break;
        }
    }
#pragma omp barrier
}

static void take_samples(struct measurement *m, unsigned id)
{
    if (id == 0)
        m->begin = sample_now();
    for (unsigned k = 0; k < m->options->samples; k++)
        m->seconds[id * m->options->samples + k] = one_sample(m, id, m->reps) / (double)m->reps;
#pragma omp barrier
    if (id == 0)
        m->end = sample_now();
}

static double reference_once(const struct epcc_construct *c, double seconds)
{
    for (unsigned long reps = 1;; reps *= 2) {
        double start = sample_now();
        for (unsigned long i = 0; i < reps; i++)
            for (unsigned k = 0; k < c->delays; k++)
                epcc_delay();
        double took = sample_now() - start;
        if (took >= seconds)
            return took / (double)reps;
    }
}

/* The least of several: whatever else the machine does only adds. */
static double reference(const struct epcc_construct *c, double seconds)
{
    double least = INFINITY;
    for (int i = 0; i < 5; i++)
        least = fmin(least, reference_once(c, seconds / 5));
    return least;
}

/* What a repetition's work must take on the processors that there are, with `teams` teams at a time. */
static double least_time(const struct epcc_construct *c, double ref, unsigned teams, unsigned inner)
{
    unsigned procs = (unsigned)omp_get_num_procs(), at_once = teams * (c->each ? inner : 1);
    return ref * fmax(1.0, (double)at_once / (double)procs);
}

static unsigned team_size(unsigned threads)
{
    unsigned size = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    size = (unsigned)omp_get_num_threads();
    return size;
}

bool epcc_measure(const struct epcc_construct *c, unsigned outer, unsigned inner, const struct epcc_options *o)
{
    static struct measurement m;
    unsigned measurers = 0, smallest = inner;
    m.construct = c, m.inner = inner, m.options = o, m.reps = 1;
    m.seconds = calloc((size_t)(outer ? outer : 1) * o->samples, sizeof *m.seconds);
    if (!m.seconds) {
        fprintf(stderr, "epcc: out of memory\n");
        exit(1);
    }
    double ref = reference(c, o->sample_seconds);
    if (outer == 0) {
        measurers = 1;
        smallest = team_size(inner);
        find_reps(&m, 0, 1);
        take_samples(&m, 0);
    } else {
#pragma omp parallel num_threads(outer) reduction(min : smallest)
        {
            unsigned id = (unsigned)omp_get_thread_num(), num = (unsigned)omp_get_num_threads();
            if (id == 0)
                measurers = num;
            smallest = team_size(inner);
            find_reps(&m, id, num);
            take_samples(&m, id);
        }
    }
    unsigned num = measurers * o->samples;
    for (unsigned i = 0; i < num; i++)
        m.seconds[i] -= outer ? ref : least_time(c, ref, 1, inner);
    struct sample_summary s = sample_summarize(m.seconds, num);
    double wall = (m.end - m.begin) / (double)(o->samples * m.reps) - least_time(c, ref, outer ? measurers : 1, inner);
    printf(
        "{\"mode\": \"%s\", \"outer\": %u, \"inner\": %u, \"measurers\": %u, \"threads\": %u, \"construct\": \"%s\", "
        "\"reference_us\": %.5f, \"overhead_us\": %.5f, \"sd_us\": %.5f, \"ci95_us\": %.5f, \"median_us\": %.5f, "
        "\"wall_us\": %.5f, "
        "\"samples\": %u, \"reps\": %lu}\n",
        outer ? "nested" : "flat", outer, inner, measurers, smallest, c->name, ref * 1e6, s.mean * 1e6, s.sd * 1e6,
        s.ci95 * 1e6, s.median * 1e6, wall * 1e6, num, m.reps);
    fflush(stdout);
    free(m.seconds);
    return smallest == inner && (outer == 0 || measurers == outer);
}

bool epcc_repeat(const struct epcc_construct *c, unsigned outer, unsigned inner, unsigned long reps)
{
    unsigned measurers = outer;
    if (outer == 0) {
        c->body(reps, inner, 0);
    } else {
#pragma omp parallel num_threads(outer)
        {
            unsigned id = (unsigned)omp_get_thread_num();
            if (id == 0)
                measurers = (unsigned)omp_get_num_threads();
            c->body(reps, inner, id);
        }
    }
    return measurers == outer && team_size(inner) == inner;
}
