/* The time. OpenMP 5.2 section 18.10. */
#include <time.h>

#include "user.h"

static double seconds(const struct timespec *ts) { return (double)ts->tv_sec + (double)ts->tv_nsec / 1e9; }

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return seconds(&ts);
}

static double tick(void)
{
    struct timespec ts;
    clock_getres(CLOCK_MONOTONIC, &ts);
    return seconds(&ts);
}

PS_EXPORT double omp_get_wtime(void) { return now(); }
PS_EXPORT double omp_get_wtime_(void) { return now(); }
PS_EXPORT double omp_get_wtick(void) { return tick(); }
PS_EXPORT double omp_get_wtick_(void) { return tick(); }
