/* A library with the habits of OpenBLAS's OpenMP flavour: each product asks OpenMP how many threads it may have, and
 * opens a region of as many, one product at a time. */
#include <omp.h>
#include <pthread.h>

#include "../check.h"
#include "fake_blas.h"

int blas_cpu_number = 1;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

int openblas_get_parallel(void) { return 2; }
int openblas_get_num_threads(void) { return blas_cpu_number; }

int fake_product(void)
{
    int n = omp_get_max_threads(), sum = 0;
    if (omp_in_parallel() || n == 1)
        return 1;
    pthread_mutex_lock(&one_at_a_time);
    blas_cpu_number = n;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    {
        CHECK(omp_get_num_threads() == n);
        sum += 1;
    }
    pthread_mutex_unlock(&one_at_a_time);
    return sum;
}
