/* psrun's own parts. */
#ifndef PSRUN_H
#define PSRUN_H

#include "plan.h"

/* What the command line and the environment ask for; NULL: nothing. */
struct wishes {
    const char *threads, *dropin_dir, *entities, *mpi, *pools;
    bool mpi_from_environment, pools_from_environment, verbose;
};

enum { GO_ON = -1 }; /* else the exit status */

/* Reads the options up to the program's name (getopt's optind), and the variables. GO_ON, or the exit status: all is
 * said then. */
int read_wishes(int argc, char **argv, struct wishes *w);

/* A variable that is set to nothing counts as not set. */
const char *setting(const char *name);

/* Tells what a program would load, what of it is replaced, how, and what stands in the way. Returns the exit status: 0
 * it runs on our runtime, 1 it does not. p may have failed: then it says why. */
int doctor(const struct plan *p);

/* The part of a path after the last slash. */
const char *base_name(const char *path);

int dump_pid(const char *number); /* dump_pid.c */

#endif
