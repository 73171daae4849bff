/* Where the time of a run went: the sums of one or several recordings, by source line. Times are in nanoseconds of
 * virtual processors (vps), except those that are called wall. */
#ifndef PS_REPORT_PROFILE_H
#define PS_REPORT_PROFILE_H

#include "places.h"

#define PROFILE_DISTANCES 10 /* nine levels of distance, and guests; the other levels of a recording are zero */
#define PROFILE_SIZES 6      /* sizes of tasks, by powers of ten from 1 us on */

struct profile_row {
    const struct place *place;
    double state[REC_STATES]; /* of members of regions opened here, and of tasks made here; unknown place: the rest */
    double regions, threads, inner, serialized, wall, useful, longest;
    double created, tasks, task_ns, loops, iterations;
    double locks, lock_waits, lock_ns, lock_held;
};

struct profile {
    char *command;
    unsigned processes, running, cut; /* running, cut: how many of these still run, or have ended early */
    unsigned pid;                     /* of the first process */
    unsigned roots;                   /* tracks on which a program ran outside of regions: about one for each root */
    /* vps of all processes; processors that the first process may use; the system's CPU quota, 0: none */
    unsigned vps, processors, quota;
    bool nested_off;
    double wall;     /* wall time of the process that ran longest */
    double vps_time; /* the sum of each process's time times its vps */
    double capacity; /* vps_time; if a process has several roots: the time in regions */
    double state[REC_STATES];
    double tasks, task_ns, sizes[PROFILE_SIZES], steals[REC_DISTANCES], parks, spares;
    struct profile_row *row; /* the rows with the most time come first */
    unsigned num_rows;
    double efficiency; /* the useful part of the capacity: the product of the five below */
    double serial_parts, balance, waiting, communication, runtime;
};

/* Adds a recording. live: if its program still runs, the sums are up to now. */
void profile_add(struct profile *p, struct places *places, const struct recording_file *f, bool live);
/* Called when all recordings are added: sorts the rows, and computes the efficiencies. */
void profile_finish(struct profile *p);
void profile_free(struct profile *p);

/* Returns whether some process has several threads that open regions. Outside of regions such a thread may work or
 * sleep, so that time is not counted. */
bool profile_has_roots(const struct profile *p);
/* Returns the time of all states of a row. */
double profile_row_time(const struct profile_row *r);
/* Returns the upper end of a size of tasks, in ns; 0 for the last size, which has no end. */
double profile_size_end(unsigned size);

#endif
