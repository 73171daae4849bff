/* The measuring method of the EPCC OpenMP suite, extended to nested regions (psthreads-2009 section 4.1 and figure 5).
 *
 * A construct costs what a piece of code takes in parallel under it, less what the same code takes sequentially (the
 * reference).
 * Flat: the calling thread measures. Nested P x T: each member of an outer team of P runs its own copy of the
 * measurement on its own inner team of T, all at the same time, and the samples of all are taken together.
 *
 * A sample repeats the construct until it takes long enough for the clock; the number of repetitions is found by all
 * measurers together, because a construct costs something else when its neighbours are quiet.
 *
 * The suite has a processor for each thread, so that the reference is what the work must take. With more threads than
 * processors the work itself takes threads / processors times as long, under any runtime; that is what is taken off
 * where all threads are timed together: from a flat team's samples, and from wall_us. From a measurer's own samples in
 * a nest, whose share of the machine is not known, one reference is. A user-level runtime may run the measurers one
 * after another and a kernel slice them: each then sees a different share of the machine. Therefore the line also has
 * wall_us: the sampling's length for all measurers together, by the number of repetitions, less what the work must
 * take. wall_us cannot be won by order.
 * Deviations from the suite: what is taken off where threads outnumber processors; the work inside a construct is short
 * (10 ns by default, 100 there), or it would hide the runtime there; the clock is the system's, not the runtime's. */
#ifndef EPCC_H
#define EPCC_H

#include <stdbool.h>

struct epcc_options {
    unsigned samples;      /* a construct and measurer */
    double sample_seconds; /* a sample takes at least this */
    double delay_ns;       /* work inside a construct */
};

/* Runs a construct `reps` times on a team of `threads`. measurer: which of the concurrent measurements, from 0. */
typedef void epcc_body(unsigned long reps, unsigned threads, unsigned measurer);

struct epcc_construct {
    const char *name;
    epcc_body *body;
    unsigned delays;     /* epcc_delay calls that a repetition would take sequentially */
    bool each;           /* by each thread of the team, not by one */
    unsigned least_reps; /* where the region is opened once a sample: so many that it does not count */
};

#define EPCC_MEASURERS_MAX 256

/* Works for about delay_ns; defined by epcc_calibrate. */
void epcc_delay(void);
void epcc_calibrate(double delay_ns);
/* Measures one construct and prints a line of JSON. outer 0: flat. Returns false where the runtime gave fewer threads
 * than asked for; the line says how many there were. */
bool epcc_measure(const struct epcc_construct *c, unsigned outer, unsigned inner, const struct epcc_options *o);
/* Runs the construct reps times and measures nothing: for programs that count what is done (rows.py). */
bool epcc_repeat(const struct epcc_construct *c, unsigned outer, unsigned inner, unsigned long reps);

#endif
