/* Where the time of a run went: the sums of one recording or of several, added up by source line. Times are in
 * nanoseconds of virtual processors (vps), but for what is called wall. */
#ifndef PS_REPORT_PROFILE_H
#define PS_REPORT_PROFILE_H

#include "places.h"

#define PROFILE_DISTANCES 10 /* nine levels of the machine, and spares: what a recording has more is zero */
#define PROFILE_SIZES 6      /* of tasks, by powers of ten from 1 us on */

struct profile_row {
    const struct place *place;
    double state[REC_STATES]; /* of members and tasks from here */
    double regions, threads, inner, serialized, wall, useful, longest;
    double created, tasks, task_ns, loops, iterations;
    double locks, lock_waits, lock_ns, lock_held;
};

struct profile {
    char *command;
    unsigned processes, running, cut; /* those that still run; those that did not come to their end */
    unsigned pid;                     /* of the first */
    unsigned roots;                   /* threads of the programs that opened regions */
    unsigned vps, processors, quota;  /* of all processes; of the machine; what the system allows, 0: all */
    bool nested_off;
    double wall;     /* of the longest process */
    double vps_time; /* the processes' times by their vps */
    double capacity; /* the same; with several roots in a process what went to regions */
    double state[REC_STATES];
    double tasks, task_ns, sizes[PROFILE_SIZES], steals[REC_DISTANCES], parks, spares;
    struct profile_row *row; /* those with the most time first */
    unsigned num_rows;
    double efficiency; /* useful time of the capacity: the product of the following */
    double serial_parts, balance, waiting, communication, runtime;
};

/* live: the programs still run; sums are up to now. */
void profile_add(struct profile *p, struct places *places, const struct recording_file *f, bool live);
/* When all are added: orders rows, and computes efficiencies. */
void profile_finish(struct profile *p);
void profile_free(struct profile *p);

/* Whether some process has several threads that open regions. Where these are outside of regions they may work, or
 * sleep: that time counts for nothing then. */
bool profile_has_roots(const struct profile *p);
/* All time of a row. */
double profile_row_time(const struct profile_row *r);
/* The upper end of a size of tasks; 0 for the last one, which has none. */
double profile_size_end(unsigned size);

#endif
