/* psrun's own parts. */
#ifndef PSRUN_H
#define PSRUN_H

#include "plan.h"

/* Tells what a program would load, what of it is replaced, how, and what stands in the way. Returns the exit status: 0
 * it runs on our runtime, 1 it does not. p may have failed: then it says why. */
int doctor(const struct plan *p);

/* The part of a path after the last slash. */
const char *base_name(const char *path);

int dump_pid(const char *number); /* dump_pid.c */

#endif
