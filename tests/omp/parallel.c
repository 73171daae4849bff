/* parallel: as many threads as asked for, each with a number of its own; num_threads, if. */
#include "check.h"

static void region(int n, int expected)
{
    int seen[64] = {0}, size = 0;
#pragma omp parallel num_threads(n)
    {
        int id = omp_get_thread_num();
#pragma omp atomic
        seen[id]++;
#pragma omp single
        size = omp_get_num_threads();
        CHECK(omp_in_parallel() == (expected > 1));
        CHECK(omp_get_level() == 1);
    }
    CHECK(size == expected);
    for (int i = 0; i < 64; i++)
        CHECK(seen[i] == (i < expected));
    CHECK(omp_get_num_threads() == 1 && omp_get_thread_num() == 0 && omp_get_level() == 0);
}

int main(void)
{
    omp_set_dynamic(0);
    /* growing, shrinking, again and again: the block is reused */
    for (int round = 0; round < 50; round++)
        for (int n = 1; n <= 33; n += 1 + round % 7)
            region(n, n);
    int count = 0;
#pragma omp parallel if (count != 0) reduction(+ : count)
    {
        count++;
        CHECK(omp_get_num_threads() == 1);
    }
    CHECK(count == 1);
    omp_set_num_threads(5);
    count = 0;
#pragma omp parallel reduction(+ : count)
    count++;
    CHECK(count == 5);
    return 0;
}
