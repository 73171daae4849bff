/* psrun's own parts. */
#ifndef PSRUN_H
#define PSRUN_H

#include "plan.h"

/* What the command line and the environment ask for; NULL: nothing. */
struct wishes {
    const char *threads, *dropin_dir, *entities, *mpi, *pools;
    const char *trace, *trace_limit;
    const char *stats; /* a file's name, or "": the screen */
    bool mpi_from_environment, pools_from_environment, limit_from_environment, verbose;
    bool traces_by_option; /* --trace or --stats is on the command line */
};

enum { GO_ON = -1 }; /* else the exit status */

/* Reads the options up to the program's name (getopt's optind), and the variables. GO_ON, or the exit status: all is
 * said then. */
int wishes_read(int argc, char **argv, struct wishes *w);

/* A variable that is set to nothing counts as not set. */
const char *setting(const char *name);

/* start.c: a plan becomes a program. */
void start_options(struct plan *p, const struct wishes *w);           /* of the plan, before it is made */
void start_report(const struct plan *p, const struct wishes *w);      /* what has to be said, and what --verbose says */
void start_environment(const struct plan *p, const struct wishes *w); /* of this process */
int start_program(const struct plan *p, char **argv); /* returns only an exit status: it cannot be run */

/* psrun doctor: its options and program stand from optind on. Returns the exit status: 0, the program runs on our
 * runtime, or there is nothing to replace; 1, it does not run; EXIT_USAGE. */
int doctor(int argc, char **argv, const struct wishes *w);

/* The part of a path after the last slash. */
const char *base_name(const char *path);

int read_pid(const char *number); /* dump_pid.c; 0: it is no number of a process */
int dump_pid(const char *number);

int top(char **options); /* top.c: psrun top; the options end with NULL */

#endif
