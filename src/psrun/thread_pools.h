/* Thread pools of libraries, told by the symbols of their files. */
#ifndef PSRUN_THREAD_POOLS_H
#define PSRUN_THREAD_POOLS_H

#include "closure.h"

/* The first object that lets its caller run its parallel jobs (OpenBLAS from 0.3.27 on, FFTW from 3.3.9 on), as
 * src/pools asks of it; NULL: there is none. */
const struct object *thread_pools_first_open(const struct closure *c);

#endif
