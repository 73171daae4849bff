/* taskwait: children are complete, from a single creator and from every member. */
#include "check.h"

static void many(int n)
{
    int *seen = calloc((size_t)n, sizeof *seen);
    for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i) shared(seen)
        seen[i] += i + 1;
    }
#pragma omp taskwait
    for (int i = 0; i < n; i++)
        CHECK(seen[i] == i + 1);
    free(seen);
}

int main(void)
{
    many(10); /* outside of every region */
#pragma omp parallel
    {
        many(1);
        many(1000);
#pragma omp barrier
#pragma omp single
        many(5000);
        many(100);
    }
    return 0;
}
