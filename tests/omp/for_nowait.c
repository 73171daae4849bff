/* nowait: fast threads run many constructs ahead of slow ones; every iteration of each is done once. */
#include "check.h"

#define LOOPS 100
#define N 37
static int hits[LOOPS][N];

int main(void)
{
    for (int round = 0; round < 20; round++) {
        memset(hits, 0, sizeof hits);
#pragma omp parallel num_threads(4)
        {
            if (omp_get_thread_num() == round % 4)
                for (volatile int i = 0; i < 200000; i++)
                    continue;
            for (int l = 0; l < LOOPS; l++) {
#pragma omp for schedule(dynamic) nowait
                for (int i = 0; i < N; i++) {
#pragma omp atomic
                    hits[l][i]++;
                }
                if (l % 3 == 0) {
#pragma omp for schedule(guided) nowait
                    for (int i = 0; i < N; i++) {
#pragma omp atomic
                        hits[l][i] += 10;
                    }
                }
                if (l % 5 == 0) {
#pragma omp single nowait
#pragma omp atomic
                    hits[l][0] += 100;
#pragma omp sections nowait
                    {
#pragma omp section
#pragma omp atomic
                        hits[l][1] += 1000;
#pragma omp section
#pragma omp atomic
                        hits[l][2] += 1000;
                    }
                }
            }
        }
        for (int l = 0; l < LOOPS; l++)
            for (int i = 0; i < N; i++)
                CHECK(hits[l][i] % 1000 % 100 == (l % 3 == 0 ? 11 : 1) &&
                      hits[l][i] / 100 % 10 == (l % 5 == 0 && i == 0) &&
                      hits[l][i] / 1000 == (l % 5 == 0 && (i == 1 || i == 2)));
    }
    return 0;
}
