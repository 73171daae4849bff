/* A barrier, explicit or implicit, completes all tasks of the region, and tasks made by tasks. */
#include "check.h"

static void tree(int depth, int *count)
{
#pragma omp atomic
    (*count)++;
    for (int i = 0; depth > 0 && i < 2; i++) {
#pragma omp task
        tree(depth - 1, count);
    }
}

int main(void)
{
    for (int round = 0; round < 50; round++) {
        int count = 0, n = 1;
#pragma omp parallel
        {
#pragma omp single
            n = omp_get_num_threads();
#pragma omp task shared(count)
            tree(6, &count);
#pragma omp barrier
            CHECK(count == 127 * n);
#pragma omp barrier
#pragma omp single
            tree(5, &count);
            CHECK(count == 127 * n + 63);
#pragma omp barrier
            tree(3, &count);
        }
        CHECK(count == 127 * n + 63 + 15 * n);
    }
    return 0;
}
