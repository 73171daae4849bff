/* A library with a region; host.c loads it. */
#include <omp.h>

int plugin(void);
int plugin(void)
{
    int n = 0;
#pragma omp parallel reduction(+ : n)
    n += omp_get_num_threads() > 0;
    return n < 1;
}
