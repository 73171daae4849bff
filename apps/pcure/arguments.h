/* The options of pcure, and of pcure_mpi: one line on standard error for what is wrong with them. */
#ifndef PCURE_ARGUMENTS_H
#define PCURE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cure.h"

struct arguments {
    struct cure_options cure;
    bool times, k_given;
    const char *path, *plot; /* plot: a picture of the result, or NULL */
};

/* Ranks of an MPI program but one are silent. */
extern bool arguments_silent;

/* 0, or the exit status plus 1. The defaults are set first. */
int arguments_read(int argc, char **argv, struct arguments *a);
/* Whether so many points can be grouped as asked; k is made smaller where nobody has asked for it. */
bool arguments_fit(struct arguments *a, size_t points);
/* A line on the terminal that is written over, five times a second: for options.progress. */
void arguments_progress(const char *phase, double part, size_t done, size_t total);
/* The labels on standard output. False: a line has said why not. */
bool arguments_print_labels(const uint32_t *labels, size_t n);

#endif
