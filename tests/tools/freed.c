/* A member of an inner region uses memory that it has freed. Address sanitizer must say so, with the way through
 * `inner_use`. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noipa)) static int inner_use(volatile int *p) { return p[2]; }

int main(void)
{
    int sum = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : sum)
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        int *q = malloc(40);
        q[2] = omp_get_thread_num();
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            free(q);
#pragma omp barrier
        sum += inner_use(q);
    }
    printf("%d\n", sum);
    return 0;
}
