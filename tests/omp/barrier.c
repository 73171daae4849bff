/* barrier: no thread is ahead of the slowest, with more threads than processors, at two levels. */
#include "check.h"

#define ROUNDS 300

static void race(int n, int rounds)
{
    int stage[32];
    memset(stage, 0, sizeof stage);
#pragma omp parallel num_threads(n)
    {
        int id = omp_get_thread_num(), size = omp_get_num_threads();
        for (int r = 1; r <= rounds; r++) {
#pragma omp atomic write
            stage[id] = r;
#pragma omp barrier
            for (int i = 0; i < size; i++) {
                int s;
#pragma omp atomic read
                s = stage[i];
                CHECK(s == r);
            }
#pragma omp barrier
        }
    }
}

int main(void)
{
    omp_set_max_active_levels(2);
    race(1, ROUNDS);
    race(2, ROUNDS);
    race(5, ROUNDS);
    race(16, ROUNDS / 4);
#pragma omp parallel num_threads(3)
    {
        race(3, ROUNDS / 6);
#pragma omp barrier
        race(2, ROUNDS / 6);
    }
    return 0;
}
