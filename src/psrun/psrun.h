/* What psrun's files declare for one another. */
#ifndef PSRUN_H
#define PSRUN_H

#include "plan.h"

/* What the command line and the environment ask for; NULL: nothing. */
struct wishes {
    const char *threads, *dropin_dir, *entities, *mpi, *pools;
    const char *trace, *trace_limit;
    const char *stats; /* a file's name, or "" for the screen */
    bool mpi_from_environment, pools_from_environment, limit_from_environment, verbose;
    bool traces_by_option; /* --trace or --stats is on the command line */
};

enum { GO_ON = -1 }; /* result of wishes_read: psrun goes on; all other results are exit statuses */

/* Reads the options up to the program's name (getopt's optind), and the variables. Returns GO_ON, or the exit status
 * after all messages are written. */
int wishes_read(int argc, char **argv, struct wishes *w);

/* Returns a variable's value; NULL also if the value is empty. */
const char *setting(const char *name);

/* start.c: turns a plan into a running program. */
void start_options(struct plan *p, const struct wishes *w);           /* sets the plan's options, before it is made */
void start_report(const struct plan *p, const struct wishes *w);      /* prints warnings, and with --verbose the plan */
void start_environment(const struct plan *p, const struct wishes *w); /* sets this process's environment */
int start_program(const struct plan *p, char **argv);                 /* returns only if it fails: the exit status */

/* psrun doctor: its options and program begin at argv[optind]. Returns the exit status: 0: the program runs on our
 * runtime, or there is nothing to replace; 1: it does not run, or there is no such process; EXIT_USAGE. */
int doctor(int argc, char **argv, const struct wishes *w);

/* Returns the part of a path after the last slash. */
const char *base_name(const char *path);

int read_pid(const char *number); /* dump_pid.c; returns 0 if the text is no process's number */
int dump_pid(const char *number);

int top(char **options); /* psrun top (top.c); the options end with NULL */

#endif
