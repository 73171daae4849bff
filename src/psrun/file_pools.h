/* Finds thread pools in files: in those that a program loads, or those that a process has mapped. */
#ifndef PSRUN_FILE_POOLS_H
#define PSRUN_FILE_POOLS_H

#include "closure.h"
#include "report.h"

/* Returns the first object that lets other code run its parallel jobs, as src/pools needs it (OpenBLAS from 0.3.28 on,
 * FFTW from 3.3.9 on); NULL if there is none. */
const struct object *file_pools_first_open(const struct closure *c);
/* Returns whether OpenBLAS's OpenMP flavour is there: src/pools tells it how many threads it may use. */
bool file_pools_follow_load(const struct closure *c);

/* Facts about the whole process. runtime: psthreads is there. openmp_taken: calls of OpenMP arrive at psthreads.
 * takes_jobs: psthreads runs the jobs of other libraries. */
struct file_pools_facts {
    bool runtime, openmp_taken, takes_jobs;
};

/* Adds to the process a line for each pool in these files. The number of threads is not known from files. */
void file_pools_add(struct process *to, const struct elf *const *file, unsigned num,
                    const struct file_pools_facts *all);

#endif
