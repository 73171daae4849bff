/* Thread pools told by files: the programs and libraries that a program has, or that a process has mapped. */
#ifndef PSRUN_FILE_POOLS_H
#define PSRUN_FILE_POOLS_H

#include "closure.h"
#include "report.h"

/* The first object that lets its caller run its parallel jobs (OpenBLAS from 0.3.28 on, FFTW from 3.3.9 on), as
 * src/pools asks of it; NULL: there is none. */
const struct object *file_pools_first_open(const struct closure *c);
/* OpenBLAS's OpenMP flavour is there: the library that takes pools tells it how many threads it may have
 * (src/pools). */
bool file_pools_follow_load(const struct closure *c);

/* What holds for all of them: psthreads is there; OpenMP's entry points are found in it; it takes jobs of libraries. */
struct file_pools_facts {
    bool runtime, openmp_taken, takes_jobs;
};

/* Adds a line for each pool in these files. How many threads there are is not known then. */
void file_pools_add(struct process *to, const struct elf *const *file, unsigned num,
                    const struct file_pools_facts *all);

#endif
