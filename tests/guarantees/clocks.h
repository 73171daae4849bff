/* The processor time that the calling thread has used, in milliseconds. */
#ifndef CLOCKS_H
#define CLOCKS_H

#include "check.h"

#include <sys/resource.h>
#include <time.h>

static inline double ms_of(clockid_t clock)
{
    struct timespec t;
    CHECK(clock_gettime(clock, &t) == 0);
    return 1e3 * (double)t.tv_sec + (double)t.tv_nsec / 1e6;
}
static inline double by_clock(void) { return ms_of(CLOCK_THREAD_CPUTIME_ID); }
static inline double by_usage(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    return 1e3 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

#endif
