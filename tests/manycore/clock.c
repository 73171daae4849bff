/* The C library's clock: it goes as omp_get_wtime does, for longer than a few microseconds, on all cores alike. */
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

static double now(void)
{
    struct timeval t;
    CHECK(gettimeofday(&t, NULL) == 0 && t.tv_usec >= 0 && t.tv_usec < 1000000);
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(void)
{
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 20; i++) {
        double before = now(), ours = omp_get_wtime();
        usleep(7);
        double slept = now() - before, by_ours = omp_get_wtime() - ours;
        CHECK(slept > 5e-6 && slept < by_ours + 1e-4 && by_ours < slept + 1e-4);
#pragma omp barrier
    }
    return 0;
}
