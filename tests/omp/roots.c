/* Regions opened by several kernel threads at once that the runtime did not make; each has its own ICVs and team. */
#include <pthread.h>

#include "check.h"

static void *root(void *arg)
{
    int n = *(int *)arg;
    CHECK(omp_get_level() == 0 && omp_get_num_threads() == 1);
    omp_set_num_threads(n);
    for (int round = 0; round < 50; round++) {
        int count = 0, sum = 0;
#pragma omp parallel reduction(+ : count)
        {
            count++;
            CHECK(omp_get_num_threads() == n);
#pragma omp for schedule(dynamic) reduction(+ : sum)
            for (int i = 0; i < 100; i++)
                sum += i;
#pragma omp barrier
        }
        CHECK(count == n && sum == 4950);
    }
    return NULL;
}

int main(void)
{
    omp_set_num_threads(2);
    for (int round = 0; round < 5; round++) {
        pthread_t threads[5];
        int sizes[5] = {1, 2, 3, 4, 5}, mine = 2;
        for (int i = 0; i < 5; i++)
            CHECK(pthread_create(&threads[i], NULL, root, &sizes[i]) == 0);
        root(&mine);
        for (int i = 0; i < 5; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
    }
    return 0;
}
